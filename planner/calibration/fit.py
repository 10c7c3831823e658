"""Fits the time model's constants to carried training runs, within physical bounds, and judges them on other sources.

Least squares on ln(predicted / measured) under a loss that large errors pull on only linearly; each constant is held to
its published value with a quarter of its bounds as standard deviation. Nothing is random: the same rows, the same fit.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median, pstdev

import numpy as np
from numpy.typing import NDArray

from planner.calibration.families import INVERSE
from planner.calibration.refit import TABLES
from planner.calibration.residuals import WEIGHT
from planner.hardware.catalogue import read_rows
from planner.throughput import constants
from planner.throughput.roofline import machine
from planner.throughput.training import training_speed
from planner.validation.case import Quantity
from planner.validation.run import table_outcomes
from planner.validation.tables import table_of
from planner.workload import Training

Vector = NDArray[np.float64]

FILE = "training_constants.csv"
TYPICAL_ERROR = 0.1
"""Errors, in ln, up to which a row pulls in full."""
EQUAL_ROWS = 20
"""Rows of a source up to which each counts in full; of n more, as the root of 20 / n: its rows err together."""
HELD_OUT_ROWS = 15
"""Fewest rows of a source that is left out in turn."""
WHOLE_STEPS, HELD_OUT_STEPS = 8, 3
"""Iterations of the fit to all rows, and of each fit without one source, which starts there."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A row of the file: what is fitted, within which bounds, and towards which published value."""

    name: str
    value: float
    low: float
    high: float
    prior: float


@dataclass(frozen=True, slots=True)
class Fit:
    """Fitted values, their spread over fits without one source each, and median errors (shares) before and after."""

    values: Mapping[str, float]
    spread: Mapping[str, float]
    rows: Mapping[str, int]  # by constant: those that it moves
    sources: Mapping[str, tuple[str, ...]]
    before: Mapping[str, float]  # by source, with the published values
    fitted: Mapping[str, float]  # by source, with the fit to all
    held_out: Mapping[str, float]  # by source, with the fit to all others

    @property
    def better(self) -> bool:
        """Whether fits predict sources that they have not seen better than the published values do, on average."""
        return sum(self.held_out.values()) < sum(self.before.values())


_READ = {
    Quantity.TOKENS_RATE: "tokens_per_second",
    Quantity.SAMPLES_RATE: "samples_per_second",
    Quantity.STEP_TIME: "seconds",
}


@dataclass(frozen=True, slots=True)
class Run:
    """A measured speed of training: the attribute of `Speed` it compares with, and its source and quality."""

    request: Training
    quantity: Quantity
    measured: float
    source: str
    quality: str

    def error(self) -> float:
        """ln(predicted / measured) of the rate."""
        speed = training_speed(self.request)
        assert speed is not None
        error = math.log(getattr(speed, _READ[self.quantity]) / self.measured)
        return error if self.quantity in INVERSE else -error


def constants_of(rows: Sequence[Mapping[str, str]]) -> list[Constant]:
    """The constants of the file's rows."""
    return [Constant(r["name"], float(r["value"]), float(r["low"]), float(r["high"]), float(r["prior"])) for r in rows]


@contextmanager
def using(values: Mapping[str, float]) -> Iterator[None]:
    """Predict with these constants for the time of a `with`."""
    kept = dict(constants.FITTED)
    constants.FITTED.update(values)
    machine.cache_clear()
    try:
        yield
    finally:
        constants.FITTED.update(kept)
        machine.cache_clear()


def training_runs() -> list[Run]:
    """Carried training speeds of quality A and B."""
    found = []
    for name in TABLES:
        for outcome in table_outcomes(table_of(read_rows(name))):
            for each in outcome.comparisons:
                case = each.case
                if isinstance(case.request, Training) and each.quantity in _READ and case.quality in WEIGHT:
                    found.append(Run(case.request, each.quantity, each.measured, case.source, case.quality))
    return found


