"""Each misconfiguration is named by its check, and what cannot be known is not called a problem."""

from dataclasses import replace

import pytest

from planner.commands.environment import ADVICE
from planner.environment.check import State
from planner.environment.checks import check_all
from planner.environment.facts import Facts, GpuFacts
from planner.environment.probe import _profiling_restricted
from planner.telemetry.sample import Absent
from planner.units import GIB

H100 = GpuFacts(
    name="NVIDIA H100",
    uuid="GPU-1234abcd-0000",
    capability="9.0",
    persistence=True,
    ecc=True,
    mig=False,
    pcie_generation_max=5,
    pcie_width=16,
    pcie_width_max=16,
)
TORCH = {
    "version": "2.9.1",
    "cuda": "12.8",
    "architectures": ["sm_80", "sm_90", "sm_120"],
    "cudnn": 91002,
    "devices": 1,
}
GOOD = Facts(
    system="Linux",
    release="6.8",
    nvidia_devices=1,
    nvidia_nodes=1,
    amd_devices=0,
    nouveau=False,
    module_version="590.48.01",
    driver="590.48.01",
    cuda="13.1",
    gpus=(H100,),
    frameworks={"torch": TORCH},
    wheels={"torch": "2.9.1", "nvidia-ml-py": "13.0", "nvidia-cudnn-cu12": "9.10.2.21"},
    container_tool=True,
    docker=True,
    snap_docker=False,
    shared_memory=64 * GIB,
    locked_memory=-1,
    open_files=65536,
    disk_free=500 * GIB,
)


def answers(facts):
    return {check.id: check for check in check_all(facts)}


def test_a_good_machine_has_nothing_to_mend():
    bad = [one for one in check_all(GOOD) if one.state in (State.WARNING, State.PROBLEM, State.UNKNOWN)]
    assert bad == []


def torch(**changes):
    return {"frameworks": {"torch": TORCH | changes}}


CASES = [
    ("gpu.present", "problem", "driver-install", {"gpus": (), "absent": Absent.NO_LIBRARY, "driver": ""}),
    ("driver.loaded", "problem", "driver-install", {"gpus": (), "absent": Absent.NO_LIBRARY}),
    ("driver.loaded", "problem", "driver-module", {"gpus": (), "absent": Absent.NO_DRIVER}),
    ("driver.loaded", "problem", "nouveau", {"gpus": (), "absent": Absent.NO_DRIVER, "nouveau": True}),
    ("driver.loaded", "problem", "wsl-shadow", {"gpus": (), "absent": Absent.NO_DRIVER, "wsl": True}),
    ("driver.loaded", "problem", "container-recreate", {"gpus": (), "absent": Absent.FAILED}),
    ("driver.library", "problem", "driver-reboot", {"absent": Absent.VERSION_MISMATCH}),
    ("driver.library", "problem", "container-driver", {"absent": Absent.VERSION_MISMATCH, "container": True}),
    ("driver.library", "problem", "driver-reboot", {"module_version": "590.44.01"}),
    ("driver.cuda", "warning", "driver-newer", {"driver": "470.10", "cuda": "11.4"}),
    ("torch.build", "problem", "cpu-only-wheel", torch(cuda=None)),
    ("torch.build", "problem", "framework-import", {"frameworks": {"torch": {"error": "timeout"}}}),
    ("torch.driver", "problem", "driver-or-wheel", torch(cuda="13.0") | {"driver": "570.10"}),
    ("torch.arch", "problem", "wheel-newer", torch(architectures=["sm_70", "sm_80"])),
    ("torch.arch", "problem", "wheel-older", torch(architectures=["sm_100", "sm_120"])),
    ("torch.devices", "problem", "fabric-manager", torch(devices=0)),
    ("torch.cudnn", "problem", "cudnn-shadow", torch(cudnn=8907)),
    ("env.visible-devices", "warning", "visible-none", {"variables": {"CUDA_VISIBLE_DEVICES": ""}}),
    ("env.visible-devices", "warning", "visible-none", {"variables": {"CUDA_VISIBLE_DEVICES": "-1"}}),
    ("env.visible-devices", "problem", "visible-invalid", {"variables": {"CUDA_VISIBLE_DEVICES": "0,3"}}),
    ("env.visible-devices", "problem", "visible-invalid", {"variables": {"CUDA_VISIBLE_DEVICES": "GPU-9999"}}),
    ("env.device-order", "warning", "device-order", {"gpus": (H100, replace(H100, name="NVIDIA T4"))}),
    ("env.library-path", "warning", "compat-library", {"variables": {"LD_LIBRARY_PATH": "/usr/local/cuda/compat"}}),
    (
        "env.library-path",
        "warning",
        "library-path",
        {
            "variables": {"LD_LIBRARY_PATH": "/usr/local/cuda/lib64"},
            "wheels": GOOD.wheels | {"nvidia-cublas-cu12": "12"},
        },
    ),
    ("env.launch-blocking", "warning", "launch-blocking", {"variables": {"CUDA_LAUNCH_BLOCKING": "1"}}),
    ("python.pynvml", "problem", "pynvml-shadow", {"wheels": {"pynvml": "8.0.4", "nvidia-ml-py": "12"}}),
    ("container.runtime", "warning", "toolkit", {"container_tool": False}),
    ("container.runtime", "warning", "docker-snap", {"snap_docker": True}),
    ("container.shm", "warning", "shm", {"shared_memory": 64 * 2**20}),
    ("limits.memlock", "warning", "memlock", {"locked_memory": 8 * 2**20}),
    ("limits.files", "warning", "open-files", {"open_files": 1024}),
    ("disk.free", "warning", "disk", {"disk_free": 10 * GIB}),
    ("gpu.persistence", "warning", "persistence", {"gpus": (replace(H100, persistence=False),)}),
    ("gpu.ecc", "warning", "ecc", {"gpus": (replace(H100, ecc=False),)}),
    ("gpu.pcie", "warning", "pcie", {"gpus": (replace(H100, pcie_width=8),)}),
    ("wsl.driver", "problem", "wsl-driver", {"wsl": True, "driver": "460.10"}),
]


