"""Finds the facts out: small files of the system, NVML, installed distributions, and frameworks in a subprocess.

The only file of the planner besides the catalogues and the command line that looks at the machine. Nothing is changed,
nothing is downloaded, and each probe has a time limit.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil
import pynvml

from planner.environment.facts import Facts, GpuFacts
from planner.telemetry.nvml import NvmlSource, as_text

PROBE_SECONDS = 60.0
"""How long a framework may take to be imported."""

VARIABLES = (
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_LAUNCH_BLOCKING",
    "LD_LIBRARY_PATH",
    "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_ALLOC_CONF",
    "HIP_VISIBLE_DEVICES",
)

_PROBES = {
    "torch": """
import json, torch
c = torch.cuda
print(json.dumps({"version": torch.__version__, "cuda": torch.version.cuda, "hip": torch.version.hip,
    "architectures": c.get_arch_list(), "cudnn": torch.backends.cudnn.version(), "devices": c.device_count()}))
""",
    "tensorflow": """
import json, tensorflow as tf
b = dict(tf.sysconfig.get_build_info())
print(json.dumps({"version": tf.__version__, "cuda": b.get("cuda_version"), "cudnn": b.get("cudnn_version"),
    "cuda_build": bool(b.get("is_cuda_build")), "devices": len(tf.config.list_physical_devices("GPU"))}))
""",
    "jax": """
