"""The limits of the rules, each named, with its unit and where it comes from. All of them may be set otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass

_KINETO = "PyTorch Profiler's TensorBoard plug-in, default of its advice"
_SAGEMAKER = "Amazon SageMaker Debugger, default of its profiler rule"
_KEMPNER = "KempnerPulse, classification after NVIDIA's DCGM guidance"
_DCGM = "NVIDIA DCGM guidance on SM activity"
_EXPORTERS = "all-smi and gpu-pulse, default of their alerts"
_TRACES = "two recorded runs of one node with 8 H100: 0.7 % and 11 % when healthy, 54 to 61 % of the power when not"
_OWN = "our choice"


@dataclass(frozen=True, slots=True)
class Threshold:
    """One limit: shares from 0 to 1, seconds, bytes per second."""

    value: float
    unit: str
    source: str


THRESHOLDS: Mapping[str, Threshold] = {
    "window": Threshold(60, "s", _OWN),
    "minimum_samples": Threshold(30, "count", _OWN),
    "gap": Threshold(10, "s", "all-smi: longer gaps are not bridged"),
    "busy": Threshold(0.10, "share", _OWN),
    "thermal_share": Threshold(0.10, "share", _OWN),
    "brake_seconds": Threshold(5, "s", _OWN),
    "capped_share": Threshold(0.50, "share", _OWN),
    "slow_clock_busy": Threshold(0.90, "share", _OWN),
    "slow_clock": Threshold(0.50, "share", _OWN),
    "link_busy": Threshold(0.50, "share", _OWN),
    "link_share": Threshold(0.90, "share", _OWN),
    "unused_seconds": Threshold(300, "s", "jobstats: shorter runs are not judged"),
    "unused_sibling": Threshold(0.50, "share", _OWN),
    "imbalance_busy": Threshold(0.15, "share", _TRACES),
    "imbalance_power": Threshold(0.20, "share", _TRACES),
    "sawtooth_high": Threshold(0.70, "share", _SAGEMAKER),
    "sawtooth_low": Threshold(0.10, "share", _SAGEMAKER),
    "host_gpu": Threshold(0.50, "share", _KINETO),
    "host_core": Threshold(0.95, "share", _OWN),
    "host_all": Threshold(0.90, "share", _SAGEMAKER),
    "io_wait": Threshold(0.20, "share", _OWN),
    "copy_link": Threshold(0.60, "share", _OWN),
    "copy_rate": Threshold(1e9, "B/s", _KEMPNER),
    "copy_sm": Threshold(0.30, "share", _KEMPNER),
    "launch_busy": Threshold(0.80, "share", _OWN),
    "launch_sm": Threshold(0.25, "share", _KEMPNER),
    "launch_free": Threshold(0.30, "share", _OWN),
    "low_power": Threshold(0.65, "share", _TRACES),
    "communication_busy": Threshold(0.90, "share", _OWN),
    "communication_link": Threshold(0.40, "share", _OWN),
    "communication_share": Threshold(0.10, "share", _KINETO),
    "hang_steps": Threshold(10, "count", _OWN),
    "hang_busy": Threshold(0.99, "share", _OWN),
    "bandwidth_dram": Threshold(0.60, "share", _KEMPNER),
    "bandwidth_tensor": Threshold(0.15, "share", _OWN),
    "tensor_sm": Threshold(0.60, "share", _KEMPNER),
    "tensor_low": Threshold(0.05, "share", _KINETO),
    "tight_memory": Threshold(0.95, "share", _EXPORTERS),
    "tight_seconds": Threshold(20, "s", _EXPORTERS),
    "held_busy": Threshold(0.10, "share", _EXPORTERS),
    "held_memory": Threshold(0.50, "share", _EXPORTERS),
    "held_seconds": Threshold(900, "s", _EXPORTERS),
    "room_memory": Threshold(0.50, "share", _OWN),
    "healthy_sm": Threshold(0.80, "share", _DCGM),
    "healthy_power": Threshold(0.80, "share", _TRACES),
}


def limits(changed: Mapping[str, float] | None = None) -> dict[str, float]:
    """The values of all thresholds, some of them set otherwise; unknown names are left out."""
    values = {name: one.value for name, one in THRESHOLDS.items()}
    return values | {name: value for name, value in (changed or {}).items() if name in values}
