"""Loading and starting the real binding against a tiny library of our own: errors that no fake module can show."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from planner.telemetry.sample import Absent

ROOT = Path(__file__).parents[3]
STUB = """
#include <stdlib.h>
static int code(void) { const char *c = getenv("STUB_CODE"); return c ? atoi(c) : 0; }
int nvmlInitWithFlags(unsigned f) { return code(); }
int nvmlInit_v2(void) { return code(); }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int r) { return "stub"; }
#ifdef COUNT
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 0; return 0; }
#endif
"""
PROBE = "from planner.telemetry.nvml import NvmlSource; print(NvmlSource().read().absent)"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("no C compiler here")
    found = {}
    for name, flags in (("whole", ["-DCOUNT"]), ("reduced", [])):
        folder = tmp_path_factory.mktemp(name)
        (folder / "stub.c").write_text(STUB)
        target = folder / "libnvidia-ml.so.1"
        subprocess.run([compiler, "-shared", "-fPIC", *flags, "-o", target, folder / "stub.c"], check=True)
        found[name] = folder
    found["none"] = tmp_path_factory.mktemp("none")
    return found


@pytest.mark.parametrize(
    ("library", "code", "absent"),
    [
        ("none", 0, Absent.NO_LIBRARY),
        ("whole", 0, Absent.NO_GPU),
        ("whole", 4, Absent.NO_PERMISSION),
        ("whole", 9, Absent.NO_DRIVER),
        ("whole", 17, Absent.BLOCKED),
        ("whole", 18, Absent.VERSION_MISMATCH),
        ("whole", 999, Absent.FAILED),
        ("reduced", 0, Absent.FAILED),
    ],
)
def test_what_loading_and_starting_say(folders, library, code, absent):
    if library == "none" and shutil.which("nvidia-smi"):
        pytest.skip("this machine has the real library")
    environment = {"LD_LIBRARY_PATH": str(folders[library]), "STUB_CODE": str(code), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", PROBE], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == absent, done.stderr
