"""Traffic inside a micro-batch: tensor, context, expert and pipeline parallel. For all layers of a stack."""

from planner.models.spec import ModelSpec
from planner.numeric import Number
from planner.throughput import constants
from planner.throughput.communication import (
    all_reduce,
    all_to_all,
    context_group,
    expert_group,
    pipeline_group,
    send,
    tensor_group,
)
from planner.throughput.gradients import Traffic
from planner.throughput.operators import StackWork
from planner.workload import Training


def tensor_seconds(request: Training, work: StackWork, tokens: Number) -> Number:
    """One pass through the layers: an all-reduce of the activations after attention and one after the MLP.

    Sequence parallel replaces each by an all-gather and a reduce-scatter of the same volume.
    Source: Shoeybi et al. 2019 (arXiv:1909.08053) section 3; Korthikanti et al. 2022 (arXiv:2205.05198) section 4.2.2.
    """
    return 2 * work.depth * all_reduce(tensor_group(request.cluster, request.layout), tokens * work.hidden * 2.0)


def expert_seconds(request: Training, work: StackWork, tokens: Number) -> Number:
    """One pass: tokens go to their experts and come back, an all-to-all each, in every routed layer."""
    if not work.routed_layers:
        return 0.0
    active = max(product.active for product in work.products if product.routed)
    layout = request.layout
    shared = layout.residual_split  # each rank sends its own part of the sequence
    message = tokens * work.hidden * 2.0 / shared
    shown = 1 - constants.FITTED["expert_overlap"]
    return 2 * shown * work.routed_layers * all_to_all(expert_group(request.cluster, layout), message, active)


def context_traffic(request: Training, work: StackWork, tokens: Number, attention: Number) -> Traffic:
    """One pass of ring attention: every rank's keys and values visit every other, behind the attention they feed.

    Source: Liu et al. 2023 (arXiv:2310.01889).
    """
    ring = context_group(request.cluster, request.layout)
    seconds: Number = 0.0
    for core in work.cores:
        width = core.kv_heads * (core.key_dim + core.value_dim) if not core.latent else core.cache_elements
        hops = ring.ranks - 1
        seconds = seconds + core.layers * hops * send(ring, 2.0 * tokens * width / request.layout.tensor_parallel)
    return Traffic.behind(seconds, attention)


def pipeline_seconds(request: Training, spec: ModelSpec, tokens: Number) -> Number:
    """One micro-batch: activations to the next stage and gradients back, once for each chunk of the schedule."""
    layout = request.layout
    message = tokens * spec.hidden * 2.0 / layout.tensor_parallel
    return 2 * layout.chunks * send(pipeline_group(request.cluster, layout), message)
