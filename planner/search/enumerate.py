"""Layouts as arrays on three axes: degrees of parallelism, micro-batches, and variants of the pipeline's schedule.

What depends on one axis alone is computed once for all values of the others, by broadcasting: that, and nothing else,
is what lets the planner's own formulas score a million layouts a second.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from planner.numeric import Number
from planner.parallel_rules import (
    divides,
    divisible,
    expert_group,
    heads_replicate,
    interleaves,
    sequence_divides,
    stages_have_layers,
)
from planner.plan.table import BY_ID
from planner.search.space import Space
from planner.workload import Request, Serving, Training

Array = npt.NDArray[Any]

BLOCK_CELLS = 32_768
"""Cells of one block at most, so that its arrays stay in the processor's cache and memory stays bounded."""


@dataclass(frozen=True, slots=True)
class Degrees:
    """Rows of degrees, every legal one, and the data parallelism that each leaves."""

    gpus: Array
    tensor: Array
    pipeline: Array
    context: Array
    expert: Array
    data: Array

    def __len__(self) -> int:
        return len(self.gpus)

    @property
    def ranks(self) -> Array:
        """GPUs that hold the same part of the model: what sharding divides it over."""
        return self.data * self.context

    def take(self, rows: Array) -> "Degrees":
        """Some of the rows, by index or by mask."""
        return Degrees(*(getattr(self, name)[rows] for name in self.__slots__))


@dataclass(frozen=True, slots=True)
class Block:
    """A box of layouts: rows of degrees x micro-batch sizes x schedules, and which of them are legal."""

    rows: Array  # of the degrees in the whole search
    degrees: Degrees
    micro: Array
    sequence_parallel: Array
    chunks: Array
    accumulation: Array  # rows x micro-batches; below 1 where not legal, and when serving
    legal: Array

    @property
    def shape(self) -> tuple[int, int, int]:
        """Rows, micro-batches, schedules."""
        return len(self.degrees), len(self.micro), len(self.chunks)


