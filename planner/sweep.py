"""Curves: the same estimate with one number varied; most over an array, in one call."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.estimate import estimate
from planner.plan.checks import problems_of
from planner.plan.plan import Plan
from planner.plan.request import request_of
from planner.result import Estimate
from planner.workload import Request, Serving, Training

KNEE = 0.9
"""The knee is where a curve reaches this share of its best rate: beyond it, more gains little."""

_POINTS = 7


@dataclass(frozen=True, slots=True)
class Curve:
    """One quantity varied: required memory in bytes and work per second at each of its values, all GPUs together."""

    x: tuple[int, ...]
    required_bytes: tuple[float, ...]
    rates: tuple[float | None, ...]  # tokens (else samples) per second
    fits: tuple[bool, ...]
    capacity: float
    present: int  # the value that the plan has

    @property
    def largest_that_fits(self) -> int | None:
        """Memory grows with every varied quantity but the number of GPUs, so smaller values fit as well."""
        return max((value for value, fits in zip(self.x, self.fits, strict=True) if fits), default=None)

    @property
    def knee(self) -> int | None:
        """The smallest value that reaches `KNEE` of the best rate."""
        known = [(value, rate) for value, rate in zip(self.x, self.rates, strict=True) if rate is not None]
        best = max((rate for _, rate in known), default=0.0)
        return next((value for value, rate in known if best and rate >= KNEE * best), None)

    @property
    def efficiency(self) -> tuple[float | None, ...]:
        """Rate per unit of x, as a share of the first point's: scaling efficiency where x counts GPUs."""
        first = self.rates[0]
        if not first:
            return tuple(None for _ in self.x)
        per_unit = first / self.x[0]
        return tuple(
            None if rate is None else rate / value / per_unit for value, rate in zip(self.x, self.rates, strict=True)
        )


def over_batch(request: Request) -> Curve:
    """Against the micro-batch size (training) or the requests at once (serving)."""
    field = "micro_batch_size" if isinstance(request, Training) else "concurrency"
    return _curve(request, field, doublings(getattr(request, field)))


def over_length(request: Request) -> Curve:
    """Against the sequence length (training), input length (serving) or image size (image networks)."""
    if request.model.image is not None:
        size = int(request.image_size)
        return _curve(request, "image_size", sorted({size, *(32 * step for step in (4, 5, 7, 9, 12, 16))}))
    if isinstance(request, Serving):
        return _curve(dataclasses.replace(request, max_model_length=0), "input_tokens", _lengths(request))
    return _curve(request, "sequence_length", _lengths(request))


def _lengths(request: Request) -> list[int]:
    """Doublings around the present length, up to what the model's positions allow."""
    longest, degree = request.model.max_positions or 131_072, 1
    if isinstance(request, Serving):
        present, longest = int(request.input_tokens), longest - int(request.output_tokens)
    else:
        present, degree = int(request.sequence_length), 2 * int(request.layout.context_parallel)
    steps = [length for length in doublings(present, lowest=128) if length <= longest and length % degree == 0]
    return sorted({present, *steps})


def over_gpus(plan: Plan) -> Curve:
    """Against the number of GPUs: the plan as it would be with each, its other choices kept, its defaults anew.

    Weak scaling in training: each GPU keeps its micro-batch, so the global batch grows. Numbers of GPUs that the
    plan's degrees do not divide are left out.
    """
    present = plan.values["gpus"]
    found: list[tuple[int, Estimate]] = []
    for gpus in sorted({present, *(2**step for step in range(_POINTS)), 2 * present, 4 * present}):
        changed = plan.with_changes(gpus=gpus)
        if not problems_of(changed):
            found.append((gpus, estimate(request_of(changed))))
    return Curve(
        x=tuple(gpus for gpus, _ in found),
        required_bytes=tuple(float(one.memory.required) for _, one in found),
        rates=tuple(None if one.speed is None else one.speed.rate for _, one in found),
        fits=tuple(bool(one.fits) for _, one in found),
        capacity=float(found[0][1].memory.capacity),
        present=present,
    )


def doublings(present: Any, *, lowest: int = 1) -> list[int]:
    """The present value and powers of two around it, `_POINTS` or so."""
    present = int(present)
    top = max(lowest * 2 ** (_POINTS - 2), 4 * present)
    powers = [2**step for step in range(64) if lowest <= 2**step <= top]
    return sorted({present, *powers[-_POINTS:]})


def _curve(request: Request, field: str, values: Sequence[int]) -> Curve:
    array: dict[str, Any] = {field: np.asarray(values, dtype=np.float64)}
    return _read(estimate(dataclasses.replace(request, **array)), values, int(getattr(request, field)))


def _read(result: Estimate, values: Sequence[int], present: int) -> Curve:
    shape = (len(values),)
    rates: tuple[float | None, ...] = tuple(None for _ in values)
    if result.speed is not None:
        tokens = np.broadcast_to(np.asarray(result.speed.tokens_per_second, dtype=np.float64), shape)
        samples = np.broadcast_to(np.asarray(result.speed.samples_per_second, dtype=np.float64), shape)
        rates = tuple((tokens if tokens.any() else samples).tolist())
    return Curve(
        x=tuple(values),
        required_bytes=tuple(np.broadcast_to(np.asarray(result.memory.required, dtype=np.float64), shape).tolist()),
        rates=rates,
        fits=tuple(np.broadcast_to(np.asarray(result.fits), shape).tolist()),
        capacity=float(result.memory.capacity),
        present=present,
    )
