"""Data-parallel traffic of a step: gradient sums, parameter gathers, and how much of it computing hides."""

from collections.abc import Callable
from dataclasses import dataclass

from planner.numeric import Number, maximum
from planner.parallel import Sharding
from planner.throughput import constants
from planner.throughput.communication import (
    Group,
    all_reduce,
    data_group,
    gather,
    group,
    replica_group,
    shard_group,
    shard_ranks,
)
from planner.throughput.precision import Widths
from planner.throughput.trained import local_parameters, trained_share
from planner.workload import BaseFormat, MethodKind, Training

_BASE_BYTES = {BaseFormat.NF4: 0.516, BaseFormat.INT8: 1.0, BaseFormat.GPTQ4: 0.52}


@dataclass(frozen=True, slots=True)
class Traffic:
    """Seconds of communication in a step: what is waited for, and what runs beside computing."""

    exposed: Number
    hidden: Number

    @classmethod
    def behind(cls, seconds: Number, cover: Number) -> "Traffic":
        """Traffic that may hide behind `cover` seconds of computing."""
        exposed = maximum(0.0, seconds - cover)
        hidden = seconds - exposed
        lost = constants.FITTED["interference"] * hidden  # its kernels take processors and bandwidth from computing
        return cls(exposed + lost, hidden - lost)

    def __add__(self, other: "Traffic") -> "Traffic":
        return Traffic(self.exposed + other.exposed, self.hidden + other.hidden)


def data_parallel_traffic(request: Training, sizes: Widths, forward: Number, backward: Number) -> Traffic:
    """Traffic of one step, for micro-batches whose passes take `forward` and `backward` seconds.

    DDP: all-reduce of the gradients behind the last backward pass. ZeRO-1/2: reduce-scatter of the gradients, then
    all-gather of the weights behind the next forward pass. ZeRO-3, FSDP: both gathers and the reduce-scatter in every
    micro-batch. HSDP: FSDP in its group, and an all-reduce of each shard over the groups.
    Source: Rajbhandari et al. 2020 (arXiv:1910.02054) section 7; Zhao et al. 2023 (arXiv:2304.11277).
    """
    dense, experts = local_parameters(request)
    trained = trained_share(request)
    layout = request.layout
    if layout.sharding.divides_parameters:
        return _sharded(request, sizes, dense, experts, trained, forward, backward)
    cover = constants.GRADIENT_OVERLAP * backward
    everyone, peers = data_group(request.cluster, layout), _expert_peers(request)
    combine = all_reduce if layout.sharding is Sharding.NONE else gather
    seconds = _both(combine, everyone, peers, trained * dense * sizes.gradient, trained * experts * sizes.gradient)
    traffic = Traffic.behind(seconds, cover)
    if layout.sharding is Sharding.NONE:
        return traffic
    weights = _both(gather, everyone, peers, trained * dense * sizes.operand, trained * experts * sizes.operand)
    return traffic + Traffic.behind(weights, constants.GRADIENT_OVERLAP * forward)


def _sharded(
    request: Training, sizes: Widths, dense: Number, experts: Number, trained: Number, forward: Number, backward: Number
) -> Traffic:
    layout, cluster = request.layout, request.cluster
    ranks, peers = shard_group(cluster, layout), _expert_peers(request)
    gathered = 2.0 if sizes.weight == 1.0 else sizes.weight
    if request.method.kind is MethodKind.QLORA:
        gathered = _BASE_BYTES[request.method.base_format]
    weights = _both(gather, ranks, peers, dense * gathered, experts * gathered)
    gradients = _both(gather, ranks, peers, trained * dense * sizes.gradient, trained * experts * sizes.gradient)
    per_micro_batch = Traffic.behind(weights, constants.GATHER_OVERLAP * forward) + Traffic.behind(
        weights + gradients, constants.GATHER_OVERLAP * backward
    )
    steps = request.gradient_accumulation_steps
    traffic = Traffic(steps * per_micro_batch.exposed, steps * per_micro_batch.hidden)
    if layout.sharding is Sharding.HSDP:
        shard = trained * dense * sizes.gradient / shard_ranks(cluster, layout)
        replicas = all_reduce(replica_group(cluster, layout), shard)
        traffic = traffic + Traffic.behind(replicas, 0.5 * constants.GRADIENT_OVERLAP * backward)
    return traffic


def _both(
    combine: Callable[[Group, Number], Number], dense_group: Group, expert_group: Group, dense: Number, experts: Number
) -> Number:
    """One collective over the dense parameters and one over the experts, which have fewer peers."""
    seconds = combine(dense_group, dense)
    return seconds if isinstance(experts, float) and experts == 0.0 else seconds + combine(expert_group, experts)


def _expert_peers(request: Training) -> Group:
    """Ranks that hold the same experts: the data-parallel group over expert parallel."""
    layout = request.layout
    ranks = maximum(1, layout.data_parallel * layout.context_parallel / layout.expert_parallel)
    return group(request.cluster, ranks, layout.tensor_parallel * layout.expert_parallel)
