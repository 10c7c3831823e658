"""Feeding the GPU: storage, decoding on the host, and copies over PCIe. A bound of its own, not part of compute."""

from planner.hardware.links import host_bandwidth
from planner.hardware.types import Cluster
from planner.numeric import Number, is_array, maximum, minimum, where
from planner.workload import InputPipeline


def loading_seconds(inputs: InputPipeline, cluster: Cluster, samples: Number) -> Number:
    """Seconds in which the host can make `samples` ready for one GPU: the slower of storage and decoding.

    The node's GPUs in use share its storage; decoding runs on `workers` processes per GPU. A zero rate is no bound.
    """
    node = minimum(cluster.gpus, cluster.gpus_per_node)
    storage = _over(samples * inputs.sample_bytes * node, inputs.storage_bandwidth)
    workers = maximum(1, inputs.workers)
    return maximum(storage, samples * inputs.decode_seconds / workers)


def _over(amount: Number, rate: Number) -> Number:
    if is_array(rate):
        return where(rate > 0, amount / maximum(rate, 1e-9), 0.0)
    return amount / rate if rate else 0.0 * amount


def copy_seconds(inputs: InputPipeline, cluster: Cluster, copied_bytes: Number) -> Number:
    """Seconds to copy `copied_bytes` to one GPU: pinned memory runs near the line rate, pageable far below."""
    return copied_bytes / host_bandwidth(cluster.gpu, inputs.pinned)


def exposed_seconds(
    inputs: InputPipeline, cluster: Cluster, samples: Number, copied_bytes: Number, busy: Number
) -> Number:
    """Seconds that the GPU waits for its input in a step that is otherwise `busy`.

    Loader processes work ahead, so only what exceeds the step is waited for; copies hide only where overlapped.
    """
    loading = loading_seconds(inputs, cluster, samples)
    copying = copy_seconds(inputs, cluster, copied_bytes)
    if inputs.overlapped:
        return maximum(0.0, maximum(loading, copying) - busy)
    return copying + maximum(0.0, loading - busy - copying)