@pytest.mark.parametrize(("id", "state", "advice", "changes"), CASES, ids=[f"{c[0]}:{c[2]}" for c in CASES])
def test_a_misconfiguration_is_named(id, state, advice, changes):
    check = answers(replace(GOOD, **changes))[id]
    assert (check.state, check.advice) == (state, advice)
    assert check.how


@pytest.mark.parametrize("value", ["0", "GPU-1234abcd", "MIG-whatever", "0 "])
def test_what_cuda_accepts_is_accepted(value):
    assert answers(replace(GOOD, variables={"CUDA_VISIBLE_DEVICES": value}))["env.visible-devices"].state is State.OK


def test_no_nvidia_hardware_is_no_problem():
    facts = Facts(system="Linux", nvidia_devices=0, amd_devices=0, absent=Absent.NO_LIBRARY, disk_free=500 * GIB)
    assert {one.state for one in check_all(facts)} <= {State.OK, State.NOT_APPLICABLE}
    amd = answers(replace(facts, amd_devices=2))["gpu.present"]
    assert (amd.state, amd.advice) == (State.NOT_APPLICABLE, "amd-found")


def test_nothing_known_is_no_problem_either():
    assert State.PROBLEM not in {one.state for one in check_all(Facts())}


def test_a_cpu_build_without_a_gpu_is_fine():
    facts = replace(GOOD, gpus=(), nvidia_devices=0, nvidia_nodes=0, driver="", **torch(cuda=None))
    assert answers(facts)["torch.build"].state is State.OK


def test_ids_are_unique_and_every_advice_has_its_words():
    checks = check_all(GOOD)
    assert len({one.id for one in checks}) == len(checks)
    assert {case[2] for case in CASES} <= set(ADVICE)


def state_of(facts: Facts, id: str) -> State:
    return next(one.state for one in check_all(facts) if one.id == id)


def test_counters_for_the_administrator_matter_before_hopper_only() -> None:
    old = replace(GOOD, gpus=(replace(H100, name="NVIDIA A100", capability="8.0"),), profiling_restricted=True)
    assert state_of(old, "gpu.profiling") is State.WARNING
    assert state_of(replace(GOOD, profiling_restricted=True), "gpu.profiling") is State.OK
    assert state_of(GOOD, "gpu.profiling") is State.NOT_APPLICABLE
    assert _profiling_restricted("EnableMSI: 1\nRmProfilingAdminOnly: 1\n") is True
    assert _profiling_restricted("") is None


def test_switches_need_their_manager() -> None:
    assert state_of(replace(GOOD, nvswitches=4), "gpu.fabric") is State.PROBLEM
    assert state_of(replace(GOOD, nvswitches=4, fabric_manager=True), "gpu.fabric") is State.OK
    assert state_of(GOOD, "gpu.fabric") is State.NOT_APPLICABLE