def errors(runs: Sequence[Run], values: Mapping[str, float]) -> Vector:
    """ln(predicted / measured) of rates, as every run tells it."""
    with using(values):
        return np.array([run.error() for run in runs])


def fit(known: Sequence[Constant], runs: Sequence[Run]) -> Fit:
    """The constants' fit to all runs, and what fits without each source say about it."""
    problem = _Problem(known, runs)
    origins = [run.source for run in runs]
    start = np.array([each.prior for each in known])
    best = problem.solve(np.ones(len(runs)), start, WHOLE_STEPS)
    before, after = problem.errors(start), problem.errors(best)
    held, others = {}, []
    for source, count in sorted(Counter(origins).items()):
        if count >= HELD_OUT_ROWS:
            out = np.array([origin == source for origin in origins])
            others.append(problem.solve(1.0 - out, best, HELD_OUT_STEPS))
            held[source] = _middle(problem.errors(others[-1])[out])
    moved = {each.name: problem.moved(best, place) for place, each in enumerate(known)}
    return Fit(
        values=problem.named(best),
        spread={each.name: pstdev(float(other[place]) for other in others) for place, each in enumerate(known)},
        rows={name: int(rows.sum()) for name, rows in moved.items()},
        sources={name: _movers(origins, rows.tolist()) for name, rows in moved.items()},
        before=_by_source(before, origins, held),
        fitted=_by_source(after, origins, held),
        held_out=held,
    )


def _movers(origins: Sequence[str], moved: Sequence[bool]) -> tuple[str, ...]:
    return tuple(sorted({origin for origin, does in zip(origins, moved, strict=True) if does}))


def _middle(found: Vector) -> float:
    return median(abs(math.exp(error) - 1) for error in found)


def _by_source(found: Vector, origins: Sequence[str], sources: Mapping[str, float]) -> dict[str, float]:
    return {s: _middle(np.array([e for e, o in zip(found, origins, strict=True) if o == s])) for s in sources}


class _Problem:
    """The least-squares problem, in shares of each constant's bounds."""

    def __init__(self, known: Sequence[Constant], runs: Sequence[Run]) -> None:
        self.known, self.runs = known, runs
        self.low = np.array([each.low for each in known])
        self.width = np.array([each.high - each.low for each in known])
        self.prior = np.array([each.prior for each in known])
        counts = Counter(run.source for run in runs)
        weights = [WEIGHT[r.quality] / max(1.0, counts[r.source] / EQUAL_ROWS) for r in runs]
        self.scale = np.sqrt(weights) / TYPICAL_ERROR

    def named(self, values: Vector) -> dict[str, float]:
        return {each.name: float(f"{value:.4g}") for each, value in zip(self.known, values, strict=True)}

    def errors(self, values: Vector) -> Vector:
        names = [each.name for each in self.known]
        return errors(self.runs, dict(zip(names, map(float, values), strict=True)))

    def moved(self, values: Vector, place: int) -> NDArray[np.bool_]:
        """Which runs one constant moves by more than 1 % over a tenth of its bounds."""
        other = values.copy()
        step = 0.1 * self.width[place]
        other[place] += -step if values[place] - self.low[place] > step else step
        return np.abs(self.errors(other) - self.errors(values)) > 0.01

    def solve(self, keep: Vector, start: Vector, steps: int) -> Vector:
        from scipy.optimize import least_squares  # a development requirement: only a fit needs it

        def residuals(shares: Vector) -> Vector:
            values = self.low + shares * self.width
            return np.concatenate([self.errors(values) * self.scale * keep, (values - self.prior) / (self.width / 4)])

        shares = np.clip((start - self.low) / self.width, 0.02, 0.98)
        found = least_squares(residuals, shares, bounds=(0, 1), loss="soft_l1", diff_step=0.03, max_nfev=steps)
        return np.asarray(self.low + found.x * self.width)