def divisors(number: int, most: int) -> list[int]:
    """Divisors of `number` up to `most`, ascending."""
    small = [d for d in range(1, math.isqrt(number) + 1) if number % d == 0]
    return [d for d in sorted({*small, *(number // d for d in small)}) if d <= most]


def _options(base: Request, gpus: int) -> dict[str, list[int]]:
    """Degrees that the model allows each by itself, among the divisors of `gpus`."""
    parts = divisible(base.model)
    every = {name: divisors(gpus, int(BY_ID[name].high)) for name in ("tensor_parallel", "pipeline_parallel")}
    tensor = [
        degree
        for degree in every["tensor_parallel"]
        if degree == 1
        or (
            parts.layered
            and all(divides(heads, degree) for heads in parts.heads)
            and all(heads_replicate(heads, degree) for heads in parts.kv_heads)
        )
    ]
    context, expert = [1], [1]
    if isinstance(base, Training):  # without tokens the length is one, which nothing divides
        most = int(BY_ID["context_parallel"].high)
        context = [d for d in divisors(gpus, most) if sequence_divides(base.sequence_length, d)]
    if parts.experts and base.model.expert_parameters:
        shared = math.gcd(*parts.experts)
        expert = divisors(shared, min(gpus, int(BY_ID["expert_parallel"].high)))
    return {
        "tensor": tensor,
        "pipeline": [d for d in every["pipeline_parallel"] if stages_have_layers(parts.depth, d, 1)],
        "context": context,
        "expert": expert,
    }


def considered(base: Request, space: Space) -> int:
    """Layouts that one could write down: every divisor of the GPUs for every degree, before any rule."""
    total = 0
    micro, schedules = len(_micro_sizes(base, space)), 2 * len(_chunks(base))
    for gpus in space.gpus:
        degrees = len(divisors(gpus, gpus)) ** 3 * len(_options(base, gpus)["expert"])
        for sharding, group in sharding_kinds(space, gpus):
            total += degrees * micro * schedules * len(space.choices(sharding, group))
    return total


def sharding_kinds(space: Space, gpus: int) -> Iterator[tuple[Any, int]]:
    """Ways of sharding with their groups: HSDP has one for every divisor of the GPUs between one and all."""
    for sharding in space.shardings:
        if sharding.value == "hsdp":
            yield from ((sharding, group) for group in divisors(gpus, gpus // 2) if group > 1)
        else:
            yield sharding, 0


def degrees_of(base: Request, space: Space) -> Degrees:
    """Every legal row of degrees, for every number of GPUs: all rules but those of micro-batches and schedules."""
    found: list[Array] = []
    serving = isinstance(base, Serving)
    for gpus in space.gpus:
        options = _options(base, gpus)
        grids = np.meshgrid(*(np.array(options[name], dtype=np.int64) for name in options), indexing="ij")
        tensor, pipeline, context, expert = (grid.ravel() for grid in grids)
        product = tensor * pipeline * context
        data = gpus // product
        legal = divides(gpus, product) & (data >= 1)
        legal &= divides(expert_group(gpus, tensor, pipeline, serving), expert) | (expert == 1)
        legal &= expert <= np.maximum(1, expert_group(gpus, tensor, pipeline, serving))
        if serving:  # a replica without a request is idle
            legal &= data <= space.global_batch_size
        else:
            legal &= divides(space.global_batch_size, np.maximum(1, data))
        rows = np.stack([np.full_like(tensor, gpus), tensor, pipeline, context, expert, data])
        found.append(rows[:, legal])
    return Degrees(*np.concatenate(found, axis=1))


def _micro_sizes(base: Request, space: Space) -> list[int]:
    if isinstance(base, Serving):
        return [1]
    return divisors(space.global_batch_size, int(BY_ID["micro_batch_size"].high))


def _chunks(base: Request) -> list[int]:
    """Model chunks a rank may hold: one, or what cuts the layers into equal parts."""
    if isinstance(base, Serving):
        return [1]
    depth = divisible(base.model).depth
    return divisors(depth, min(depth // 2, int(BY_ID["virtual_stages"].high))) or [1]


def blocks(base: Request, space: Space, degrees: Degrees, rows: Array) -> Iterator[Block]:
    """The layouts of `rows`, in boxes of at most `BLOCK_CELLS` or so cells.

    Rows of similar pipelines share a box, since the pipeline decides which schedules there are.
    """
    order = rows[np.lexsort((degrees.data[rows], degrees.pipeline[rows]))]
    for part in _parts(base, space, degrees, order):
        yield _block(base, space, degrees, part)


def _parts(base: Request, space: Space, degrees: Degrees, rows: Array) -> Iterator[Array]:
    micro, start = len(_micro_sizes(base, space)), 0
    pipelines = degrees.pipeline[rows]
    while start < len(rows):
        first = int(pipelines[start])
        schedules = 2 * len(_schedules(base, np.array([first])))
        size = max(1, BLOCK_CELLS // (micro * schedules))
        stop = min(len(rows), start + size)
        if first == 1:  # without a pipeline there is one schedule: no cells to waste on others
            stop = min(stop, int(np.searchsorted(pipelines, 1, side="right")))
        yield rows[start:stop]
        start = stop


def _schedules(base: Request, pipelines: Array) -> list[int]:
    """Chunks that any of the pipelines could have."""
    depth = divisible(base.model).depth
    return [v for v in _chunks(base) if v == 1 or bool(np.any((pipelines > 1) & (depth % (pipelines * v) == 0)))]


def _block(base: Request, space: Space, degrees: Degrees, rows: Array) -> Block:
    part = degrees.take(rows)
    serving, depth = isinstance(base, Serving), divisible(base.model).depth
    sizes = np.array(_micro_sizes(base, space), dtype=np.int64)
    per_replica = space.global_batch_size // part.data[:, None]
    micro = sizes[sizes <= max(1, int(per_replica.max()))]
    flags = [False] if serving or part.tensor.max() == 1 else [False, True]
    variants = [(flag, v) for flag in flags for v in _schedules(base, part.pipeline)]
    sequence = np.array([flag for flag, _ in variants])
    chunks = np.array([v for _, v in variants], dtype=np.int64)
    if serving:
        accumulation = np.zeros((len(part), 1), dtype=np.int64)
        legal: Number = np.ones((len(part), 1, len(variants)), dtype=bool)
        return Block(rows, part, micro, sequence, chunks, accumulation, legal)
    accumulation = per_replica // micro
    whole = divides(per_replica, micro) & (accumulation <= int(BY_ID["gradient_accumulation_steps"].high))
    pipeline, steps = part.pipeline[:, None, None], accumulation[:, :, None]
    legal = whole[:, :, None] & interleaves(depth, pipeline, chunks, steps)
    legal = legal & (~sequence | (part.tensor[:, None, None] > 1))
    return Block(rows, part, micro, sequence, chunks, accumulation, legal)
