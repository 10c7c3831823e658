"""All checks in their order, and those of the driver and the cards."""

from planner.environment import frameworks, surroundings
from planner.environment.check import Check, Rule, State, has_hardware, maker
from planner.environment.compatibility import cuda_of_driver, rows, version
from planner.environment.facts import Facts
from planner.telemetry.sample import Absent


def gpu_present(facts: Facts) -> Check:
    """Is there an NVIDIA GPU, and does the driver see it?"""
    made = maker("gpu.present", "NVML, PCI vendor 0x10de")
    if facts.gpus:
        names = ", ".join(dict.fromkeys(gpu.name for gpu in facts.gpus))
        return made(State.OK, f"{len(facts.gpus)}: {names}")
    if facts.nvidia_devices or facts.nvidia_nodes:
        return made(State.PROBLEM, f"PCI: {facts.nvidia_devices or 0}, NVML: 0", "NVML ≥ 1", "driver-install")
    if facts.amd_devices:
        return made(State.NOT_APPLICABLE, f"AMD: {facts.amd_devices}", advice="amd-found")
    if facts.nvidia_devices is None and not facts.wsl:
        return made(State.UNKNOWN, "–")
    if facts.container and facts.driver:
        return made(State.PROBLEM, "0", "≥ 1", "container-gpus")
    return made(State.NOT_APPLICABLE, "0")


_ABSENT_ADVICE = {
    Absent.NO_LIBRARY: "driver-install",
    Absent.NO_DRIVER: "driver-module",
    Absent.VERSION_MISMATCH: "driver-reboot",
    Absent.NO_PERMISSION: "permission",
    Absent.BLOCKED: "container-recreate",
    Absent.FAILED: "container-recreate",
    Absent.NO_GPU: "container-gpus",
}


def driver_loaded(facts: Facts) -> Check:
    """Does NVML start?"""
    made = maker("driver.loaded", "nvmlInit")
    if facts.absent is None:
        return made(State.OK, facts.driver or "–")
    if not has_hardware(facts):
        return made(State.NOT_APPLICABLE, facts.absent)
    advice = _ABSENT_ADVICE.get(facts.absent, "driver-module")
    if facts.wsl and facts.absent is Absent.NO_DRIVER:
        advice = "wsl-shadow"
    if facts.nouveau and facts.absent in (Absent.NO_DRIVER, Absent.NO_LIBRARY):
        advice = "nouveau"
    return made(State.PROBLEM, facts.absent, "nvmlInit = 0", advice)


def driver_library(facts: Facts) -> Check:
    """Are the kernel module and the user library of one version, to the last digit?"""
    made = maker("driver.library", "/proc/driver/nvidia/version, nvmlSystemGetDriverVersion")
    if not has_hardware(facts):
        return made(State.NOT_APPLICABLE)
    if facts.absent is Absent.VERSION_MISMATCH:
        advice = "container-driver" if facts.container else "driver-reboot"
        return made(State.PROBLEM, f"module {facts.module_version or '?'}", "library = module", advice)
    if not facts.module_version or not facts.driver:
        return made(State.NOT_APPLICABLE if facts.wsl else State.UNKNOWN)
    same = facts.module_version == facts.driver
    found = f"module {facts.module_version}, library {facts.driver}"
    return made(State.OK if same else State.PROBLEM, found, "library = module", "" if same else "driver-reboot")


def driver_cuda(facts: Facts) -> Check:
    """The newest CUDA that this driver runs; not what is installed."""
    made = maker("driver.cuda", "nvmlSystemGetCudaDriverVersion")
    if not facts.driver:
        return made(State.NOT_APPLICABLE if not has_hardware(facts) else State.UNKNOWN)
    cuda = facts.cuda or cuda_of_driver(facts.driver)
    old = version(facts.driver) < version(rows("major")[1].driver_minor_linux)
    expected = f"driver ≥ {rows('major')[1].driver_minor_linux} (CUDA 12)"
    state = State.WARNING if old else State.OK
    return made(state, f"CUDA ≤ {cuda}", expected, "driver-newer" if old else "", rows("major")[1].source)


def persistence(facts: Facts) -> Check:
    """Without persistence mode the driver starts anew for every program: seconds each time."""
    made = maker("gpu.persistence", "nvmlDeviceGetPersistenceMode")
    known = [gpu.persistence for gpu in facts.gpus if gpu.persistence is not None]
    if not known or facts.system == "Windows" or facts.wsl:
        return made(State.NOT_APPLICABLE)
    on = all(known)
    return made(State.OK if on else State.WARNING, f"{sum(known)}/{len(known)}", "", "" if on else "persistence")


