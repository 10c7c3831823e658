"""Why one layout beats another, why not the one that somebody names, and what to relax where nothing is left."""

import dataclasses
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from planner.estimate import estimate
from planner.parallel import Sharding
from planner.plan.checks import problems_of
from planner.plan.plan import Plan
from planner.plan.request import request_of
from planner.result import Estimate, Problem
from planner.search.enumerate import degrees_of
from planner.search.search import Found, Layout, search
from planner.search.space import MOST_GPUS, OFFLOADS, Space, global_batch_of
from planner.solve import solvable, solve
from planner.workload import Recompute


@dataclass(frozen=True, slots=True)
class Difference:
    """A part of the time, and the seconds per unit of the best layout's work that another spends more on it."""

    term: str  # "time.communication"
    seconds: float

    @property
    def milliseconds(self) -> float:
        return 1000 * self.seconds

    @property
    def loses(self) -> bool:
        """Whether it is a loss, beyond rounding."""
        return self.seconds > 1e-9

    @property
    def counts(self) -> bool:
        """Whether it is more than rounding."""
        return abs(self.seconds) > 1e-9


def estimated(plan: Plan, layout: Layout) -> Estimate:
    """A layout's full estimate, every term of it."""
    return estimate(request_of(plan.with_changes(**layout.sets(plan))))


def differences(best: Estimate, other: Estimate) -> tuple[Difference, ...]:
    """Where `other` spends more time (or less: negative) on the same work, the largest loss first.

    Times of a step are scaled to equal work, so the differences sum to the whole loss. Empty where a speed is unknown.
    """
    if best.speed is None or other.speed is None:
        return ()
    rate = best.relative_rate(other)
    if rate is None:
        return ()
    work = rate * best.speed.seconds / other.speed.seconds  # best's work over other's, in one step of each
    mine = {part.id: float(part.value) for part in best.speed.parts}
    found = [Difference(part.id, float(part.value) * work - mine.get(part.id, 0.0)) for part in other.speed.parts]
    return tuple(sorted(found, key=lambda one: -one.seconds))


class Reason(StrEnum):
    """Why a named layout is not the answer."""

    IMPOSSIBLE = "impossible"
    NO_MEMORY = "no-memory"
    SLOWER = "slower"
    BEST = "best"
    UNKNOWN = "unknown"  # it fits, but no speed is known to compare


@dataclass(frozen=True, slots=True, kw_only=True)
class WhyNot:
    """The answer to "why not this layout?"."""

    reason: Reason
    problems: tuple[Problem, ...] = ()
    estimate: Estimate | None = None
    short_bytes: float = 0.0
    speed_ratio: float | None = None  # over the best layout's
    share_slower: float = 0.0  # of the layouts that fit
    differences: tuple[Difference, ...] = ()  # against the best
    global_batch_size: int | None = None  # where it isn't the one that was searched for


def why_not(named: Plan, base: Plan, space: Space, found: Found) -> WhyNot:
    """Why the layout of the plan `named` is not the best one of a search around `base`."""
    problems = problems_of(named)
    if problems:
        return WhyNot(reason=Reason.IMPOSSIBLE, problems=problems)
    result = estimate(request_of(named))
    batch = named.values["concurrency"] if named.values["task"] == "serve" else global_batch_of(named)
    other = None if batch == space.global_batch_size else int(batch)
    if not result.fits:
        short = -float(result.memory.spare)
        return WhyNot(reason=Reason.NO_MEMORY, estimate=result, short_bytes=short, global_batch_size=other)
    if not found.best or result.speed is None or found.best[0].rate is None:
        return WhyNot(reason=Reason.UNKNOWN, estimate=result, global_batch_size=other)
    best = estimated(base, found.best[0])
    ratio = result.speed.rate / found.best[0].rate
    return WhyNot(
        reason=Reason.BEST if ratio >= 1 - 1e-6 else Reason.SLOWER,
        estimate=result,
        speed_ratio=ratio,
        share_slower=found.share_slower(result.speed.rate),
        differences=differences(best, result),
        global_batch_size=other,
    )


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One input that alone, moved to `value`, leaves a layout that fits."""

    field: str  # global_batch_size, offload, or a field of the plan
    value: int
    layout: Layout | None = None


def relaxations(plan: Plan, space: Space, found: Found) -> tuple[Relaxation, ...]:
    """Where a search found nothing: the smallest changes, each enough by itself.

    No legal layout: the next larger global batch that the GPUs divide. None that fits: more GPUs, by doublings, and
    the largest length or micro-batch that the leanest layout holds.
    """
    if found.fits or found.stopped:
        return ()
    if found.leanest is None:
        return _larger_batch(plan, space)
    return (*_offload(plan, space), *_more_gpus(plan, space), *_smaller_work(plan, found.leanest))


def _larger_batch(plan: Plan, space: Space) -> tuple[Relaxation, ...]:
    """Batches are cut over data parallel: the smallest of it that the model's other degrees leave."""
    anything = dataclasses.replace(space, global_batch_size=int(np.lcm.reduce(np.array(space.gpus, dtype=np.int64))))
    least = int(degrees_of(request_of(plan), anything).data.min())
    return (Relaxation("global_batch_size", -(-space.global_batch_size // least) * least),)


def _offload(plan: Plan, space: Space) -> tuple[Relaxation, ...]:
    """The host's memory, where it was left out."""
    if plan.values["task"] == "serve" or space.offloads == OFFLOADS:
        return ()
    tried = search(plan, _leanest(dataclasses.replace(space, offloads=OFFLOADS), space.gpus[0]))
    return (Relaxation("offload", 1, tried.best[0] if tried.best else None),) if tried.fits else ()


def _more_gpus(plan: Plan, space: Space) -> tuple[Relaxation, ...]:
    gpus = space.gpus[0]
    while 2 * gpus <= MOST_GPUS:
        gpus *= 2
        tried = search(plan.with_changes(gpus=gpus), _leanest(space, gpus))
        if tried.fits:
            return (Relaxation("gpus", gpus, tried.best[0] if tried.best else None),)
    return ()


def _leanest(space: Space, gpus: int) -> Space:
    """What needs least memory of a space: enough to tell whether anything fits."""
    divided = tuple(one for one in space.shardings if one.divides_parameters and one is not Sharding.HSDP)
    return dataclasses.replace(
        space,
        gpus=(gpus,),
        shardings=divided or space.shardings,
        recomputes=(Recompute.FULL,) if Recompute.FULL in space.recomputes else space.recomputes,
        offloads=space.offloads[-1:],
    )


def _smaller_work(plan: Plan, leanest: Layout) -> tuple[Relaxation, ...]:
    """Shorter sequences (or fewer requests) on the leanest layout there is."""
    smallest = plan.with_changes(**leanest.sets(plan))
    for field in ("sequence_length", "concurrency"):
        if field in solvable(smallest):
            solution = solve(smallest, field)
            if solution.value is not None:
                return (Relaxation(field, int(solution.value), leanest),)
    return ()
