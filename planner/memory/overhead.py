"""What stands beside the tensors: the allocator's reserve, the CUDA context, libraries, communication buffers."""

from planner.memory.path import Path
from planner.memory.sharding import counts
from planner.memory.weights import Weights
from planner.numeric import Number, maximum, where
from planner.parallel import Offload
from planner.result import Formula, Term
from planner.units import MIB
from planner.workload import Recompute, Training

GATHERED = Formula(
    id="mem.gathered",
    unit="bytes",
    latex=r"w_c \left( P_{\text{root}} + n_{\text{units}} P_{\text{layer}} \right) + g_c P_{\text{layer}}",
    source="Zhao et al., PyTorch FSDP, arXiv 2304.11277, section 3.3; FSDP and ZeRO-3 units alive, traced and measured",
)
RESERVE = Formula(
    id="mem.reserve",
    unit="bytes",
    latex=r"f\, M_{\text{step}}",
    source="PyTorch's caching allocator: traces of steps replayed through it lose 3 to 20 % of what comes and goes",
)
CACHED = Formula(
    id="mem.cached",
    unit="bytes",
    latex=r"\min\left( M_{\text{idle}}, C - M_{\text{required}} \right)",
    source="PyTorch's caching allocator keeps blocks of one phase idle in another, and gives them back under pressure",
)
CONTEXT = Formula(
    id="mem.context",
    unit="bytes",
    latex=r"M_{\text{context}}",
    source="CUDA context and kernels under lazy loading: 300 to 600 MiB, assumed; before CUDA 11.7 720 to 1340 MiB",
)
NCCL = Formula(
    id="mem.nccl",
    unit="bytes",
    latex=r"\sum_{\text{groups}} M_{\text{communicator}}",
    source="NVIDIA/nccl issues 964, 864, 391: 544 MB for two GPUs, 688 MB for more (4 x A100, NVLink)",
)
WORKSPACE = Formula(
    id="mem.workspace",
    unit="bytes",
    latex=r"M_{\text{cuBLAS}} + M_{\text{cuBLASLt}}",
    source="cuBLAS 8519680 B a handle (discuss.pytorch.org 178671); cuBLASLt 32 MiB on Hopper, else 4 (PyTorch 120925)",
)

CONTEXT_BYTES = 500 * MIB
CUBLAS_BYTES = 8519680
CUBLASLT_BYTES = 4 * MIB
CUBLASLT_HOPPER_BYTES = 32 * MIB
NCCL_PAIR_BYTES = 544e6
NCCL_GROUP_BYTES = 688e6
FRAGMENTATION = 0.1
"""Reserved beyond allocated memory over what comes and goes within a step: traces of steps replayed through PyTorch's
allocator give 0.03 to 0.2. With recomputation: a layer's kept input lies between blocks that come and go."""
FRAGMENTATION_STREAMS = 0.25
"""Likewise with recomputation where parameters are gathered on a stream of their own, whose blocks no other stream can
reuse (Zhao et al., arXiv 2304.11277, section 3.4)."""
FRAGMENTATION_REPEATED = 0.05
"""Likewise where nothing is recomputed: what a layer saves is asked for once a step, in the same order and sizes, and
finds the blocks of the step before. The low end of those traces; 205 published runs that fill their cards with FSDP
and no recomputation (llm-foundry) leave no room for more than 0.08."""


def gathered(request: Training, path: Path, held: Weights, backward: bool) -> Number:
    """Bytes of unsharded units: the root (embedding, head) and a layer all along; in backward the layer's gradients."""
    layout = request.layout
    if not (layout.sharding.divides_parameters or layout.offload_parameters is not Offload.NONE):
        return 0
    compute = path.bytes.gathered
    layer = layer_elements(request, held)
    found = held.local.ends * compute + layer * _gathered_matrix(path, held)
    if backward and path.trains_base:
        found = found + layer * compute
    whole = layout.shard_degree == 1 if layout.offload_parameters is Offload.NONE else False
    return where(whole, 0, found)


def _gathered_matrix(path: Path, held: Weights) -> float:
    return held.bytes_per_matrix if held.bytes_per_matrix < path.bytes.gathered else float(path.bytes.gathered)


def layer_elements(request: Training, held: Weights) -> Number:
    """Elements of one layer on one GPU, experts included."""
    layers = maximum(1, counts(request.model).layers / request.layout.pipeline_parallel)
    return (held.local.matrices + held.local.experts + held.local.small) / layers


def fragmentation_bytes(request: Training, dynamic: Number) -> Number:
    """Bytes that the allocator holds and cannot give back; `dynamic` is allocated and freed within a step."""
    if request.recompute is not Recompute.FULL:
        return FRAGMENTATION_REPEATED * dynamic
    sharded = request.layout.sharding.divides_parameters
    return (FRAGMENTATION_STREAMS if sharded else FRAGMENTATION) * dynamic


def outside_terms(request: Training) -> tuple[Term, ...]:
    """Memory outside the allocator: context, communicators, library workspaces."""
    layout, gpu = request.layout, request.cluster.gpu
    groups = (layout.data_parallel, layout.tensor_parallel, layout.pipeline_parallel, layout.context_parallel)
    buffers: Number = 0
    for size in groups:
        buffers = buffers + where(size > 2, NCCL_GROUP_BYTES, where(size > 1, NCCL_PAIR_BYTES, 0))
    hopper = (gpu.compute_capability or "0").startswith(("9", "10", "12"))
    workspace = CUBLAS_BYTES + (CUBLASLT_HOPPER_BYTES if hopper else CUBLASLT_BYTES)
    return (CONTEXT.term(CONTEXT_BYTES), NCCL.term(buffers, gpus=layout.gpus), WORKSPACE.term(workspace))
