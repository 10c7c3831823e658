"""Checks of what is around: variables, containers, limits, disks."""

import re

from planner.environment.check import Check, State, has_hardware, maker
from planner.environment.compatibility import version
from planner.environment.facts import Facts
from planner.units import GIB


def visible_devices(facts: Facts) -> Check:
    """Does CUDA_VISIBLE_DEVICES hide GPUs, or name one that is not there?"""
    made = maker("env.visible-devices", "CUDA_VISIBLE_DEVICES")
    value = facts.variables.get("CUDA_VISIBLE_DEVICES")
    if value is None:
        return made(State.OK, "–")
    entries = [one.strip() for one in value.split(",")]
    if value.strip() in ("", "-1") or entries[0] == "-1":
        return made(State.WARNING, f'"{value}"', "", "visible-none")
    for place, entry in enumerate(entries):
        if not _names_a_gpu(entry, facts):
            return made(State.PROBLEM, f'"{value}"', f"{entry} ({place + 1})", "visible-invalid")
    return made(State.OK, f'"{value}"')


def _names_a_gpu(entry: str, facts: Facts) -> bool:
    if not facts.gpus:  # nothing to compare with
        return True
    if entry.startswith("MIG-"):
        return True
    if entry.startswith("GPU-"):
        return sum(gpu.uuid.startswith(entry) for gpu in facts.gpus) == 1
    return entry.isdigit() and int(entry) < len(facts.gpus)


def device_order(facts: Facts) -> Check:
    """With different GPUs, CUDA counts the fastest first; NVML and nvidia-smi count by bus."""
    made = maker("env.device-order", "CUDA_DEVICE_ORDER")
    if len({gpu.name for gpu in facts.gpus}) < 2:
        return made(State.NOT_APPLICABLE)
    value = facts.variables.get("CUDA_DEVICE_ORDER", "")
    good = value == "PCI_BUS_ID"
    return made(State.OK if good else State.WARNING, value or "–", "PCI_BUS_ID", "" if good else "device-order")


def library_path(facts: Facts) -> Check:
    """Does LD_LIBRARY_PATH put other CUDA libraries before the ones that were installed?"""
    made = maker("env.library-path", "LD_LIBRARY_PATH")
    value = facts.variables.get("LD_LIBRARY_PATH", "")
    suspicious = [one for one in value.split(":") if re.search(r"cuda|cudnn|nvidia", one, re.IGNORECASE)]
    compat = [one for one in suspicious if "compat" in one]
    if compat:
        return made(State.WARNING, ":".join(compat), "", "compat-library")
    wheels = any(name.startswith("nvidia-cu") for name in facts.wheels)
    if suspicious and wheels:
        return made(State.WARNING, ":".join(suspicious), "", "library-path")
    return made(State.OK, value or "–")


def launch_blocking(facts: Facts) -> Check:
    """CUDA_LAUNCH_BLOCKING=1 is for finding faults: it slows everything down."""
    made = maker("env.launch-blocking", "CUDA_LAUNCH_BLOCKING")
    on = facts.variables.get("CUDA_LAUNCH_BLOCKING", "0") not in ("", "0")
    return made(State.WARNING if on else State.OK, "1" if on else "–", "–", "launch-blocking" if on else "")


def pynvml_owner(facts: Facts) -> Check:
    """Two distributions provide the module pynvml; the old one shadows the right one."""
    made = maker("python.pynvml", "importlib.metadata")
    right, old = facts.wheels.get("nvidia-ml-py", ""), facts.wheels.get("pynvml", "")
    if old and version(old)[:1] < (12,):
        return made(State.PROBLEM, f"pynvml {old}", "nvidia-ml-py", "pynvml-shadow")
    return made(State.OK if right else State.NOT_APPLICABLE, f"nvidia-ml-py {right}" if right else "")


def container_runtime(facts: Facts) -> Check:
    """Can containers on this host get the GPU?"""
    made = maker("container.runtime", "docker, nvidia-ctk")
    if facts.container or not facts.docker or not has_hardware(facts):
        return made(State.NOT_APPLICABLE)
    if facts.snap_docker:
        return made(State.WARNING, "/snap/bin/docker", "", "docker-snap")
    tool = bool(facts.container_tool)
    return made(
        State.OK if tool else State.WARNING, "nvidia-ctk" if tool else "–", "nvidia-ctk", "" if tool else "toolkit"
    )


def shared_memory(facts: Facts) -> Check:
    """Data-loading workers hand batches over in /dev/shm; containers start with 64 MiB of it."""
    made = maker("container.shm", "/dev/shm")
    if facts.shared_memory is None:
        return made(State.NOT_APPLICABLE)
    small = facts.shared_memory < GIB
    found, expected = f"{facts.shared_memory / GIB:.2f} GiB", "≥ 1 GiB"
    return made(State.WARNING if small else State.OK, found, expected, "shm" if small else "")


def locked_memory(facts: Facts) -> Check:
    """Links between nodes need memory that is locked."""
    made = maker("limits.memlock", "RLIMIT_MEMLOCK")
    if facts.locked_memory is None or not has_hardware(facts):
        return made(State.NOT_APPLICABLE)
    free = facts.locked_memory < 0 or facts.locked_memory >= 2**62
    found = "unlimited" if free else f"{facts.locked_memory / 2**20:.0f} MiB"
    return made(State.OK if free else State.WARNING, found, "unlimited", "" if free else "memlock")


def open_files(facts: Facts) -> Check:
    """Data loaders open many files at once."""
    made = maker("limits.files", "RLIMIT_NOFILE")
    if facts.open_files is None:
        return made(State.NOT_APPLICABLE)
    few = 0 <= facts.open_files < 4096
    return made(State.WARNING if few else State.OK, str(facts.open_files), "≥ 4096", "open-files" if few else "")


def disk_free(facts: Facts) -> Check:
    """Room for checkpoints and downloads in the home folder."""
    made = maker("disk.free", "home")
    if facts.disk_free is None:
        return made(State.UNKNOWN)
    little = facts.disk_free < 50 * GIB
    found = f"{facts.disk_free / GIB:.0f} GiB"
    return made(State.WARNING if little else State.OK, found, "≥ 50 GiB", "disk" if little else "")
