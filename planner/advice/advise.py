"""Evaluates every change of a plan and ranks them."""

from collections.abc import Iterable
from dataclasses import dataclass

from planner.advice.changes import CHANGES, Change
from planner.estimate import estimate, memory_of
from planner.plan.checks import problems_of
from planner.plan.plan import Plan
from planner.plan.request import request_of
from planner.result import Estimate, InputError, Memory
from planner.workload import Request

WORTHWHILE = 0.02
"""A change that gains less than this share of speed, cost or memory is noise beside the estimate's own error."""

SLOWEST_HARDWARE = 0.5
"""Hardware that is cheaper but slower than this share of the present speed is another plan, not advice on this one."""

_TRADES = ("none", "result", "hardware")
_LONGEST_RECIPE = 3


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One or several changes together, with what the planner predicts for the changed plan."""

    changes: tuple[Change, ...]
    plan: Plan
    estimate: Estimate
    speed_ratio: float | None  # work per second of the changed plan over the present one
    cost_ratio: float | None  # price of the same work, changed over present
    memory_ratio: float  # required memory, changed over present

    @property
    def id(self) -> str:
        return "+".join(change.id for change in self.changes)

    @property
    def fits(self) -> bool:
        return bool(self.estimate.fits)

    @property
    def trade(self) -> str:
        return max((change.trade for change in self.changes), key=_TRADES.index)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A changed plan whose memory is known, and whose speed is not yet: most are dropped on memory alone."""

    changes: tuple[Change, ...]
    plan: Plan
    request: Request
    memory: Memory
    memory_ratio: float

    @property
    def saves(self) -> bool:
        return self.memory_ratio < 1 - WORTHWHILE and all(change.trade != "hardware" for change in self.changes)


def advise(plan: Plan, present: Estimate) -> tuple[Suggestion, ...]:
    """The changes of a plan that are of use, best first; of each kind only its best.

    Where the plan does not fit: changes that make it fit, those that give up least first, then the fastest; where no
    single change suffices, a recipe of several; then changes that help but do not suffice, by memory saved. Where it
    fits: changes that gain speed or save money and still fit; then those that only save memory.
    """
    candidates = [one for change in _all(plan, present) if (one := _try(plan, present, (change,)))]
    useful = [_complete(one, present) for one in candidates if one.saves or one.memory.spare >= 0]
    savers = [s for s in useful if s.memory_ratio < 1 - WORTHWHILE and s.trade != "hardware"]
    if present.fits:
        first = [s for s in useful if s.fits and _gain(s) > WORTHWHILE]
    else:
        first = [s for s in useful if s.fits]
        if all(s.trade == "hardware" for s in first):
            first += _recipe(plan, present, [one for one in candidates if one.changes[0].trade != "hardware"])
    ranked = sorted(first, key=lambda s: _order(s, present)) + sorted(savers, key=_saving)
    best: dict[str, Suggestion] = {}
    for suggestion in ranked:
        best.setdefault(suggestion.id, suggestion)
    return tuple(best.values())


def _all(plan: Plan, present: Estimate) -> Iterable[Change]:
    return (change for source in CHANGES for change in source(plan, present))


def _try(plan: Plan, present: Estimate, changes: tuple[Change, ...]) -> _Candidate | None:
    """The changed plan with its memory, or None where the change makes no possible plan."""
    try:
        changed = plan.with_changes(**{field: value for change in changes for field, value in change.sets.items()})
        if problems_of(changed):
            return None
        request = request_of(changed)
        memory = memory_of(request)
    except InputError:
        return None
    return _Candidate(changes, changed, request, memory, float(memory.required / present.memory.required))


def _complete(one: _Candidate, present: Estimate) -> Suggestion:
    result = estimate(one.request, memory=one.memory)
    return Suggestion(
        one.changes,
        one.plan,
        result,
        result.relative_rate(present),
        _ratio(_unit_price(result), _unit_price(present)),
        one.memory_ratio,
    )


def _ratio(changed: float | None, present: float | None) -> float | None:
    return changed / present if changed is not None and present else None


def _unit_price(result: Estimate) -> float | None:
    """US dollars per unit of work, whichever unit the run has."""
    if result.speed is None or result.cost.price_per_hour is None:
        return None
    rate = result.speed.tokens_per_second or result.speed.samples_per_second
    return float(result.cost.price_per_hour / rate) if rate else None


def _gain(suggestion: Suggestion) -> float:
    """The larger of the speed gained and the money saved, as a share. Hardware must save money to be worth it."""
    saved = 1 - suggestion.cost_ratio if suggestion.cost_ratio is not None else 0.0
    if suggestion.trade == "hardware":
        return saved if (suggestion.speed_ratio or 0.0) >= SLOWEST_HARDWARE else 0.0
    return max((suggestion.speed_ratio or 1.0) - 1, saved)


def _saving(suggestion: Suggestion) -> float:
    """Memory kept over speed kept: what saves little and slows much comes last."""
    return suggestion.memory_ratio / max(suggestion.speed_ratio or 1.0, 1e-9)


def _order(suggestion: Suggestion, present: Estimate) -> tuple[float, ...]:
    speed = suggestion.speed_ratio or 0.0
    trade = _TRADES.index(suggestion.trade)
    if present.fits:
        return (trade == _TRADES.index("hardware"), -_gain(suggestion), trade)
    if suggestion.trade == "hardware":
        return (trade, suggestion.cost_ratio or float("inf"), -speed)
    return (trade, len(suggestion.changes), -speed)


def _recipe(plan: Plan, present: Estimate, tried: list[_Candidate]) -> list[Suggestion]:
    """Changes combined greedily, each saving most memory, until the plan fits or `_LONGEST_RECIPE` are taken.

    What saves nothing alone may count in company: a fused loss, once the optimizer's step no longer sets the peak.
    """
    current = min(tried, key=lambda one: one.memory_ratio, default=None)
    while current and current.memory.spare < 0 and len(current.changes) < _LONGEST_RECIPE:
        steps = [step for one in tried if (step := _extend(plan, present, current.changes, one.changes[0]))]
        best = min(steps, key=lambda one: (one.memory.spare < 0, one.memory_ratio), default=None)
        if best is None or best.memory_ratio > current.memory_ratio * (1 - WORTHWHILE):
            break
        current = best
    return [_complete(current, present)] if current and len(current.changes) > 1 else []


def _extend(plan: Plan, present: Estimate, chosen: tuple[Change, ...], change: Change) -> _Candidate | None:
    """`chosen` and one more change of a kind that it doesn't hold yet."""
    if any(change.sets.keys() & earlier.sets.keys() for earlier in chosen):
        return None
    return _try(plan, present, (*chosen, change))
