"""The search itself: block by block, keeping counts, the frontier, the best of each row, and the rates of what fits."""

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from planner.parallel import Offload
from planner.plan.plan import Plan
from planner.plan.request import request_of
from planner.search.enumerate import Array, Block, Degrees, blocks, considered, degrees_of, sharding_kinds
from planner.search.evaluate import scores
from planner.search.pareto import Sieve, frontier
from planner.search.space import Choice, Space
from planner.units import HOUR, MEGA
from planner.workload import Request, Training

COMPACT = 20_000
"""Candidates of the frontier that are kept before the beaten ones are thrown out."""


@dataclass(frozen=True, slots=True)
class Layout:
    """One layout that a search found, with its figures."""

    gpus: int
    data: int
    tensor: int
    pipeline: int
    context: int
    expert: int
    micro_batch_size: int
    accumulation: int
    sequence_parallel: bool
    chunks: int
    choice: Choice
    required_bytes: float
    rate: float | None  # tokens (else samples) per second, all GPUs

    def price_per_million(self, price_per_gpu_hour: float | None) -> float | None:
        """US dollars for a million tokens (else samples); None where a price or the speed is unknown."""
        if price_per_gpu_hour is None or not self.rate:
            return None
        return price_per_gpu_hour * self.gpus / HOUR * MEGA / self.rate

    def sets(self, plan: Plan) -> dict[str, Any]:
        """The fields that make the plan this layout; None puts a field back to its default."""
        changes: dict[str, Any] = {
            "gpus": self.gpus,
            "tensor_parallel": self.tensor,
            "pipeline_parallel": self.pipeline,
            "expert_parallel": self.expert,
        }
        if plan.values["task"] == "serve":
            return changes
        choice = self.choice
        return changes | {
            "context_parallel": self.context,
            "sequence_parallel": self.sequence_parallel if self.tensor > 1 else None,
            "schedule": ("interleaved" if self.chunks > 1 else "1f1b") if self.pipeline > 1 else None,
            "virtual_stages": self.chunks if self.chunks > 1 else None,
            "micro_batch_size": self.micro_batch_size,
            "gradient_accumulation_steps": self.accumulation,
            "sharding": choice.sharding.value if self.gpus > 1 else None,
            "shard_group": choice.shard_group or None,
            "recompute": choice.recompute.value if plan.uses("recompute") else None,
            "recompute_every": None,
            "offload_optimizer": None if choice.offload_optimizer is Offload.NONE else choice.offload_optimizer.value,
            "offload_parameters": None
            if choice.offload_parameters is Offload.NONE
            else choice.offload_parameters.value,
            "precision": choice.precision.value,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found. Where the card's speed is unknown, layouts are ranked by memory to spare."""

    considered: int
    legal: int
    fits: int
    capacity_bytes: float
    best: tuple[Layout, ...]  # the best of each row of degrees, fastest first
    frontier: tuple[Layout, ...]
    leanest: Layout | None  # what needs least memory; None where nothing is legal
    rates: Array = field(repr=False)  # of every layout that fits, ascending
    stopped: bool = False

    def leaders(self, count: int) -> tuple[Layout, ...]:
        """The best few with different rates. Of equally fast ones the first stands for all: the least divided."""
        if self.best and self.best[0].rate is None:
            return self.best[:count]
        firsts: dict[float, Layout] = {}
        for one in self.best:
            if len(firsts) == count:
                break
            firsts.setdefault(figures(one.rate), one)
        return tuple(firsts.values())

    def share_slower(self, rate: float) -> float:
        """Share of the layouts that fit which are slower than `rate`."""
        return float(np.searchsorted(self.rates, np.float32(rate))) / max(1, len(self.rates))


def figures(rate: float | None) -> float:
    """A rate to as many digits as can differ by more than the order of a sum."""
    return float(f"{rate or 0.0:.9g}")


class _Keeper:
    """What is kept of the blocks seen so far."""

    def __init__(self, space: Space, degrees: Degrees, capacity: float) -> None:
        self.capacity = capacity
        self.legal = self.fits = 0
        self.rates: list[Array] = []
        self.candidates: list[tuple[float, float, int, Layout]] = []
        self.best: list[Layout | None] = [None] * len(degrees)
        self.best_rate = np.zeros(len(degrees))
        self.leanest: Layout | None = None
        self.sieve = Sieve(np.array(space.gpus))

    def take(self, block: Block, choice: Choice, required: Array, rate: Array | None) -> None:
        """Count a block and keep what is best of it."""
        fits = block.legal & (required <= self.capacity)
        count = int(np.count_nonzero(fits))
        self.legal += int(np.count_nonzero(block.legal))
        self.fits += count
        self._keep_leanest(block, choice, required, rate)
        if not count:
            return
        worth = np.where(fits, self.capacity - required + 1.0 if rate is None else rate, 0.0)
        self._keep_best(block, choice, required, rate, worth)
        cells = np.flatnonzero(fits)
        worth = worth.ravel()[cells]
        if rate is not None:
            self.rates.append(worth.astype(np.float32))
        spare = self.capacity - required.reshape(-1)[cells]
        gpus = block.degrees.gpus[cells // (block.shape[1] * block.shape[2])]
        for place in self.sieve.passing(worth, spare, gpus):
            layout = layout_at(block, choice, required, rate, int(cells[place]))
            self.candidates.append((float(worth[place]), float(spare[place]), layout.gpus, layout))
        if len(self.candidates) > COMPACT:
            self.compact()

    def _keep_leanest(self, block: Block, choice: Choice, required: Array, rate: Array | None) -> None:
        if self.leanest is not None and float(required.min()) >= self.leanest.required_bytes:
            return
        least = np.where(block.legal, required, np.inf)
        cell = int(least.argmin())
        if least.flat[cell] < (np.inf if self.leanest is None else self.leanest.required_bytes):
            self.leanest = layout_at(block, choice, required, rate, cell)

    def _keep_best(self, block: Block, choice: Choice, required: Array, rate: Array | None, worth: Array) -> None:
        flat = worth.reshape(len(block.rows), -1)
        cells = flat.argmax(axis=1)
        most = flat[np.arange(len(cells)), cells]
        for row in np.flatnonzero(most > self.best_rate[block.rows]):
            self.best_rate[block.rows[row]] = most[row]
            cell = int(row) * flat.shape[1] + int(cells[row])
            self.best[block.rows[row]] = layout_at(block, choice, required, rate, cell)

    def compact(self) -> None:
        """Throw out the candidates that another beats."""
        if self.candidates:
            worth, spare, gpus = (np.array(column) for column in list(zip(*self.candidates, strict=True))[:3])
            self.candidates = [self.candidates[index] for index in frontier(worth, spare, gpus)]


def layout_at(block: Block, choice: Choice, required: Array, rate: Array | None, cell: int) -> Layout:
    """The layout of one cell of a block."""
    row, size, variant = (int(index) for index in np.unravel_index(cell, block.shape))
    one = block.degrees
    return Layout(
        gpus=int(one.gpus[row]),
        data=int(one.data[row]),
        tensor=int(one.tensor[row]),
        pipeline=int(one.pipeline[row]),
        context=int(one.context[row]),
        expert=int(one.expert[row]),
        micro_batch_size=int(block.micro[size]),
        accumulation=int(block.accumulation[row, size]),
        sequence_parallel=bool(block.sequence_parallel[variant]),
        chunks=int(block.chunks[variant]),
        choice=choice,
        required_bytes=float(required[row, size, variant]),
        rate=None if rate is None else float(rate[row, size, variant]),
    )


def search(
    plan: Plan,
    space: Space,
    *,
    progress: Callable[[float, int], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Found:
    """Every layout of `space` for the plan's work, scored by the planner.

    `progress` hears the share done and the layouts scored; where `cancelled` turns true, what was found so far is
    returned as `stopped`. Memory stays bounded: blocks come and go, four bytes are kept of each layout that fits.
    """
    return search_request(_base(plan), space, progress=progress, cancelled=cancelled)


def search_request(
    base: Request,
    space: Space,
    *,
    progress: Callable[[float, int], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Found:
    """As `search`, around a request whose layout does not matter."""
    degrees = degrees_of(base, space)
    keeper = _Keeper(space, degrees, float(base.cluster.gpu.memory_bytes))
    stopped = False
    for share, block, choice in _work(base, space, degrees):
        if cancelled is not None and cancelled():
            stopped = True
            break
        _score(base, keeper, block, choice)
        if progress is not None:
            progress(share, keeper.legal)
    keeper.compact()
    return _found(base, space, keeper, stopped)


def _base(plan: Plan) -> Request:
    """The plan's request. Bucket views apply to layouts without sharding, whatever the plan's own is."""
    base = request_of(plan)
    return dataclasses.replace(base, bucket_view=plan.values["bucket_view"]) if isinstance(base, Training) else base


def _score(base: Request, keeper: _Keeper, block: Block, choice: Choice) -> None:
    found = scores(base, block, choice)
    keeper.take(block, choice, found.required, found.rate)


def _work(base: Request, space: Space, degrees: Degrees) -> Iterator[tuple[float, Block, Choice]]:
    """Every block with every choice, and the share of the work that is done with it."""
    kinds = list(dict.fromkeys(kind for gpus in space.gpus for kind in sharding_kinds(space, gpus)))
    jobs = [(kind, rows) for kind in kinds if len(rows := _rows(degrees, *kind))]
    whole = sum(len(rows) * len(space.choices(*kind)) for kind, rows in jobs)
    done = 0
    for kind, rows in jobs:
        for block in blocks(base, space, degrees, rows):
            for choice in space.choices(*kind):
                done += len(block.rows)
                yield done / whole, block, choice


def _rows(degrees: Degrees, sharding: Any, group: int) -> Array:
    """Rows that a way of sharding applies to: it needs ranks to share among, HSDP a group that is not all of them."""
    ranks = degrees.ranks
    if group:
        return np.flatnonzero((ranks % group == 0) & (ranks > group))
    return np.flatnonzero(ranks > 1) if sharding.divides_optimizer else np.arange(len(degrees))


def _found(base: Request, space: Space, keeper: _Keeper, stopped: bool) -> Found:
    best = sorted(
        (one for one in keeper.best if one is not None),
        key=lambda one: (-figures(one.rate), one.gpus, one.gpus // one.data, one.required_bytes),
    )
    return Found(
        considered=considered(base, space),
        legal=keeper.legal,
        fits=keeper.fits,
        capacity_bytes=keeper.capacity,
        best=tuple(best),
        frontier=tuple(candidate[3] for candidate in keeper.candidates),
        leanest=keeper.leanest,
        rates=np.sort(np.concatenate(keeper.rates)) if keeper.rates else np.zeros(0, dtype=np.float32),
        stopped=stopped,
    )
