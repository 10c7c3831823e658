"""90 % intervals of an estimate's figures, and the probability that a plan fits, from errors on measured runs."""

import math
from dataclasses import dataclass
from statistics import NormalDist

from planner.calibration.families import Family, kinds
from planner.calibration.residuals import Band, architectures, band
from planner.result import Estimate, Status
from planner.workload import Request, Serving

WIDER = {Status.MEASURED: 1.0, Status.INTERPOLATED: 1.15, Status.EXTRAPOLATED: 1.6}
"""How much wider a band is for a card that no measured run used: of a measured generation, and of none."""

FEW_SOURCES = 0.6
"""How much wider a band is for every source's share in it: 1 + 0.6 / sources. Each has conventions of its own, and few
say little about the next; chosen so that nine of ten measurements of sources left out are covered."""

NARROWEST = 0.01
"""No figure is promised more closely than this: memory is handed out in blocks, clocks drift."""

WITHOUT_MEASUREMENTS = 0.5
"""Half-width, in ln, of a band where nothing of the kind was ever measured."""

SERVING_REQUIRED = 0.03
"""Least spread (one sigma, in ln) of what a server requires: engines' versions differ by a few percent of a card."""

_SIGMAS = NormalDist().inv_cdf(0.95) - NormalDist().inv_cdf(0.05)


@dataclass(frozen=True, slots=True)
class Interval:
    """Where nine of ten measurements of a figure lie, and what that was learnt from."""

    value: float
    low: float
    high: float
    rows: int  # measured comparisons behind it; 0: none, a guess
    sources: int
    status: Status

    @property
    def share(self) -> float:
        """The wider side, over the value: 0.09 reads "within 9 %"."""
        return max(self.high / self.value - 1, 1 - self.low / self.value) if self.value else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Intervals of one plan's figures; None where the figure itself is absent. Bytes, seconds, rates."""

    allocated: Interval
    reserved: Interval
    device: Interval
    required: Interval
    seconds: Interval | None  # a training step
    samples_per_second: Interval | None
    tokens_per_second: Interval | None
    time_to_first_token: Interval | None
    time_per_output_token: Interval | None
    prefill_tokens_per_second: Interval | None
    fits_probability: float  # 0 to 1


def interval(estimate: Estimate, request: Request) -> Intervals:
    """Intervals of an estimate's figures, and the probability that it fits. For one plan, not for arrays."""
    memory, speed = estimate.memory, estimate.speed
    serving = isinstance(request, Serving)
    # What the driver shows at a peak holds blocks that would be given back: what is required errs as what is allocated.
    required = around(float(memory.required), Family.WEIGHTS if serving else Family.ALLOCATED, request)
    rate = Family.OUTPUT if serving and request.model.image is None else Family.STEP

    def timed(name: str, family: Family, inverse: bool = False) -> Interval | None:
        value = getattr(speed, name, None) if speed is not None else None
        return around(float(value), family, request, inverse=inverse) if value else None

    return Intervals(
        allocated=around(float(memory.allocated), Family.WEIGHTS if serving else Family.ALLOCATED, request),
        reserved=around(float(memory.reserved), Family.WEIGHTS if serving else Family.RESERVED, request),
        device=around(float(memory.device), Family.WEIGHTS if serving else Family.DEVICE, request),
        required=required,
        seconds=None if serving else timed("seconds", rate),
        samples_per_second=timed("samples_per_second", rate, inverse=True),
        tokens_per_second=timed("tokens_per_second", rate, inverse=True),
        time_to_first_token=timed("time_to_first_token", Family.FIRST_TOKEN),
        time_per_output_token=timed("time_per_output_token", Family.DECODE),
        prefill_tokens_per_second=timed("prefill_tokens_per_second", Family.PREFILL, inverse=True),
        fits_probability=fit_probability(required, float(memory.capacity), serving),
    )


def around(
    value: float, family: Family, request: Request, *, inverse: bool = False, source: str = "", model: str = ""
) -> Interval:
    """The interval of one figure; `inverse` for rates. A known `source` and `model` are left out of the evidence."""
    found = band(family, kinds(request), source, model)
    status = status_of(found, request)
    if found is None:
        low, high = -WITHOUT_MEASUREMENTS, WITHOUT_MEASUREMENTS
    else:
        middle, wider = (found.low + found.high) / 2, WIDER[status] * (1 + FEW_SOURCES / found.sources)
        low, high = middle + (found.low - middle) * wider, middle + (found.high - middle) * wider
    if inverse:
        low, high = -high, -low
    low, high = min(low, -NARROWEST), max(high, NARROWEST)
    rows, sources = (found.rows, found.sources) if found else (0, 0)
    return Interval(value, value * math.exp(low), value * math.exp(high), rows, sources, status)


def status_of(found: Band | None, request: Request) -> Status:
    """Measured: runs on this card are in the band; interpolated: on its generation; extrapolated: on neither."""
    if found is None:
        return Status.EXTRAPOLATED
    gpu = request.cluster.gpu
    if gpu.id in found.gpus:
        return Status.MEASURED
    known = architectures()
    return Status.INTERPOLATED if gpu.architecture in {known.get(id) for id in found.gpus} else Status.EXTRAPOLATED


def fit_probability(required: Interval, capacity: float, serving: bool = False) -> float:
    """The probability that what is really required is within the card's memory: log-normal, from the interval."""
    if required.value <= 0:
        return 1.0
    low, high = math.log(required.low), math.log(required.high)
    sigma = max((high - low) / _SIGMAS, SERVING_REQUIRED if serving else NARROWEST)
    return NormalDist((low + high) / 2, sigma).cdf(math.log(capacity))
