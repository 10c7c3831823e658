"""What was found out about a machine. Everything is optional: what could not be found is None or empty."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.telemetry.sample import Absent


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuFacts:
    """One GPU, as NVML tells it."""

    name: str
    uuid: str
    capability: str = ""
    persistence: bool | None = None
    ecc: bool | None = None
    mig: bool | None = None
    pcie_generation_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """One machine, and one Python on it."""

    system: str = ""  # Linux, Windows, Darwin
    release: str = ""
    machine: str = ""
    python: str = ""
    wsl: bool = False
    container: bool = False
    nvidia_devices: int | None = None  # on the PCI bus; None: the bus could not be read
    amd_devices: int | None = None
    nvidia_nodes: int | None = None  # /dev/nvidia0 and so on
    nouveau: bool | None = None
    module_version: str = ""  # of the kernel module
    driver: str = ""  # of the library
    cuda: str = ""  # the newest that the driver supports
    absent: Absent | None = None  # why NVML has no GPU
    gpus: tuple[GpuFacts, ...] = ()
    frameworks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # name -> what its probe told
    wheels: Mapping[str, str] = field(default_factory=dict)  # nvidia-* and the frameworks: version by distribution
    variables: Mapping[str, str] = field(default_factory=dict)
    profiling_restricted: bool | None = None  # GPU performance counters for the administrator only
    nvswitches: int = 0
    fabric_manager: bool = False  # its process runs
    container_tool: bool | None = None  # nvidia-ctk is installed
    docker: bool | None = None
    snap_docker: bool | None = None
    shared_memory: int | None = None  # bytes of /dev/shm
    ram: int | None = None
    locked_memory: int | None = None  # bytes; -1: no limit
    open_files: int | None = None
    disk_free: int | None = None