def ecc(facts: Facts) -> Check:
    """Error correction, where the card has it."""
    made = maker("gpu.ecc", "nvmlDeviceGetEccMode")
    known = [gpu.ecc for gpu in facts.gpus if gpu.ecc is not None]
    if not known:
        return made(State.NOT_APPLICABLE)
    on = all(known)
    return made(State.OK if on else State.WARNING, f"{sum(known)}/{len(known)}", "", "" if on else "ecc")


def mig(facts: Facts) -> Check:
    """Partitioned GPUs show no utilisation, and take no NVLink."""
    made = maker("gpu.mig", "nvmlDeviceGetMigMode")
    known = [gpu.mig for gpu in facts.gpus if gpu.mig is not None]
    if not known:
        return made(State.NOT_APPLICABLE)
    return made(State.OK, f"{sum(known)}/{len(known)}", advice="mig" if any(known) else "")


def profiling(facts: Facts) -> Check:
    """May a user read the GPU's performance counters? From Hopper on NVML gives the main ones without them."""
    made = maker("gpu.profiling", "/proc/driver/nvidia/params (RmProfilingAdminOnly)")
    if facts.profiling_restricted is None:
        return made(State.NOT_APPLICABLE)
    if not facts.profiling_restricted:
        return made(State.OK, "RmProfilingAdminOnly: 0")
    newer = bool(facts.gpus) and all(version(gpu.capability) >= (9, 0) for gpu in facts.gpus if gpu.capability)
    return made(State.OK if newer else State.WARNING, "RmProfilingAdminOnly: 1", "", "" if newer else "profiling")


def fabric(facts: Facts) -> Check:
    """On a machine with NVSwitch CUDA starts only with the fabric manager (error 802 without)."""
    made = maker("gpu.fabric", "/proc/driver/nvidia-nvswitch, nv-fabricmanager")
    if not facts.nvswitches or facts.container:  # a container sees no processes of the host
        return made(State.NOT_APPLICABLE)
    found = f"NVSwitch × {facts.nvswitches}"
    if facts.fabric_manager:
        return made(State.OK, found)
    return made(State.PROBLEM, found, "nv-fabricmanager", "fabric-manager")


def pcie(facts: Facts) -> Check:
    """Fewer lanes than the card has: the slot, or a riser. (The generation falls at idle and tells nothing.)"""
    made = maker("gpu.pcie", "nvmlDeviceGetCurrPcieLinkWidth")
    known = [(gpu.pcie_width, gpu.pcie_width_max) for gpu in facts.gpus if gpu.pcie_width and gpu.pcie_width_max]
    if not known:
        return made(State.NOT_APPLICABLE)
    narrow = [pair for pair in known if pair[0] < pair[1]]
    found = ", ".join(dict.fromkeys(f"x{width}" for width, _ in known))
    expected = ", ".join(dict.fromkeys(f"x{most}" for _, most in known))
    return made(State.WARNING if narrow else State.OK, found, expected, "pcie" if narrow else "")


def wsl_driver(facts: Facts) -> Check:
    """Under WSL the Windows driver serves; NVML came with 465.42 and 510.06."""
    made = maker("wsl.driver", "kernel release, NVML")
    if not facts.wsl:
        return made(State.NOT_APPLICABLE)
    if not facts.driver:
        return made(State.PROBLEM, facts.absent or "–", "Windows driver ≥ 510.06", "wsl-driver")
    old = version(facts.driver) < (465, 42)
    return made(State.PROBLEM if old else State.OK, facts.driver, "≥ 465.42", "wsl-driver" if old else "")


RULES: tuple[Rule, ...] = (
    gpu_present,
    driver_loaded,
    driver_library,
    driver_cuda,
    frameworks.framework_build("torch"),
    frameworks.framework_driver("torch"),
    frameworks.torch_architectures,
    frameworks.torch_devices,
    frameworks.torch_cudnn,
    frameworks.framework_build("tensorflow"),
    frameworks.framework_driver("tensorflow"),
    frameworks.framework_build("jax"),
    surroundings.visible_devices,
    surroundings.device_order,
    surroundings.library_path,
    surroundings.launch_blocking,
    surroundings.pynvml_owner,
    surroundings.container_runtime,
    surroundings.shared_memory,
    surroundings.locked_memory,
    surroundings.open_files,
    surroundings.disk_free,
    persistence,
    ecc,
    mig,
    pcie,
    profiling,
    fabric,
    wsl_driver,
)


def check_all(facts: Facts) -> tuple[Check, ...]:
    """Every check in its order."""
    return tuple(rule(facts) for rule in RULES)
