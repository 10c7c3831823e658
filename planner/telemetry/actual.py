"""A plan against what was measured: the same quantities side by side, and how far apart they are."""

from dataclasses import dataclass

import numpy as np

from planner.calibration.intervals import Interval, Intervals
from planner.result import Status
from planner.telemetry.diagnosis.view import busy_part
from planner.telemetry.sample import Kind, Metric, Missing
from planner.telemetry.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One quantity: `device` memory in bytes, `seconds` a step, `tokens_per_second` and `samples_per_second` of all
    GPUs, `power` in watts a GPU, `utilization` as a share."""

    id: str
    measured: Metric
    predicted: Interval | None

    @property
    def ratio(self) -> float | None:
        """Predicted over measured; None where either is missing."""
        if self.predicted is None or not isinstance(self.measured, float) or self.measured <= 0:
            return None
        return self.predicted.value / self.measured

    @property
    def inside(self) -> bool | None:
        """Whether the measurement lies in the prediction's interval."""
        if self.predicted is None or not isinstance(self.measured, float):
            return None
        return self.predicted.low <= self.measured <= self.predicted.high


def against(
    trace: Trace,
    found: Intervals,
    *,
    watts: float | None = None,
    process_memory: float | None = None,
    step: float | None = None,
) -> tuple[Figure, ...]:
    """Measured beside predicted, of the fullest GPU, over the busy part of the trace.

    `watts` is the plan's power of one GPU. `process_memory` takes the place of the whole card's memory (other programs
    may hold some); `step` is the time of a step in seconds, which telemetry cannot tell.
    """
    part = trace.between(*busy_part(trace))
    memory: Metric = process_memory if process_memory is not None else _peak(part, "memory_used")
    return (
        Figure(id="device", measured=memory, predicted=found.device),
        Figure(id="seconds", measured=Missing.NOT_IN_SOURCE if step is None else step, predicted=found.seconds),
        *_throughput(found, step),
        Figure(id="power", measured=_typical(part, "power"), predicted=_point(watts)),
        Figure(id="utilization", measured=_typical(part, "utilization"), predicted=None),
    )


def _throughput(found: Intervals, step: float | None) -> tuple[Figure, ...]:
    """The work of a step (the plan's own rate times its step) over the measured time; of training plans only."""
    figures = []
    for name in ("tokens_per_second", "samples_per_second"):
        rate: Interval | None = getattr(found, name)
        if rate is not None and found.seconds is not None:
            work = rate.value * found.seconds.value
            measured = Missing.NOT_IN_SOURCE if step is None else work / step
            figures.append(Figure(id=name, measured=measured, predicted=rate))
    return tuple(figures)


def _point(value: float | None) -> Interval | None:
    """A prediction without a measured interval."""
    if value is None:
        return None
    return Interval(value=value, low=value, high=value, rows=0, sources=0, status=Status.EXTRAPOLATED)


def _reason(trace: Trace, metric: str) -> Missing:
    cards = [device for device in trace.gpus if device.kind is Kind.GPU]
    return trace.reason(cards[0].uuid, metric) if cards else Missing.NOT_IN_SOURCE


def _peak(trace: Trace, metric: str) -> Metric:
    """The highest value of any GPU."""
    present = [trace.values(device.uuid, metric) for device in trace.gpus if trace.has(device.uuid, metric)]
    if not present:
        return _reason(trace, metric)
    return max(float(np.nanmax(column)) for column in present)


def _typical(trace: Trace, metric: str) -> Metric:
    """The mean over GPUs of their medians."""
    present = [trace.values(device.uuid, metric) for device in trace.gpus if trace.has(device.uuid, metric)]
    if not present:
        return _reason(trace, metric)
    return float(np.mean([np.nanmedian(column) for column in present]))
