"""What one reading of the GPUs holds. Every metric is a value or the reason why there is none, never a zero instead."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias


class Missing(StrEnum):
    """Why a metric has no value."""

    NOT_SUPPORTED = "not-supported"
    NO_PERMISSION = "no-permission"
    GPU_LOST = "gpu-lost"
    NOT_SAMPLED_YET = "not-sampled-yet"  # needs two readings, or a slower round that has not come yet
    DRIVER_TOO_OLD = "driver-too-old"
    UNDER_MIG = "under-mig"  # NVML measures it on the whole card only, and not while it is partitioned
    BLANK = "blank"  # the source has the column and left it empty
    NOT_IN_SOURCE = "not-in-source"
    OTHER_NAMESPACE = "other-namespace"  # processes that a container may not see
    FAILED = "failed"


Metric: TypeAlias = float | Missing


class Absent(StrEnum):
    """Why there is no GPU to read at all."""

    NO_LIBRARY = "no-library"  # NVML is not installed: no NVIDIA driver
    NO_DRIVER = "no-driver"  # the library is there, the driver does not answer
    VERSION_MISMATCH = "version-mismatch"  # driver updated under a running process: restart the app
    NO_PERMISSION = "no-permission"
    BLOCKED = "blocked"  # the operating system or the container keeps the devices away
    NO_GPU = "no-gpu"
    UNREACHABLE = "unreachable"  # a server that does not answer
    BAD_ANSWER = "bad-answer"  # a server that answers something else
    FAILED = "failed"


class Kind(StrEnum):
    """What is measured."""

    GPU = "gpu"
    MIG = "mig"  # an instance of a partitioned GPU
    HOST = "host"


METRICS: Mapping[str, str] = {
    # GPUs
    "lost": "flag",
    "memory_used": "B",
    "memory_total": "B",
    "memory_reserved": "B",  # held by driver and firmware, part of neither used nor free
    "utilization": "share",  # of time in which any kernel ran; not how full the GPU was
    "memory_utilization": "share",  # of time in which memory was read or written
    "encoder": "share",
    "decoder": "share",
    "engine_active": "share",
    "sm_active": "share",  # of cycles with a warp resident, mean over SMs
    "sm_occupancy": "share",
    "tensor_active": "share",
    "dram_active": "share",
    "power": "W",
    "power_limit": "W",  # enforced
    "power_limit_default": "W",
    "energy": "J",  # counter since the driver was loaded
    "temperature": "C",
    "temperature_slowdown": "C",
    "memory_temperature": "C",
    "fan": "share",
    "sm_clock": "Hz",
    "sm_clock_max": "Hz",
    "memory_clock": "Hz",
    "performance_state": "state",
    "event_reasons": "bits",
    "pcie_generation": "count",
    "pcie_generation_max": "count",
    "pcie_width": "count",
    "pcie_width_max": "count",
    "pcie_transmit": "B/s",
    "pcie_receive": "B/s",
    "pcie_replays": "count",
    "nvlink_transmit": "B/s",
    "nvlink_receive": "B/s",
    "ecc_uncorrected": "count",
    "remap_pending": "flag",
    "remap_failed": "flag",
    "recovery_action": "state",
    "xid": "code",  # the last one seen
    "compute_capability": "version",
    # Hosts
    "cpu": "share",
    "cpu_busiest_core": "share",
    "io_wait": "share",
    "ram_used": "B",
    "ram_total": "B",
    "disk_read": "B/s",
    "disk_write": "B/s",
    "disk_free": "B",
}
"""Each metric with its unit. Shares run from 0 to 1."""


class EventReason:
    """Bits of `event_reasons`: why clocks are where they are (NVML header, nvmlClocksEventReasons)."""

    IDLE = 0x1
    CLOCK_SETTING = 0x2
    POWER_CAP = 0x4
    HARDWARE_SLOWDOWN = 0x8
    SYNC_BOOST = 0x10
    SOFTWARE_THERMAL = 0x20
    HARDWARE_THERMAL = 0x40
    POWER_BRAKE = 0x80
    DISPLAY_CLOCK = 0x100
    THERMAL = SOFTWARE_THERMAL | HARDWARE_THERMAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Who was measured. The UUID is the identity; an index is only a label, and may change with a reboot."""

    uuid: str
    name: str
    kind: Kind = Kind.GPU
    index: int | None = None
    host: str = ""
    parent: str = ""  # a MIG instance: the UUID of its GPU
    shared_memory: bool = False  # one memory for CPU and GPU
    mig: bool = False  # a GPU that is partitioned


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One device at one moment."""

    device: Device
    values: Mapping[str, Metric]

    def metric(self, name: str) -> Metric:
        """The value of a metric in the unit of `METRICS`, or why there is none."""
        return self.values.get(name, Missing.NOT_IN_SOURCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """One process on one GPU. Its command line is private and therefore not part of a reading."""

    uuid: str
    pid: int
    name: str = ""  # empty where this process may not know it (another PID namespace)
    memory: Metric = Missing.NOT_IN_SOURCE
    sm: Metric = Missing.NOT_IN_SOURCE
    kind: str = "compute"  # or "graphics"
    user: str = ""
    container: str = ""  # the container, pod or job it belongs to


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Everything that was seen at one moment (seconds since 1970, by the source's clock)."""

    time: float
    samples: tuple[Sample, ...] = ()
    processes: tuple[Process, ...] | Missing = Missing.NOT_IN_SOURCE
    absent: Absent | None = None
    facts: Mapping[str, str] = field(default_factory=dict)  # driver and CUDA versions, and the like

    @property
    def gpus(self) -> tuple[Sample, ...]:
        return tuple(sample for sample in self.samples if sample.device.kind is not Kind.HOST)
