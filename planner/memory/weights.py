"""Weights on one GPU: by dtype or quantised format, and by what divides them; and what autocast and FSDP add."""

from dataclasses import dataclass

from planner.memory.adapters import adapter_parameters
from planner.memory.path import Path
from planner.memory.sharding import Local, Stage, divided, local
from planner.numeric import Number
from planner.parallel import Offload
from planner.result import Formula
from planner.workload import BaseFormat, MethodKind, Training

WEIGHTS = Formula(
    id="mem.weights",
    unit="bytes",
    latex=r"\frac{1}{N_{\text{shard}}} \left( w \frac{P_{\text{split}}}{t} + w P_{\text{whole}} \right)",
    source="Rajbhandari et al., ZeRO, arXiv 1910.02054, section 3.1; Shoeybi et al., arXiv 1909.08053, section 3",
)
COPIES = Formula(
    id="mem.weights.copies",
    unit="bytes",
    latex=r"2 P_{\text{matrices}}",
    source="torch.autocast keeps a 16-bit copy of each fp32 weight until its region ends, and while backward needs it",
)

FORMAT_BYTES = {
    BaseFormat.NF4: 0.5 + 1 / 64 + 4 / (64 * 256),  # 4 bit, an 8-bit scale for 64 values, an fp32 one for 256 scales
    BaseFormat.INT8: 1.0,  # a scale a row is negligible
    BaseFormat.GPTQ4: 0.5 + (2 + 0.5) / 128,  # 4 bit, a 16-bit scale and a 4-bit zero point for 128 values
}
"""Bytes per element of a quantised matrix. Sources: QLoRA, arXiv 2305.14314, section 3; GPTQ, arXiv 2210.17323."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Elements and bytes on one GPU of a stage, before and after ZeRO or FSDP."""

    local: Local
    bytes_per_matrix: float  # of an element of a layer's matrices
    bytes_per_other: float
    base: Number  # bytes, divided
    adapter: Number  # bytes, divided
    copies: Number  # bytes of autocast's 16-bit copies of all matrices
    head_copy: Number
    trained: Number  # elements with a gradient and optimizer states, not divided
    trained_experts: Number


def weights(request: Training, path: Path, stage: Stage) -> Weights:
    """Weights of `stage`: the base model's, the adapters', and the 16-bit copies that autocast makes."""
    elements, b, layout = local(request, stage), path.bytes, request.layout
    matrix: float = b.weight
    other: float = b.weight
    if path.method is MethodKind.QLORA:
        matrix = FORMAT_BYTES[request.method.base_format]
        other = 4 if request.method.kbit_upcast else b.compute
    dense = elements.matrices * matrix + (elements.small + elements.ends) * other
    experts = elements.experts * matrix
    added = adapter_parameters(request, path, stage)
    base, adapter = dense + experts, added * b.trained
    if layout.sharding.divides_parameters:
        base, adapter = divided(layout, dense, experts), divided(layout, adapter, 0)
    if layout.offload_parameters is not Offload.NONE:
        base = base * 0
    head = _head(request, stage)
    head_copy = head if b.weight_copies or b.output > b.compute else 0
    trained, experts_trained = (elements.dense, elements.experts) if path.trains_base else (added, 0)
    if path.method is MethodKind.FROZEN:
        share = trained_share(request)
        trained = (elements.matrices + elements.small) * share + head
        experts_trained = elements.experts * share
    return Weights(
        local=elements,
        bytes_per_matrix=matrix,
        bytes_per_other=other,
        base=base,
        adapter=adapter,
        copies=((elements.matrices + elements.experts) * b.weight_copies + head_copy) * b.compute,
        head_copy=head_copy * b.compute,
        trained=trained,
        trained_experts=experts_trained,
    )


def _head(request: Training, stage: Stage) -> Number:
    """Elements of the output head that the loss multiplies with, tied or not."""
    head = request.model.head
    return head.parameters * stage.last / request.layout.tensor_parallel if head else 0


def trained_share(request: Training) -> Number:
    """Share of the layers that is trained where the first `frozen_layers` are not."""
    stack = request.model.text_stack
    depth = stack.depth if stack else 1
    return 1 - request.method.frozen_layers / depth
