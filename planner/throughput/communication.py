"""Time on the links: an alpha-beta model of each collective, on the part of the network that its group spans.

Ranks are placed tensor parallel first, then context, data (experts within), and pipeline parallel last, as
Megatron-Core and torch.distributed's device meshes do.
"""

from dataclasses import dataclass

from planner.hardware.links import cluster_links
from planner.hardware.types import Cluster, Link
from planner.numeric import Number, ceil_div, maximum, minimum, where
from planner.parallel import Layout, Sharding
from planner.throughput.constants import RAMP_BYTES


@dataclass(frozen=True, slots=True)
class Group:
    """A communicator: how many ranks, bus bandwidth in bytes/s, seconds of start-up, ranks of it in one node."""

    ranks: Number
    bandwidth: Number
    latency: Number
    local: Number
    inter_bandwidth: float
    intra_bandwidth: float


def attained(link: Link) -> Number:
    """Bus bandwidth that large collectives reach on a link; 0.8 of the line where not measured."""
    return 0.8 * link.bandwidth if link.collective_bandwidth is None else link.collective_bandwidth


def group(cluster: Cluster, ranks: Number, stride: Number) -> Group:
    """The communicator of `ranks` that are `stride` apart.

    Inside a node the bus bandwidth is the node's link. Across nodes every member of a node has its own port, so a ring
    crosses with their sum; with 8 GPUs of one node in the group, eight ports.
    """
    intra, inter = cluster_links(cluster)
    local = maximum(1, minimum(ranks, cluster.gpus_per_node // stride))
    spans = ranks > local
    crossing = minimum(where(local > 1, attained(intra), attained(inter) * local), attained(inter) * local)
    bandwidth = where(spans, crossing, attained(intra))
    latency = where(spans, intra.latency * local + inter.latency * ceil_div(ranks, local), intra.latency * ranks)
    return Group(ranks, bandwidth, latency, local, attained(inter), attained(intra))


def _seconds(group: Group, wire_bytes: Number, message: Number) -> Number:
    """Start-up, transfer, and the slower start of small messages; nothing in a group of one."""
    ramp = 1 + RAMP_BYTES / (message + RAMP_BYTES)
    return where(group.ranks > 1, group.latency + ramp * wire_bytes / group.bandwidth, 0.0)


def all_reduce(group: Group, message: Number) -> Number:
    """Seconds to sum `message` bytes over the group: 2 (n-1)/n of them cross each rank's link."""
    return _seconds(group, 2 * (group.ranks - 1) / group.ranks * message, message)


def gather(group: Group, message: Number) -> Number:
    """Seconds to all-gather, or reduce-scatter, `message` bytes in all: (n-1)/n cross each rank's link."""
    return _seconds(group, (group.ranks - 1) / group.ranks * message, message)


def all_to_all(group: Group, message: Number, copies: Number) -> Number:
    """Seconds for each rank to send `message` bytes of tokens to `copies` experts each, spread evenly over the group.

    Between nodes a token travels once to each node it is wanted in, (n-1)(1 - (1-1/n)^k) of n nodes, through its
    rank's port, and is handed out there; inside the node every copy runs on the node's link at the same time.
    Source: hierarchical dispatch of DeepSeek-V3 (arXiv:2412.19437, section 3.2.2), DeepEP and Megatron-Core.
    """
    nodes = group.ranks / group.local
    wanted = (nodes - 1) * (1 - (1 - 1 / nodes) ** copies)
    away = wanted * message / group.inter_bandwidth
    near = copies * (group.local - 1) / group.local * message / group.intra_bandwidth
    return where(group.ranks > 1, group.latency + maximum(away, near), 0.0)


def send(group: Group, message: Number) -> Number:
    """Seconds to pass `message` bytes to the next rank: over the node's link, or a port where that is far."""
    bandwidth = where(group.ranks > group.local, group.inter_bandwidth, group.intra_bandwidth)
    return where(group.ranks > 1, group.latency / group.ranks + message / bandwidth, 0.0)


def tensor_group(cluster: Cluster, layout: Layout) -> Group:
    """Tensor-parallel ranks: neighbours."""
    return group(cluster, layout.tensor_parallel, 1)


def context_group(cluster: Cluster, layout: Layout) -> Group:
    """Context-parallel ranks."""
    return group(cluster, layout.context_parallel, layout.tensor_parallel)


def data_group(cluster: Cluster, layout: Layout) -> Group:
    """Ranks that sum gradients: data and context parallel together."""
    return group(cluster, layout.data_parallel * layout.context_parallel, layout.tensor_parallel)


def shard_ranks(cluster: Cluster, layout: Layout) -> Number:
    """How many ranks share one copy of divided training state; HSDP without a group size: those of a node."""
    if layout.sharding is not Sharding.HSDP:
        return layout.shard_degree
    everyone = layout.data_parallel * layout.context_parallel
    node = maximum(1, minimum(everyone, cluster.gpus_per_node // layout.tensor_parallel))
    return where(layout.shard_group > 0, layout.shard_degree, node)


def shard_group(cluster: Cluster, layout: Layout) -> Group:
    """Ranks that share one copy of divided training state."""
    return group(cluster, shard_ranks(cluster, layout), layout.tensor_parallel)


def expert_group(cluster: Cluster, layout: Layout) -> Group:
    """Ranks that exchange tokens for their experts."""
    return group(cluster, layout.expert_parallel, layout.tensor_parallel)


def pipeline_group(cluster: Cluster, layout: Layout) -> Group:
    """Ranks that hold consecutive stages: farthest apart."""
    stride = layout.tensor_parallel * layout.context_parallel * layout.data_parallel
    return group(cluster, layout.pipeline_parallel, stride)


def replica_group(cluster: Cluster, layout: Layout) -> Group:
    """HSDP: ranks that hold the same shard, one in each shard group."""
    shared = shard_ranks(cluster, layout)
    ranks = maximum(1, layout.data_parallel * layout.context_parallel / shared)
    return group(cluster, ranks, layout.tensor_parallel * shared)
