"""Weights that live on the host or on NVMe: their way to the GPU in every pass."""

from planner.hardware.links import host_bandwidth
from planner.numeric import Number, maximum
from planner.parallel import Offload
from planner.throughput import constants
from planner.throughput.communication import shard_ranks
from planner.throughput.gradients import Traffic
from planner.throughput.precision import Widths
from planner.throughput.trained import local_parameters
from planner.workload import Training

NVME_BANDWIDTH = 5e9
"""Bytes/s of one NVMe drive, read or write; assumed (PCIe 4 x4)."""


def parameter_traffic(request: Training, sizes: Widths, forward: Number, backward: Number) -> Traffic:
    """Traffic of one step: each rank copies its share of the weights in once a pass, behind the computing.

    Source: Rajbhandari et al. 2021, ZeRO-Infinity (arXiv:2104.07857), section 5.
    """
    layout = request.layout
    if layout.offload_parameters is Offload.NONE:
        return Traffic(0.0, 0.0)
    dense, experts = local_parameters(request)
    shared = shard_ranks(request.cluster, layout) if layout.sharding.divides_parameters else 1
    held = dense / shared + experts / maximum(1, shared / layout.expert_parallel)
    bandwidth = host_bandwidth(request.cluster.gpu)
    if layout.offload_parameters is Offload.NVME:
        bandwidth = min(bandwidth, NVME_BANDWIDTH)
    once = held * maximum(2.0, sizes.weight) / bandwidth
    passes = Traffic.behind(once, constants.GATHER_OVERLAP * forward) + Traffic.behind(
        once, constants.GATHER_OVERLAP * backward
    )
    steps = request.gradient_accumulation_steps
    return Traffic(steps * passes.exposed, steps * passes.hidden)
