"""What is asked of NVML, as a table: which call gives which metrics, in which unit, how often.

Units and traps: the NVML header (nvml.h, CUDA 13). A query returns one value for each of its metrics, already in the
units of `METRICS`; whatever it raises is turned into the reason that these metrics are missing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from planner.telemetry.sample import Missing
from planner.units import KIB, MEGA, MIB

Values = tuple[float | Missing, ...]

_ALL_LINKS = 0xFFFFFFFF  # scope of a field value: all NVLinks together


@dataclass(frozen=True, slots=True)
class Query:
    """One call. `slow` ones run every few seconds; `mig` ones also work on an instance of a partitioned GPU."""

    metrics: tuple[str, ...]
    ask: Callable[[Any, Any], Values]
    slow: bool = False
    mig: bool = False


def _memory(nvml: Any, handle: Any) -> Values:
    """Version 2 of the call tells reserved memory apart; version 1, for drivers before 510, counts it as used."""
    try:
        memory = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
        return float(memory.used), float(memory.total), float(memory.reserved)
    except (nvml.NVMLError_FunctionNotFound, nvml.NVMLError_NotSupported, nvml.NVMLError_InvalidArgument):
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        return float(memory.used), float(memory.total), Missing.DRIVER_TOO_OLD


def _utilization(nvml: Any, handle: Any) -> Values:
    rates = nvml.nvmlDeviceGetUtilizationRates(handle)
    return rates.gpu / 100, rates.memory / 100


def _clocks(nvml: Any, handle: Any) -> Values:
    sm = nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)
    memory = nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM)
    return float(sm * MEGA), float(memory * MEGA)


def _event_reasons(nvml: Any, handle: Any) -> Values:
    newest = getattr(nvml, "nvmlDeviceGetCurrentClocksEventReasons", None)
    try:
        if newest is not None:
            return (float(newest(handle)),)
    except nvml.NVMLError_FunctionNotFound:
        pass  # a driver that knows the function by its older name only
    return (float(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),)


def _link(nvml: Any, handle: Any) -> Values:
    return (
        float(nvml.nvmlDeviceGetCurrPcieLinkGeneration(handle)),
        float(nvml.nvmlDeviceGetMaxPcieLinkGeneration(handle)),
        float(nvml.nvmlDeviceGetCurrPcieLinkWidth(handle)),
        float(nvml.nvmlDeviceGetMaxPcieLinkWidth(handle)),
    )


def _remapped(nvml: Any, handle: Any) -> Values:
    _, _, pending, failed = nvml.nvmlDeviceGetRemappedRows(handle)
    return float(bool(pending)), float(bool(failed))


def _capability(nvml: Any, handle: Any) -> Values:
    major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    return (major + minor / 10,)


def field_value(nvml: Any, handle: Any, field: Any) -> float:
    """One field value of a device; raises the error that the field carries."""
    found = nvml.nvmlDeviceGetFieldValues(handle, [field])[0]
    if found.nvmlReturn != nvml.NVML_SUCCESS:
        raise nvml.NVMLError(found.nvmlReturn)
    members = {0: "dVal", 1: "uiVal", 2: "ulVal", 3: "ullVal", 4: "sllVal", 5: "siVal"}
    return float(getattr(found.value, members.get(found.valueType, "ullVal")))


def _memory_temperature(nvml: Any, handle: Any) -> Values:
    return (field_value(nvml, handle, nvml.NVML_FI_DEV_MEMORY_TEMP),)


def _recovery(nvml: Any, handle: Any) -> Values:
    return (field_value(nvml, handle, nvml.NVML_FI_DEV_GET_GPU_RECOVERY_ACTION),)


def nvlink_counters(nvml: Any, handle: Any) -> tuple[float, float]:
    """Bytes sent and received over all NVLinks since some moment in the past (two readings give a rate)."""
    sent = field_value(nvml, handle, (nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, _ALL_LINKS))
    received = field_value(nvml, handle, (nvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, _ALL_LINKS))
    return sent * KIB, received * KIB


def _one(function: str, scale: float = 1.0, *arguments: Any) -> Callable[[Any, Any], Values]:
    """A call with one number as its answer. Arguments that are names are constants of the binding."""

    def ask(nvml: Any, handle: Any) -> Values:
        given = [getattr(nvml, one) if isinstance(one, str) else one for one in arguments]
        answer = getattr(nvml, function)(handle, *given)
        return (float(answer[0] if isinstance(answer, list | tuple) else answer) * scale,)

    return ask


QUERIES: tuple[Query, ...] = (
    Query(("memory_used", "memory_total", "memory_reserved"), _memory, mig=True),
    Query(("utilization", "memory_utilization"), _utilization),
    Query(("temperature",), _one("nvmlDeviceGetTemperature", 1.0, "NVML_TEMPERATURE_GPU")),
    Query(("power",), _one("nvmlDeviceGetPowerUsage", 1e-3)),
    Query(("energy",), _one("nvmlDeviceGetTotalEnergyConsumption", 1e-3)),
    Query(("sm_clock", "memory_clock"), _clocks),
    Query(("event_reasons",), _event_reasons),
    Query(("performance_state",), _one("nvmlDeviceGetPerformanceState")),
    Query(("power_limit",), _one("nvmlDeviceGetEnforcedPowerLimit", 1e-3), slow=True),
    Query(("power_limit_default",), _one("nvmlDeviceGetPowerManagementDefaultLimit", 1e-3), slow=True),
    Query(("sm_clock_max",), _one("nvmlDeviceGetMaxClockInfo", MEGA, "NVML_CLOCK_SM"), slow=True),
    Query(
        ("temperature_slowdown",),
        _one("nvmlDeviceGetTemperatureThreshold", 1.0, "NVML_TEMPERATURE_THRESHOLD_SLOWDOWN"),
        slow=True,
    ),
    Query(("memory_temperature",), _memory_temperature, slow=True),
    Query(("fan",), _one("nvmlDeviceGetFanSpeed", 1e-2), slow=True),
    Query(("encoder",), _one("nvmlDeviceGetEncoderUtilization", 1e-2), slow=True),
    Query(("decoder",), _one("nvmlDeviceGetDecoderUtilization", 1e-2), slow=True),
    Query(("pcie_generation", "pcie_generation_max", "pcie_width", "pcie_width_max"), _link, slow=True),
    Query(("pcie_replays",), _one("nvmlDeviceGetPcieReplayCounter"), slow=True),
    Query(
        ("ecc_uncorrected",),
        _one("nvmlDeviceGetTotalEccErrors", 1.0, "NVML_MEMORY_ERROR_TYPE_UNCORRECTED", "NVML_VOLATILE_ECC"),
        slow=True,
    ),
    Query(("remap_pending", "remap_failed"), _remapped, slow=True),
    Query(("recovery_action",), _recovery, slow=True),
    Query(("compute_capability",), _capability, slow=True),
)

PCIE_RATE = Query(  # each direction blocks for 20 ms: asked only where GPM does not tell
    ("pcie_transmit", "pcie_receive"),
    lambda nvml, handle: (
        nvml.nvmlDeviceGetPcieThroughput(handle, nvml.NVML_PCIE_UTIL_TX_BYTES) * 1e3,
        nvml.nvmlDeviceGetPcieThroughput(handle, nvml.NVML_PCIE_UTIL_RX_BYTES) * 1e3,
    ),
    slow=True,
)

GPM_METRICS: dict[str, tuple[str, float]] = {
    "engine_active": ("NVML_GPM_METRIC_GRAPHICS_UTIL", 1e-2),
    "sm_active": ("NVML_GPM_METRIC_SM_UTIL", 1e-2),
    "sm_occupancy": ("NVML_GPM_METRIC_SM_OCCUPANCY", 1e-2),
    "tensor_active": ("NVML_GPM_METRIC_ANY_TENSOR_UTIL", 1e-2),
    "dram_active": ("NVML_GPM_METRIC_DRAM_BW_UTIL", 1e-2),
    "pcie_transmit": ("NVML_GPM_METRIC_PCIE_TX_PER_SEC", MIB),
    "pcie_receive": ("NVML_GPM_METRIC_PCIE_RX_PER_SEC", MIB),
    "nvlink_transmit": ("NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC", MIB),
    "nvlink_receive": ("NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC", MIB),
}
"""Counters of Hopper and newer, over the time between two samples: metric to constant and scale."""
