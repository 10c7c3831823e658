"""Optimizer states, and what an optimizer step allocates beside them. Traced from torch.optim's own code."""

from dataclasses import dataclass

from planner.memory.path import Path
from planner.memory.sharding import counts, divided
from planner.memory.weights import Weights
from planner.numeric import Number, minimum
from planner.parallel import Offload
from planner.result import Formula
from planner.workload import OptimizerKind, Training

OPTIMIZER = Formula(
    id="mem.optimizer",
    unit="bytes",
    latex=r"\left( k_{\text{states}} s + m \right) P_{\text{trained}} / N_{\text{shard}}",
    source="torch.optim and bitsandbytes state layouts; Rajbhandari et al., arXiv 1910.02054, section 3.1",
)
TEMPORARY = Formula(
    id="mem.optimizer.temporary",
    unit="bytes",
    latex=r"c_{\text{all}} s P_{\text{trained}} / N_{\text{shard}} + c_{\text{one}} s P_{\text{largest}}",
    source="temporaries of torch.optim's step: foreach copies a state of all tensors, the loop that of one tensor",
)

_K = OptimizerKind
BLOCKWISE = 1 + 4 / 256  # bytes of an 8-bit state: a byte, and an fp32 scale for 256 values


@dataclass(frozen=True, slots=True)
class Rule:
    """States and step temporaries of one optimizer."""

    states: float = 0.0  # in the state dtype
    fixed: float = 0.0  # bytes per parameter, whatever the dtype
    factored: bool = False  # row and column factors instead of whole states
    all_tensors: float = 0.0  # temporary copies of everything trained, in the state dtype
    largest: float = 0.0  # temporary copies of the largest tensor, in the state dtype
    largest_fp32: float = 0.0  # likewise in fp32, made only for 16-bit parameters


RULES = {
    _K.ADAMW: Rule(states=2, all_tensors=1),
    _K.ADAMW_FUSED: Rule(states=2),
    _K.ADAMW_LOOP: Rule(states=2, largest=2),
    _K.ADAMW_8BIT: Rule(fixed=2 * BLOCKWISE),
    # Paged states live in unified memory and leave the GPU under pressure.
    _K.PAGED_ADAMW_8BIT: Rule(),
    _K.PAGED_ADAMW: Rule(),
    _K.ADAFACTOR: Rule(factored=True, largest=1),
    _K.ADAFACTOR_FOREACH: Rule(factored=True, all_tensors=1),
    _K.ADAFACTOR_HF: Rule(factored=True, largest=2, largest_fp32=3),
    _K.LION: Rule(states=1, largest=1),
    # A momentum for matrices; embeddings, head and vectors are AdamW's. Newton-Schulz holds three 16-bit copies.
    _K.MUON: Rule(states=1, largest=1.5),
    _K.SGD: Rule(),
    _K.SGD_MOMENTUM: Rule(states=1),
}


def _second_moment(held: Weights) -> Number:
    """Elements that Muon leaves to AdamW."""
    return held.local.ends + held.local.small


def state_bytes(request: Training, path: Path, held: Weights) -> Number:
    """Bytes of optimizer states and master weights on one GPU."""
    rule, b, layout = RULES[request.optimizer], path.bytes, request.layout
    each = rule.states * b.state + rule.fixed + b.master
    dense, experts = held.trained * each, held.trained_experts * each
    if rule.factored:
        share = (held.trained + held.trained_experts) / _all(request)
        dense = dense + counts(request.model).factored * minimum(1, share) * b.state
    if request.optimizer is _K.MUON and path.trains_base:
        dense = dense + _second_moment(held) * b.state
    if layout.offload_optimizer is not Offload.NONE:
        return (dense + experts) * 0
    return divided(layout, dense, experts) if layout.sharding.divides_optimizer else dense + experts


def temporary_bytes(request: Training, path: Path, held: Weights) -> Number:
    """Bytes that one step allocates and frees again."""
    rule, b, layout = RULES[request.optimizer], path.bytes, request.layout
    if layout.offload_optimizer is not Offload.NONE:
        return 0
    if b.master and request.optimizer is _K.ADAMW:
        return 0  # Megatron's and DeepSpeed's step is one fused kernel
    low = b.state == 2
    one = rule.largest * b.state + (rule.largest_fp32 * 4 if low else 0)
    dense, experts = held.trained * rule.all_tensors * b.state, held.trained_experts * rule.all_tensors * b.state
    if one:
        dense = dense + minimum(counts(request.model).largest, held.trained + held.trained_experts) * one
    return divided(layout, dense, experts) if layout.sharding.divides_optimizer else dense + experts


def _all(request: Training) -> float:
    return float(max(1, request.model.total_parameters))
