"""A block of layouts through the planner's own formulas: required memory, and work per second, of every cell."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.estimate import memory_of, speed_of
from planner.parallel import Layout, Schedule
from planner.search.enumerate import Array, Block, Degrees
from planner.search.space import Choice
from planner.workload import Request, Training


@dataclass(frozen=True, slots=True)
class Scores:
    """Figures of a block's cells, as arrays of its shape."""

    required: Array  # bytes of the fullest GPU
    rate: Array | None  # tokens (else samples) per second, all GPUs; None where the card's speed is unknown


def layout_of(degrees: Degrees, block: Block, choice: Choice) -> Layout:
    """The block's layouts, each number on the axis it varies on."""

    def row(values: Array) -> Array:
        return values.astype(np.float64)[:, None, None]

    several = bool(block.chunks.max() > 1)
    return Layout(
        data_parallel=row(degrees.data),
        tensor_parallel=row(degrees.tensor),
        pipeline_parallel=row(degrees.pipeline) if bool(degrees.pipeline.max() > 1) else 1,
        context_parallel=row(degrees.context) if bool(degrees.context.max() > 1) else 1,
        expert_parallel=row(degrees.expert),
        sequence_parallel=block.sequence_parallel if bool(block.sequence_parallel.any()) else False,
        sharding=choice.sharding,
        shard_group=choice.shard_group,
        schedule=Schedule.INTERLEAVED if several else Schedule.ONE_F_ONE_B,
        virtual_stages=block.chunks.astype(np.float64) if several else 1,
        offload_optimizer=choice.offload_optimizer,
        offload_parameters=choice.offload_parameters,
    )


def request_of(base: Request, block: Block, choice: Choice) -> Request:
    """The plan's request with the block's layouts in it."""
    degrees = block.degrees
    changes: dict[str, Any] = {
        "layout": layout_of(degrees, block, choice),
        "cluster": dataclasses.replace(base.cluster, gpus=degrees.gpus.astype(np.float64)[:, None, None]),
    }
    if isinstance(base, Training):
        changes |= {
            "micro_batch_size": block.micro.astype(np.float64)[None, :, None],
            "gradient_accumulation_steps": np.maximum(1.0, block.accumulation)[:, :, None],
            "recompute": choice.recompute,
            "recompute_every": 1,
            "precision": choice.precision,
        }
    return dataclasses.replace(base, **changes)


def scores(base: Request, block: Block, choice: Choice) -> Scores:
    """Required memory and rate of every cell, illegal ones included: they cost less than leaving them out."""
    request = request_of(base, block, choice)
    required = np.broadcast_to(memory_of(request).required, block.shape)
    speed = speed_of(request)
    if speed is None:
        return Scores(required, None)
    rate = speed.tokens_per_second if _counts_tokens(base) else speed.samples_per_second
    return Scores(required, np.broadcast_to(rate, block.shape))


def _counts_tokens(base: Request) -> bool:
    """Image networks count samples."""
    return bool(base.model.stacks)
