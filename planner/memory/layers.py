"""What whole layers, and the parts outside them, keep for backward: coefficients cached by model and execution path."""

from dataclasses import dataclass
from functools import lru_cache

from planner.memory.mixers import mixer_saved, score_gradients
from planner.memory.parts import (
    experts_saved,
    feed_forward_peak,
    feed_forward_saved,
    input_linears,
    linear_inputs,
    norm_saved,
)
from planner.memory.path import Path
from planner.memory.saved import NOTHING, Saved
from planner.models.spec import (
    Attention,
    FeedForward,
    LatentAttention,
    Layer,
    Linear,
    Mixer,
    MixtureOfExperts,
    ModelSpec,
    ModelTask,
    Split,
    Stack,
    StackKind,
)
from planner.workload import MethodKind

INDEX = 8  # bytes of a token index


def _readers(part: Mixer | FeedForward | MixtureOfExperts) -> tuple[Linear, ...]:
    """The products that read a part's input from the residual stream."""
    if isinstance(part, FeedForward):
        return input_linears(part)
    if isinstance(part, MixtureOfExperts):
        return (part.router, *(input_linears(part.shared) if part.shared else ()))
    if isinstance(part, Attention | LatentAttention):
        return tuple(
            linear for linear in part.linears if linear.inputs == part.hidden and linear.split is not Split.ROW
        )
    return tuple(linear for linear in part.linears if linear.inputs == part.hidden)


@dataclass(frozen=True, slots=True)
class LayerSaved:
    """Coefficients of one layer."""

    kept: Saved  # without recomputation
    attention_core: Saved  # of `kept`, what selective recomputation makes again
    boundary: Saved  # the layer's input: all that full recomputation keeps
    feed_forward: Saved  # of `kept`, what is gone once the feed-forward parts are through their backward pass
    feed_forward_extra: Saved  # beyond `kept` at the worst moment of the feed-forward backward pass
    scores_extra: Saved  # likewise of unfused attention
    gradients: Saved  # of the residual stream, always there


def _part_saved(path: Path, part: Mixer | FeedForward | MixtureOfExperts, vision: bool) -> Saved:
    if isinstance(part, FeedForward):
        return feed_forward_saved(path, part)
    if isinstance(part, MixtureOfExperts):
        return experts_saved(path, part)
    return mixer_saved(path, part, vision)


def _feed_forward_extra(path: Path, part: FeedForward | MixtureOfExperts) -> float:
    """Bytes per token beyond what is saved, at the worst moment of its backward pass."""
    if isinstance(part, FeedForward):
        saved = feed_forward_saved(path, part)
        return max(0.0, feed_forward_peak(path, part) - saved.split)
    extra = max(0.0, feed_forward_peak(path, part.expert) - feed_forward_saved(path, part.expert).split)
    return part.top_k * extra


@lru_cache(maxsize=4096)
def layer_saved(path: Path, layer: Layer, vision: bool = False) -> LayerSaved:
    """The coefficients of one layer on an execution path."""
    source, parts = path.bytes.residual, layer.parts
    kept = Saved(whole=sum(norm_saved(path, norm, source) for norm in layer.norms))
    feed_forward = NOTHING
    if layer.parallel and layer.norms:  # all of them keep one input
        kept += Saved(whole=-source * layer.hidden * (len(layer.norms) - 1))
    for index, part in enumerate(parts):
        # Parallel parts read one norm's result; what they save of it is shared, unless each casts it.
        held = index > 0 and len(layer.norms) < len(parts)
        found = linear_inputs(path, layer.hidden, source, _readers(part), held) + _part_saved(path, part, vision)
        kept += found
        if not isinstance(part, Mixer):
            feed_forward += found
        if path.dropout:
            kept += Saved(whole=layer.hidden)
    for linear in layer.extra_linears:
        kept += linear_inputs(path, linear.inputs, source, (linear,))
    if path.method is MethodKind.ADAPTER:  # two bottlenecks: input, and both sides of the activation
        size = path.bytes.trained
        kept += Saved(whole=2 * size * layer.hidden, rank=4 * size)
    return LayerSaved(
        kept=kept,
        attention_core=Saved(scores=kept.scores),
        boundary=Saved(whole=source * layer.hidden),
        feed_forward=feed_forward,
        feed_forward_extra=Saved(split=sum(_feed_forward_extra(path, part) for part in layer.feed_forwards)),
        scores_extra=Saved(scores=max((score_gradients(path, part) for part in layer.mixers), default=0.0)),
        gradients=Saved(whole=2 * source * layer.hidden),
    )


def tokens_of(stack: Stack, spec: ModelSpec) -> bool:
    """Whether the workload's tokens run through `stack` (else its own tokens per image or clip do)."""
    return stack is spec.text_stack or stack.kind in (StackKind.DECODER, StackKind.ENCODER)


@lru_cache(maxsize=2048)
def outside_saved(path: Path, spec: ModelSpec) -> tuple[Saved, Saved]:
    """What is kept before the layers (first stage) and behind them (last stage), logits left out."""
    source, hidden = path.bytes.residual, spec.hidden
    norms = [norm for stack in spec.stacks if tokens_of(stack, spec) for norm in stack.norms]
    if spec.text_stack and spec.task in (ModelTask.CAUSAL_LM, ModelTask.MULTIMODAL):
        before, behind = NOTHING, [*norms, *spec.norms]
    else:
        before, behind = Saved(whole=sum(norm_saved(path, norm, source) for norm in spec.norms)), norms
    after = Saved(whole=sum(norm_saved(path, norm, source) for norm in behind))
    if spec.head:
        after += linear_inputs(path, hidden, source, (spec.head,))
    if spec.task is ModelTask.ENCODER and not spec.head:
        # A masked-language-model head transforms first: inputs of product, GELU and norm, and the norm's result.
        after += Saved(whole=(3 * path.bytes.compute + source) * hidden)
    return before + Saved(whole=INDEX + (hidden if path.dropout else 0)), after
