"""Every GPU in every number, from every offer, for a plan's work: what fits, what is best, what would be needed.

The work is the plan's: training keeps its global batch (by accumulation), serving its requests at once.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from planner.plan.checks import trains_in
from planner.plan.plan import Plan
from planner.plan.request import request_of
from planner.recommend.candidates import PARALLEL, batches, counts
from planner.recommend.options import Option, Work, options, work_of
from planner.recommend.wishes import ANY, Wishes
from planner.units import HOUR

FARTHEST = 16_384
"""Most GPUs that are tried where no smaller number holds the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """`options` meet every wish, cheapest first; `frontier` are those that nothing beats in both price and time."""

    work: Work
    options: tuple[Option, ...]
    frontier: tuple[Option, ...]
    smallest: tuple[Option, ...]  # of every GPU that can hold the model the smallest number, fewest first
    closest: Option | None  # where nothing fits: the option that is least short of memory
    considered: int  # pairs of GPU and number
    refused: Mapping[str, int]  # why the others are no options, and how many: memory, precision, price, ...
    relaxed: tuple["Relaxation", ...]  # where no option is left: what each limit would have to be


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One limit that alone, moved to `value`, leaves an option: that option. In dollars, seconds or GPUs."""

    limit: str  # budget | deadline | source | most_gpus
    value: float | None
    option: Option


def recommend(plan: Plan, wishes: Wishes) -> Recommendation:
    """All options for a plan's work. The plan must be possible but for its number of GPUs and its degrees."""
    work = work_of(request_of(plan))
    present, most = plan.values["gpus"], wishes.values["most_gpus"]
    found, refused = _all(plan, counts(most, present), work, wishes)
    fitting = [one for one in found if one.fits]
    beyond: list[Option] = []
    if not fitting and most < FARTHEST:
        beyond = _beyond(plan, [n for n in counts(FARTHEST, present) if n > most], work, wishes)
    kept, reasons = _wanted(fitting, wishes)
    ranked = tuple(sorted(kept, key=_by_price))
    smallest = _smallest([one for one in (*found, *beyond) if one.fits])
    return Recommendation(
        work=work,
        options=ranked,
        frontier=frontier(ranked),
        smallest=smallest,
        closest=None if smallest else max((*found, *beyond), key=lambda one: one.spare_bytes, default=None),
        considered=len(found) + sum(refused.values()),
        refused=refused + Counter({"memory": len(found) - len(fitting)}) + reasons,
        relaxed=() if ranked else _relaxations(fitting, smallest, wishes),
    )


def _all(plan: Plan, numbers: Sequence[int], work: Work, wishes: Wishes) -> tuple[list[Option], Counter[str]]:
    """The options of every wanted GPU, and how many pairs were refused before anything was computed."""
    some = batches(plan, numbers)
    refused: Counter[str] = Counter()
    found: list[Option] = []
    if not some:
        return found, Counter({"layout": len(wishes.gpus) * len(numbers)})
    training = plan.values["task"] != "serve"
    for gpu in wishes.gpus:
        if training and not trains_in(gpu, plan.values["precision"]):
            refused["precision"] += len(numbers)
            continue
        found += options(gpu, some, work, wishes)
    return found, refused


def _beyond(plan: Plan, numbers: Sequence[int], work: Work, wishes: Wishes) -> list[Option]:
    """As `_all`, free of the degrees that the user chose: they were meant for fewer GPUs."""
    freed = {field: None for field in PARALLEL if field in plan.chosen}
    found, _ = _all(plan.with_changes(**freed), numbers, work, wishes)
    return [replace(one, sets={**freed, **one.sets}) for one in found]


def _wanted(fitting: Sequence[Option], wishes: Wishes) -> tuple[list[Option], Counter[str]]:
    """The options within every limit, and what the others miss first."""
    reasons: Counter[str] = Counter()
    kept = []
    for one in fitting:
        reason = _misses(one, wishes)
        if reason:
            reasons[reason] += 1
        else:
            kept.append(one)
    return kept, reasons


def _misses(one: Option, wishes: Wishes) -> str:
    """The first limit that an option misses; "" where it meets all. What is not known cannot meet a limit."""
    values = wishes.values
    if values["source"] != ANY and one.charge is None:
        return "source"
    if one.seconds is None:
        return "speed"
    if values["deadline_hours"] is not None and one.seconds > values["deadline_hours"] * HOUR:
        return "deadline"
    if values["budget"] is not None and (one.price is None or one.price > values["budget"]):
        return "budget"
    return ""


def _by_price(one: Option) -> tuple[bool, float, float]:
    """Cheapest first, then fastest; what has no price comes last."""
    return (one.price is None, one.price or 0.0, one.seconds or 0.0)


def frontier(ranked: Sequence[Option]) -> tuple[Option, ...]:
    """Of options sorted by price those that are faster than every cheaper one: price against time, Pareto-optimal."""
    best = float("inf")
    kept = []
    for one in ranked:
        if one.price is not None and one.seconds is not None and one.seconds < best:
            best = one.seconds
            kept.append(one)
    return tuple(kept)


def _smallest(fitting: Sequence[Option]) -> tuple[Option, ...]:
    """Of every GPU the smallest number that fits; fewest first, then cheapest by the hour, then least memory."""
    found: dict[str, Option] = {}
    for one in sorted(fitting, key=lambda one: one.gpus):
        found.setdefault(one.gpu.id, one)
    return tuple(
        sorted(
            found.values(),
            key=lambda one: (one.gpus, one.charge.per_hour if one.charge else float("inf"), one.gpu.memory_bytes),
        )
    )


def _relaxations(fitting: Sequence[Option], smallest: Sequence[Option], wishes: Wishes) -> tuple[Relaxation, ...]:
    """For each limit that is set, the smallest move of it alone that leaves an option."""
    values = wishes.values
    found = []
    limits: tuple[tuple[str, str, Callable[[Option], Any]], ...] = (
        ("budget", "budget", lambda one: one.price),
        ("deadline", "deadline_hours", lambda one: one.seconds),
        ("source", "source", lambda one: one.price),
    )
    for limit, field, key in limits:
        if values[field] in (None, ANY):
            continue
        loose = Wishes(
            wishes.chosen, {**values, field: ANY if field == "source" else None}, wishes.owned, wishes.custom
        )
        left = [one for one in fitting if not _misses(one, loose) and key(one) is not None]
        if left:
            best = min(left, key=key)
            found.append(Relaxation(limit, None if limit == "source" else key(best), best))
    if not fitting and smallest:
        found.append(Relaxation("most_gpus", smallest[0].gpus, smallest[0]))
    return tuple(found)