import json, jax, jaxlib
found = [d for d in jax.devices() if d.platform in ("gpu", "cuda", "rocm")]
print(json.dumps({"version": jax.__version__, "devices": len(found), "platform": jax.default_backend()}))
""",
}


def gather(python: str = sys.executable, *, frameworks: bool = True) -> Facts:
    """All facts; `python` is the interpreter whose frameworks are looked at."""
    found = _nvml()
    wheels = _wheels(python)
    names = [name for name in _PROBES if name in wheels] if frameworks else []
    disk = psutil.disk_usage(str(Path.home()) if Path.home().exists() else "/")
    return Facts(
        system=platform.system(),
        release=platform.release(),
        machine=platform.machine(),
        python=python,
        wsl="microsoft" in platform.release().lower(),
        container=_in_container(),
        nvidia_devices=_on_bus("0x10de"),
        amd_devices=_on_bus("0x1002"),
        nvidia_nodes=_nodes(),
        nouveau=Path("/sys/module/nouveau").exists() if Path("/sys/module").exists() else None,
        module_version=_module_version(_text("/proc/driver/nvidia/version")),
        frameworks={name: probe_framework(python, name) for name in names},
        wheels=wheels,
        variables={name: os.environ[name] for name in VARIABLES if name in os.environ},
        profiling_restricted=_profiling_restricted(_text("/proc/driver/nvidia/params")),
        nvswitches=_entries("/proc/driver/nvidia-nvswitch/devices"),
        fabric_manager=_runs("nv-fabricmanager"),
        container_tool=shutil.which("nvidia-ctk") is not None,
        docker=shutil.which("docker") is not None,
        snap_docker=Path("/snap/bin/docker").exists(),
        shared_memory=_size("/dev/shm"),
        ram=psutil.virtual_memory().total,
        locked_memory=_limit("RLIMIT_MEMLOCK"),
        open_files=_limit("RLIMIT_NOFILE"),
        disk_free=disk.free,
        **found,
    )


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""


def _module_version(text: str) -> str:
    found = re.search(r"Kernel Module(?: for \S+)?\s+(\d+\.\d+(?:\.\d+)?)", text)
    return found.group(1) if found else ""


def _profiling_restricted(text: str) -> bool | None:
    found = re.search(r"RmProfilingAdminOnly:\s*(\d)", text)
    return found.group(1) == "1" if found else None


def _entries(folder: str) -> int:
    try:
        return sum(1 for _ in Path(folder).iterdir())
    except OSError:
        return 0


def _runs(name: str) -> bool:
    """Whether a program of this name runs; the system cuts names at 15 characters."""
    return any((one.info["name"] or "")[:15] == name[:15] for one in psutil.process_iter(["name"]))


def _in_container() -> bool:
    marks = Path("/.dockerenv").exists() or Path("/run/.containerenv").exists() or "container" in os.environ
    return marks or any(word in _text("/proc/1/cgroup") for word in ("docker", "kubepods", "containerd"))


def _on_bus(vendor: str) -> int | None:
    """Display controllers of a vendor on the PCI bus (class 0x03)."""
    folder = Path("/sys/bus/pci/devices")
    if not folder.exists():
        return None
    count = 0
    for device in folder.iterdir():
        if _text(f"{device}/vendor").strip() == vendor and _text(f"{device}/class").startswith("0x03"):
            count += 1
    return count


def _nodes() -> int | None:
    folder = Path("/dev")
    return sum(1 for one in folder.glob("nvidia[0-9]*")) if folder.exists() else None


def _size(path: str) -> int | None:
    try:
        return int(psutil.disk_usage(path).total)
    except OSError:
        return None


def _limit(name: str) -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    return int(resource.getrlimit(getattr(resource, name))[0])


def _nvml() -> dict[str, Any]:
    """Driver, CUDA and GPUs by NVML."""
    source = NvmlSource()
    reading = source.read()
    facts: dict[str, Any] = {
        "absent": reading.absent,
        "driver": reading.facts.get("driver", ""),
        "cuda": reading.facts.get("cuda", ""),
    }
    gpus = []
    if reading.absent is None:
        for index in range(_ask(pynvml.nvmlDeviceGetCount) or 0):
            handle = _ask(pynvml.nvmlDeviceGetHandleByIndex, index)
            if handle is not None:
                gpus.append(_gpu(handle))
    return facts | {"gpus": tuple(gpus)}


def _gpu(handle: Any) -> GpuFacts:
    capability = _ask(pynvml.nvmlDeviceGetCudaComputeCapability, handle)
    ecc, mig = _ask(pynvml.nvmlDeviceGetEccMode, handle), _ask(pynvml.nvmlDeviceGetMigMode, handle)
    persistence = _ask(pynvml.nvmlDeviceGetPersistenceMode, handle)
    return GpuFacts(
        name=as_text(_ask(pynvml.nvmlDeviceGetName, handle) or "NVIDIA GPU"),
        uuid=as_text(_ask(pynvml.nvmlDeviceGetUUID, handle) or ""),
        capability=f"{capability[0]}.{capability[1]}" if capability else "",
        persistence=None if persistence is None else bool(persistence),
        ecc=None if ecc is None else bool(ecc[0]),
        mig=None if mig is None else bool(mig[0]),
        pcie_generation_max=_ask(pynvml.nvmlDeviceGetMaxPcieLinkGeneration, handle),
        pcie_width=_ask(pynvml.nvmlDeviceGetCurrPcieLinkWidth, handle),
        pcie_width_max=_ask(pynvml.nvmlDeviceGetMaxPcieLinkWidth, handle),
    )


def _ask(call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except (pynvml.NVMLError, UnicodeDecodeError):
        return None


_LIST_WHEELS = """
import json
from importlib import metadata
print(json.dumps({d.metadata["Name"]: d.version for d in metadata.distributions() if d.metadata["Name"]}))
"""
_KEPT = re.compile(r"^(torch|tensorflow|jax|jaxlib|jax-cuda\d+.*|pynvml|nvidia-.*)$", re.IGNORECASE)


def _wheels(python: str) -> dict[str, str]:
    """The distributions that matter here, without importing any."""
    if python == sys.executable:
        every = {one.metadata["Name"]: one.version for one in metadata.distributions() if one.metadata["Name"]}
    else:
        every = dict(_run(python, _LIST_WHEELS, 20.0))
    return {name.lower(): str(value) for name, value in every.items() if _KEPT.match(name)}


def probe_framework(python: str, name: str, seconds: float = PROBE_SECONDS) -> Mapping[str, Any]:
    """What a framework tells of its build, asked in another process; {"error": ...} where it tells nothing."""
    return _run(python, _PROBES[name], seconds)


def _run(python: str, code: str, seconds: float) -> Mapping[str, Any]:
    environment = os.environ | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TF_CPP_MIN_LOG_LEVEL": "3"}
    try:
        done = subprocess.run(
            [python, "-c", code], capture_output=True, text=True, timeout=seconds, env=environment, check=False
        )
        answer = json.loads(done.stdout.strip().rpartition("\n")[2])
        return answer if isinstance(answer, dict) else {"error": "no-answer"}
    except subprocess.TimeoutExpired:
        return {"error": "timeout"}
    except OSError:
        return {"error": "no-python"}
    except ValueError:
        return {"error": (done.stderr.strip().rpartition("\n")[2] or "no-answer")[:200]}
