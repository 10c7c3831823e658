"""What rules look at: a window of a trace without gaps, and figures of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.telemetry.sample import Device, Kind, Metric
from planner.telemetry.trace import Array, Trace

LANE_BYTES_PER_SECOND = {1: 0.25e9, 2: 0.5e9, 3: 0.985e9, 4: 1.969e9, 5: 3.938e9, 6: 7.563e9}
"""PCIe, each direction, by generation (PCI-SIG, after encoding)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What the user tells of the training loop: typical seconds a step, and when the last one ended."""

    seconds: float
    last: float | None = None  # seconds since 1970
    communication: float | None = None  # share of the step, from a profiler


class View:
    """One trace, the part of it that is judged, and the limits."""

    def __init__(
        self, trace: Trace, limits: dict[str, float], steps: Steps | None = None, end: float | None = None
    ) -> None:
        self.whole, self.limits, self.steps = trace, limits, steps
        interval = float(np.median(np.diff(trace.times))) if len(trace.times) > 1 else 0.0
        self.gap = max(limits["gap"], 3 * interval)  # seconds without a reading that end what was before
        window = max(limits["window"], limits["minimum_samples"] * interval)
        judged = trace if end is None or not len(trace.times) else trace.between(float(trace.times[0]), end)
        self.part = _window(judged, window, self.gap)
        self.gpus = tuple(device for device in trace.devices if device.kind is not Kind.HOST)
        self.cards = tuple(device for device in self.gpus if device.kind is Kind.GPU)
        self.hosts = tuple(device for device in trace.devices if device.kind is Kind.HOST)

    @property
    def seconds(self) -> float:
        """Length of the window."""
        times = self.part.times
        return float(times[-1] - times[0]) if len(times) > 1 else 0.0

    @property
    def enough(self) -> bool:
        """Whether the window holds enough readings to judge."""
        return len(self.part.times) >= self.limits["minimum_samples"]

    def values(self, device: Device, metric: str) -> Array:
        """A metric in the window, missing values left out."""
        column = self.part.values(device.uuid, metric)
        return column[~np.isnan(column)]

    def median(self, device: Device, metric: str) -> float:
        """The median in the window; NaN where the metric is missing."""
        found = self.values(device, metric)
        return float(np.median(found)) if len(found) else float("nan")

    def last(self, device: Device, metric: str) -> Metric:
        """The newest value of the whole trace."""
        return self.whole.latest(device.uuid, metric)

    def missing(self, device: Device, *metrics: str) -> tuple[str, ...]:
        """Those of the metrics that the window does not have."""
        return tuple(one for one in metrics if not len(self.values(device, one)))

    def is_busy(self, device: Device) -> bool:
        """Whether the device does anything in the window, as far as is known."""
        busy = self.median(device, "utilization")
        return bool(busy >= self.limits["busy"]) if np.isfinite(busy) else True

    def longest(self, condition: Array) -> float:
        """Longest time in the whole trace for which the condition held without a gap, in seconds."""
        return longest_run(self.whole.times, condition, self.gap)

    def power_ratio(self, device: Device) -> float:
        """Median power over the enforced limit; NaN where either is missing."""
        return self.median(device, "power") / self.median(device, "power_limit")

    def used_share(self, device: Device) -> Array:
        """Memory in use over what programs can have (total less reserved), at all times of the trace."""
        total = self.whole.values(device.uuid, "memory_total")
        reserved = np.nan_to_num(self.whole.values(device.uuid, "memory_reserved"))
        return self.whole.values(device.uuid, "memory_used") / (total - reserved)

    def pcie_share(self, device: Device) -> float:
        """The busier direction of the PCIe link over what the link can carry; NaN where unknown."""
        generation, width = self.median(device, "pcie_generation_max"), self.median(device, "pcie_width_max")
        lane = LANE_BYTES_PER_SECOND.get(int(generation)) if np.isfinite(generation) else None
        rates = [self.median(device, name) for name in ("pcie_transmit", "pcie_receive")]
        if lane is None or not np.isfinite(width) or not np.isfinite(rates).any():
            return float("nan")
        return float(np.nanmax(rates) / (lane * width))


def longest_run(times: Array, condition: Array, gap: float) -> float:
    """Longest time for which a condition held from reading to reading, none further apart than `gap` seconds."""
    held = np.flatnonzero(condition)
    if not len(held):
        return 0.0
    begins = np.flatnonzero((np.diff(held) > 1) | (np.diff(times[held]) > gap)) + 1
    first = held[np.concatenate(([0], begins))]
    last = held[np.concatenate((begins - 1, [len(held) - 1]))]
    return float((times[last] - times[first]).max())


def busy_part(trace: Trace, busy: float = 0.10) -> tuple[float, float]:
    """From the first to the last moment at which any GPU was busy; everything where none was, or none can tell."""
    if not len(trace.times):
        return 0.0, 0.0
    columns: list[Any] = [trace.values(device.uuid, "utilization") for device in trace.gpus]
    active = np.flatnonzero((np.array(columns) >= busy).any(axis=0)) if columns else np.zeros(0, int)
    if not len(active):
        return float(trace.times[0]), float(trace.times[-1])
    return float(trace.times[active[0]]), float(trace.times[active[-1]])


def _window(trace: Trace, seconds: float, gap: float) -> Trace:
    """The last `seconds` of a trace, from after the last gap on."""
    if not len(trace.times):
        return trace
    start = float(trace.times[-1] - seconds)
    jumps = np.flatnonzero(np.diff(trace.times) > gap)
    if len(jumps):
        start = max(start, float(trace.times[jumps[-1] + 1]))
    return trace.between(start, float(trace.times[-1]))
