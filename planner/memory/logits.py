"""Logits and loss: the region that sets the peak of large vocabularies. Counted from PyTorch's cross-entropy."""

from dataclasses import dataclass
from functools import lru_cache

from planner.memory.activations import stack_tokens
from planner.memory.path import Path
from planner.memory.sharding import Stage
from planner.models.spec import ModelSpec, ModelTask
from planner.numeric import Number, minimum, where
from planner.result import Formula
from planner.workload import LossPath, Training

LOGITS = Formula(
    id="mem.logits",
    unit="bytes",
    latex=r"\beta_{\text{loss}} \, b s V / t",
    source="bytes per logit alive at once in transformers' loss functions, traced with PyTorch 2.13's autograd",
)


@dataclass(frozen=True, slots=True)
class LossBytes:
    """Bytes per logit: at the worst moment of the forward pass and of the loss's backward pass."""

    forward: float
    backward: float
    shifted: float = 0.0  # more in the forward pass where more than one sequence is shifted, which copies


_LOW = {
    # 16-bit logits 2, fp32 copy 4, log-probabilities 4; backward two fp32 gradients beside the log-probabilities.
    LossPath.TRANSFORMERS_5: LossBytes(10, 12),
    LossPath.TRANSFORMERS_4_46: LossBytes(10, 12, 4),
    LossPath.TRANSFORMERS_4_44: LossBytes(8, 12, 4),
    LossPath.NO_UPCAST: LossBytes(4, 6),
    LossPath.IN_PLACE: LossBytes(6, 8),  # 16-bit logits, their fp32 copy that becomes the gradient, and its 16-bit copy
}
_AUTOCAST_NO_UPCAST = LossBytes(8, 10)  # cross-entropy is on autocast's fp32 list
_SOFTCAP = 1  # tensors in the compute dtype that a tanh of the logits keeps

_KERNELS = (LossPath.FUSED, LossPath.CHUNKED, LossPath.IN_PLACE)
UPCASTING = frozenset({ModelTask.CAUSAL_LM, ModelTask.MULTIMODAL})
"""Only transformers' causal losses raise logits to fp32; masked-language-model and classification losses don't."""


@lru_cache(maxsize=256)
def loss_bytes(loss: LossPath, path: Path, softcap: bool) -> LossBytes:
    """Bytes per logit on an execution path."""
    if loss in (LossPath.FUSED, LossPath.CHUNKED):
        found = _LOW[LossPath.TRANSFORMERS_5]
    elif path.bytes.compute == 4:
        found = LossBytes(4, 4) if loss is LossPath.IN_PLACE else LossBytes(8, 12, _LOW[loss].shifted)
    elif loss is LossPath.NO_UPCAST and path.bytes.autocast:
        found = _AUTOCAST_NO_UPCAST
    else:
        found = _LOW[loss]
    kept = _SOFTCAP * path.bytes.compute if softcap else 0
    return LossBytes(found.forward + kept, found.backward + kept, found.shifted)


def logit_count(request: Training) -> Number:
    """Logits of one micro-batch on one GPU of the last stage; tensor parallel divides the vocabulary."""
    model = request.model
    width = vocabulary_of(model, request.fine_tuning)
    if not width or model.text_stack is None:
        return request.micro_batch_size * width
    tokens, _ = stack_tokens(request, model.text_stack)
    rows = request.micro_batch_size if model.task in (ModelTask.VISION, ModelTask.SPEECH) else tokens
    return rows * width / request.layout.tensor_parallel


def vocabulary_of(model: ModelSpec, fine_tuning: bool) -> int:
    """Logits per token: the head's outputs; an encoder without one predicts masked tokens, unless it is fine-tuned."""
    if model.head:
        return model.head.outputs
    return model.vocabulary if model.task is ModelTask.ENCODER and not fine_tuning else 0


def logits(request: Training, path: Path, stage: Stage) -> tuple[Number, Number]:
    """Bytes of the loss region at the peak of the forward pass, and at the peak of the loss's backward pass."""
    loss = request.loss
    if request.model.task not in UPCASTING and loss not in _KERNELS:
        loss = LossPath.NO_UPCAST
    each = loss_bytes(loss, path, request.model.logit_softcap)
    count = logit_count(request) * stage.last
    if request.loss is LossPath.FUSED:
        # Liger takes rows in chunks of hidden / vocabulary of them, so that a chunk's logits are as large as its input.
        count = count * minimum(1, request.model.hidden / max(1, vocabulary_of(request.model, request.fine_tuning)))
    elif request.loss is LossPath.CHUNKED:
        count = count / request.loss_chunks
    forward = each.forward + (where(request.micro_batch_size > 1, each.shifted, 0) if each.shifted else 0)
    return forward * count, each.backward * count
