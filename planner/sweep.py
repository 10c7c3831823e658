"""Curves: the same estimate with one number of the request varied over an array."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from planner.estimate import estimate
from planner.parallel import Sharding
from planner.result import Estimate
from planner.workload import Request, Serving, Training


def over_batch(request: Request, batches: Sequence[int]) -> Estimate:
    """The estimate at each micro-batch size (training) or concurrency (serving)."""
    values = np.asarray(batches, dtype=np.float64)
    if isinstance(request, Training):
        return estimate(dataclasses.replace(request, micro_batch_size=values))
    return estimate(dataclasses.replace(request, concurrency=values))


def over_length(request: Request, lengths: Sequence[int]) -> Estimate:
    """The estimate at each sequence length (training), input length (serving) or image size (image models)."""
    values = np.asarray(lengths, dtype=np.float64)
    if isinstance(request, Serving):
        return estimate(dataclasses.replace(request, input_tokens=values, max_model_length=0))
    if request.model.image is not None:
        return estimate(dataclasses.replace(request, image_size=values))
    return estimate(dataclasses.replace(request, sequence_length=values))


def over_gpus(request: Request, gpus: Sequence[int]) -> Estimate:
    """The estimate with the work spread by data parallel over each number of GPUs; the other degrees stay.

    Weak scaling: each GPU keeps its micro-batch, so the global batch grows with the number of GPUs. One GPU needs no
    sharding, so the degree of sharding follows the number of ranks.
    """
    values = np.asarray(gpus, dtype=np.float64)
    layout, cluster = request.layout, request.cluster
    fixed = layout.tensor_parallel * layout.pipeline_parallel * layout.context_parallel
    shard = {"shard_group": np.minimum(values, layout.shard_group)} if layout.sharding is Sharding.HSDP else {}
    return estimate(
        dataclasses.replace(
            request,
            cluster=dataclasses.replace(cluster, gpus=values),
            layout=dataclasses.replace(layout, data_parallel=values / fixed, **shard),
        )
    )


def largest_that_fits(values: Sequence[int], result: Estimate) -> int | None:
    """The largest of the swept values whose estimate fits, or None. Memory grows with every swept quantity."""
    fitting = [value for value, fits in zip(values, np.broadcast_to(result.fits, len(values)), strict=True) if fits]
    return max(fitting, default=None)


def knee(values: Sequence[int], rates: Sequence[float], share: float = 0.9) -> int:
    """The smallest value that already reaches `share` of the best rate: more gains little."""
    best = max(rates)
    return next(value for value, rate in zip(values, rates, strict=True) if rate >= share * best)
