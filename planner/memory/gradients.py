"""Gradients, and the buffers that reduce them over the data-parallel group."""

from planner.memory.path import Path
from planner.memory.sharding import divided
from planner.memory.weights import Weights
from planner.numeric import Number, minimum, where
from planner.parallel import Offload, Sharding
from planner.result import Formula
from planner.workload import Training

GRADIENTS = Formula(
    id="mem.gradients",
    unit="bytes",
    latex=r"g P_{\text{trained}} / N_{\text{shard}}",
    source="Rajbhandari et al., ZeRO, arXiv 1910.02054, section 3.1",
)
BUCKETS = Formula(
    id="mem.buckets",
    unit="bytes",
    latex=r"g \min(P_{\text{trained}}, P_{\text{bucket}})",
    source="PyTorch DDP without gradient_as_bucket_view copies every gradient; DeepSpeed reduce_bucket_size 5e8",
)

ZERO_BUCKET_ELEMENTS = 5e8
"""DeepSpeed's default reduce_bucket_size and allgather_bucket_size."""


def gradient_bytes(request: Training, path: Path, held: Weights) -> Number:
    """Bytes of all gradients on one GPU once the backward pass is through."""
    size = path.bytes.gradient
    if request.layout.sharding.divides_gradients:
        whole = divided(request.layout, held.trained * size, held.trained_experts * size)
        # ZeRO-Offload sends gradients to the host as they are reduced (arXiv 2101.06840, section 4).
        return whole * 0 if request.layout.offload_optimizer is not Offload.NONE else whole
    return (held.trained + held.trained_experts) * size


def gradients_stand(request: Training, path: Path) -> Number:
    """1 where gradients are there all along, 0 where they grow over the backward pass and are freed by the step.

    They stay between micro-batches, in the fp32 buffer beside master weights, and as views of DDP's buckets.
    """
    layout = request.layout
    if path.bytes.master:
        return 1
    several = where(request.gradient_accumulation_steps > 1, 1, 0)
    if layout.sharding is Sharding.NONE and request.bucket_view:
        return where(layout.data_parallel * layout.context_parallel > 1, 1, several)
    return several


def bucket_bytes(request: Training, path: Path, held: Weights) -> Number:
    """Bytes of reduction buffers: a copy of the gradients under DDP, DeepSpeed's buckets under ZeRO 1 and 2."""
    sharding, size = request.layout.sharding, path.bytes.gradient
    elements = held.trained + held.trained_experts
    if sharding is Sharding.NONE:
        found = 0 if request.bucket_view else elements * size
    elif sharding in (Sharding.ZERO1, Sharding.ZERO2):
        found = minimum(elements, ZERO_BUCKET_ELEMENTS) * size
    else:
        return 0
    alone = request.layout.data_parallel * request.layout.context_parallel == 1
    return where(alone, 0, found)
