"""What one reading of one GPU holds."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Missing(StrEnum):
    """Why a metric has no value. Never zero in its place."""

    NOT_SUPPORTED = "not-supported"
    NO_PERMISSION = "no-permission"
    GPU_LOST = "gpu-lost"
    FAILED = "failed"


Metric: TypeAlias = float | Missing


class Absent(StrEnum):
    """Why there is no GPU to read at all."""

    NO_LIBRARY = "no-library"  # NVML is not installed: no NVIDIA driver
    NO_DRIVER = "no-driver"  # the library is there, the driver does not answer
    VERSION_MISMATCH = "version-mismatch"  # driver updated under a running process: restart the app
    NO_PERMISSION = "no-permission"
    NO_GPU = "no-gpu"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuSample:
    """One GPU at one moment, in base units: bytes, shares from 0 to 1, watts."""

    uuid: str
    name: str
    memory_used: Metric
    memory_total: Metric
    utilization: Metric  # share of time in which any kernel ran; not how full the GPU was
    power: Metric
    power_limit: Metric
