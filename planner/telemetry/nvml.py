"""NVIDIA GPUs of this machine, through NVML (the module `pynvml` of the nvidia-ml-py distribution)."""

from collections.abc import Callable
from typing import Any

import pynvml

from planner.telemetry.sample import Absent, GpuSample, Metric, Missing

_ABSENT = {
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: Absent.NO_LIBRARY,
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: Absent.NO_DRIVER,
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: Absent.VERSION_MISMATCH,
    pynvml.NVML_ERROR_NO_PERMISSION: Absent.NO_PERMISSION,
}
_MISSING = {
    pynvml.NVML_ERROR_NOT_SUPPORTED: Missing.NOT_SUPPORTED,
    pynvml.NVML_ERROR_NO_PERMISSION: Missing.NO_PERMISSION,
    pynvml.NVML_ERROR_GPU_IS_LOST: Missing.GPU_LOST,
}


def read() -> tuple[GpuSample, ...] | Absent:
    """One sample per GPU, or why there is none. Starts NVML when needed; never raises for what a driver may do."""
    try:
        pynvml.nvmlInit()  # counted by the library: cheap when already running
        count = pynvml.nvmlDeviceGetCount()
    except pynvml.NVMLError as error:
        return _ABSENT.get(error.value, Absent.FAILED)
    samples = tuple(sample for index in range(count) if (sample := _sample(index)) is not None)
    return samples or Absent.NO_GPU


def _sample(index: int) -> GpuSample | None:
    """The GPU at this index; None where not even a handle can be had (a lost GPU has no identity to show)."""
    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        uuid = _text(pynvml.nvmlDeviceGetUUID(handle))
    except pynvml.NVMLError:
        return None
    used, total = _memory(handle)
    return GpuSample(
        uuid=uuid,
        name=str(_name(handle)),
        memory_used=used,
        memory_total=total,
        utilization=_metric(lambda: pynvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100),
        power=_metric(lambda: pynvml.nvmlDeviceGetPowerUsage(handle) / 1000),
        power_limit=_metric(lambda: pynvml.nvmlDeviceGetEnforcedPowerLimit(handle) / 1000),
    )


def _memory(handle: Any) -> tuple[Metric, Metric]:
    """Used and total bytes; one call, so that both are of the same moment."""
    try:
        memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
        return float(memory.used), float(memory.total)
    except pynvml.NVMLError as error:
        reason = _MISSING.get(error.value, Missing.FAILED)
        return reason, reason


def _name(handle: Any) -> str:
    try:
        return _text(pynvml.nvmlDeviceGetName(handle))
    except pynvml.NVMLError:
        return "NVIDIA GPU"


def _metric(query: Callable[[], float]) -> Metric:
    try:
        return float(query())
    except pynvml.NVMLError as error:
        return _MISSING.get(error.value, Missing.FAILED)


def _text(value: str | bytes) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
