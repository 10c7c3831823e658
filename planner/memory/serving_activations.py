"""Working memory of a forward pass that keeps nothing for a backward pass: the widest moment of the widest layer.

Without gradients a layer's buffers are freed when the next ones exist, so the peak is one layer's, times the tokens of
one pass. Checked against vLLM's profiled peaks (0.17 to 0.19: CodeLlama-7B 0.77 GiB, Granite-8B 0.85 GiB at 8,192
tokens) and against transformers' peaks in Qwen2.5's tables.
"""

from dataclasses import dataclass
from functools import lru_cache

from planner.memory.serving_weights import text_stacks
from planner.models.spec import FeedForward, Layer, Linear, Mixer, MixtureOfExperts, ModelSpec, Split, StackKind
from planner.numeric import Number, maximum

RESIDUAL_COPIES = 4
"""Hidden-wide buffers alive inside a layer: residual stream, normalised input, the layer's output, one in flight."""

MIXER_COPIES = 2
"""Queries, keys and values exist twice: as projected, and as rotated, contiguous or attended."""

IMAGE_LIVE_SHARE = 0.25
"""Largest share of an image network's layer outputs alive at once. ResNet-50's first stage (three 256-wide maps at a
quarter resolution) is 22 % of all its outputs, a transformer's layer about 6 %; a bound, not a fit."""


@dataclass(frozen=True, slots=True)
class Width:
    """Elements of one token's buffers: `divided` by tensor parallel, and `whole`."""

    divided: float
    whole: float

    def per_rank(self, tensor_parallel: Number) -> Number:
        return self.divided / tensor_parallel + self.whole


@dataclass(frozen=True, slots=True)
class LayerWidths:
    """Buffers of a stack's widest layers. `expert` are those of routed experts, part of `parts` too."""

    hidden: int
    parts: tuple[Width, ...]  # the kinds of mixers and feed-forward parts that the stack has
    expert: Width


@lru_cache(maxsize=512)
def layer_widths(model: ModelSpec) -> LayerWidths:
    """Widths of the stacks that served tokens run through."""
    return _widths([run.layer for stack in text_stacks(model) for run in stack.groups])


@lru_cache(maxsize=512)
def tower_widths(model: ModelSpec) -> LayerWidths | None:
    """Widths of the vision tower in front of a text stack; None without one."""
    tower = model.stack(StackKind.VISION)
    if tower is None or tower in text_stacks(model):
        return None
    return _widths([run.layer for run in tower.groups])


def _widths(layers: list[Layer]) -> LayerWidths:
    parts: dict[Width, None] = {}
    expert = Width(0, 0)
    for layer in layers:
        for part in layer.parts:
            if isinstance(part, FeedForward):
                parts[_feed_forward(part)] = None
            elif isinstance(part, MixtureOfExperts):
                routed = _routed(part)
                expert = max(expert, routed, key=lambda width: width.divided + width.whole)
                shared = _feed_forward(part.shared) if part.shared else Width(0, 0)
                parts[Width(routed.divided + shared.divided, routed.whole + shared.whole)] = None
            else:
                parts[_mixer(part)] = None
    hidden = max((layer.hidden for layer in layers), default=0)
    return LayerWidths(hidden, tuple(parts) or (Width(0, 0),), expert)


def _mixer(mixer: Mixer) -> Width:
    """Outputs of the projections (not of the last one, which is hidden-wide)."""
    inner = [linear for linear in mixer.linears if linear.split is not Split.ROW]
    whole = sum(linear.outputs for linear in inner if linear.split is Split.REPLICATED)
    divided = sum(linear.outputs for linear in inner) - whole
    return Width(MIXER_COPIES * divided, MIXER_COPIES * whole)


def _feed_forward(part: FeedForward) -> Width:
    """What up (and gate) put out, and the product that down takes in."""
    return Width(sum(_inner(linear) for linear in part.linears), 0)


def _routed(part: MixtureOfExperts) -> Width:
    """A token's rows in all the experts it meets, and their outputs. Expert parallel doesn't divide them."""
    inner = sum(_inner(linear) for linear in part.expert.linears)
    return Width(part.top_k * inner, part.top_k * (part.expert.output or part.hidden))


def _inner(linear: Linear) -> int:
    return linear.inputs if linear.split is Split.ROW else linear.outputs


def layer_elements(widths: LayerWidths, *, tensor_parallel: Number = 1, stage_inputs: Number = 0) -> Number:
    """Elements per token at the widest moment of a layer; `stage_inputs` hidden-wide buffers come from a stage before.

    hidden x (4 + stage inputs) + the widest part: gate, up and their product in an MLP; top_k times that and the
    outputs in a mixture of experts; twice the projections in attention.
    """
    widest = maximum(*(part.per_rank(tensor_parallel) for part in widths.parts))
    return widths.hidden * (RESIDUAL_COPIES + stage_inputs) + widest


def expert_elements(widths: LayerWidths, *, tensor_parallel: Number = 1) -> Number:
    """Elements per token of the routed experts' buffers alone; 0 without experts."""
    return widths.expert.per_rank(tensor_parallel)


def image_elements(model: ModelSpec, image_size: Number) -> Number:
    """Elements alive at once for one image of an image network known by its totals; scales with the pixels."""
    if model.image is None:
        return 0
    pixels = maximum(image_size, 1) / model.image.image_size
    return IMAGE_LIVE_SHARE * model.image.activation_elements * pixels * pixels
