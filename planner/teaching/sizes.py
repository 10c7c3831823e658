"""The largest model that a plan holds: a search over generated transformers with the planner's own estimate."""

from functools import lru_cache
from typing import Any

from planner.estimate import estimate
from planner.plan.checks import problems_of
from planner.plan.plan import Plan, resolve
from planner.plan.request import request_of

_SIZES = tuple(
    sorted({step / 10 for step in range(1, 100)} | {float(step) for step in range(10, 100)} | {*range(100, 2001, 10)})
)
"""Billions of parameters that are tried: two digits or so, as model names have them."""


def largest_billions(plan: Plan) -> float | None:
    """Billions of parameters of the largest generated transformer that fits `plan`'s machine; None: not the smallest.

    The plan's own model is left out of account; everything else of it is kept.
    """
    chosen = tuple(sorted((key, value) for key, value in plan.chosen.items() if key not in ("model", "model_config")))
    return _largest(chosen)


@lru_cache(maxsize=256)
def _largest(chosen: tuple[tuple[str, Any], ...]) -> float | None:
    low, high = -1, len(_SIZES) - 1
    while low < high:  # memory grows with the size of the model
        middle = (low + high + 1) // 2
        if _fits(chosen, _SIZES[middle]):
            low = middle
        else:
            high = middle - 1
    return _SIZES[low] if low >= 0 else None


def _fits(chosen: tuple[tuple[str, Any], ...], billions: float) -> bool:
    plan = resolve({**dict(chosen), "model": f"transformer-{billions:g}b"})
    return not problems_of(plan) and bool(estimate(request_of(plan)).fits)
