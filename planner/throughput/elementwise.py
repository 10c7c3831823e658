"""Norms, activations, residual sums, rotary embeddings, losses: bytes they move, forward and backward.

They do next to no arithmetic, so their time is bytes over bandwidth. Eager kernels read and write every intermediate;
compiled or fused ones read inputs and write outputs once.
"""

from dataclasses import dataclass

from planner.numeric import Number
from planner.throughput.operators import Elementwise
from planner.workload import LossPath


@dataclass(frozen=True, slots=True)
class Passes:
    """Bytes moved per element, forward and backward, in units of an inner or a residual element."""

    rms_norm: tuple[float, float]  # bytes: mixes fp32 and 16-bit passes
    layer_norm: tuple[float, float]  # residual elements
    gated: tuple[float, float]  # inner elements
    activation: tuple[float, float]
    residual: tuple[float, float]  # residual elements
    rotary: tuple[float, float]


EAGER = Passes((36, 60), (2, 4), (5, 9), (2, 3), (3, 2), (11, 11))
"""Counted by kernel from PyTorch and transformers: RMSNorm upcasts, squares, averages, scales and casts back in
separate kernels; rotary embedding slices, negates, concatenates, multiplies twice and adds."""
FUSED = Passes((8, 14), (2, 4), (3, 5), (2, 3), (1, 1), (2, 2))
"""torch.compile: one kernel per chain, the residual sum inside the norm."""

DROPOUT = (3.5, 2.5)
"""Inner elements moved per residual element by dropout: read, write, one-byte mask."""
CAST = 6.0
"""Bytes of casting one element between fp32 and 16 bits."""
QUANTISE = 1.0
"""Bytes of quantising one element to FP8: written beside what the norm or activation before it writes anyway
(Transformer Engine fuses the two)."""
ROUTING = (4.0, 5.0)
"""Inner elements moved per routed element, forward and backward: tokens gathered by expert, the experts' outputs put
back and weighed (read and write each); backward the same and the router's gradient. No compiler fuses them."""

LOSS: dict[LossPath, float] = {
    LossPath.TRANSFORMERS_5: 30.0,
    LossPath.TRANSFORMERS_4_46: 36.0,
    LossPath.TRANSFORMERS_4_44: 30.0,
    LossPath.NO_UPCAST: 14.0,
    LossPath.IN_PLACE: 22.0,  # 16-bit logits, their fp32 copy overwritten by the gradient, and its 16-bit copy
    LossPath.FUSED: 10.0,
    LossPath.CHUNKED: 30.0,
}
"""Bytes moved per logit, forward and backward together: upcast, log-softmax, its gradient, downcast."""


def elementwise_bytes(
    elements: Elementwise,
    residual_bytes: float,
    inner_bytes: float,
    fused: bool,
    split: Number,
    residual_split: Number,
    dropout: bool,
) -> tuple[Number, Number]:
    """Bytes per token of all layers, forward and backward, on one rank.

    `split` divides what tensor parallel divides (activations, rotary); `residual_split` what sequence parallel does.
    """
    passes = FUSED if fused else EAGER
    moved = []
    for way in (0, 1):
        stream = (
            passes.rms_norm[way] * elements.rms_norm
            + residual_bytes * (passes.layer_norm[way] * elements.layer_norm + passes.residual[way] * elements.residual)
            + dropout * inner_bytes * DROPOUT[way] * elements.residual
        )
        inner = inner_bytes * (
            passes.gated[way] * elements.gated
            + passes.activation[way] * elements.activation
            + passes.rotary[way] * elements.rotary
            + ROUTING[way] * elements.routed
        )
        moved.append(stream / residual_split + inner / split)
    return moved[0], moved[1]
