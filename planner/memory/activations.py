"""Saved activations of a stage, by recomputation and micro-batches in flight, and one layer's working set."""

import dataclasses
from dataclasses import dataclass

from planner.memory.layers import LayerSaved, layer_saved, outside_saved
from planner.memory.path import Path
from planner.memory.saved import Shape
from planner.memory.sharding import Stage
from planner.models.spec import Attention, Layer, ModelTask, Stack, StackKind
from planner.numeric import Number, maximum, minimum, where
from planner.parallel import Sharding
from planner.result import Formula
from planner.workload import AttentionImplementation, MethodKind, Recompute, Training

ACTIVATIONS = Formula(
    id="mem.activations",
    unit="bytes",
    latex=r"m \left( \sum_{\text{layers}} b s \left( A_{\text{whole}} / t_{\text{sp}} + A_{\text{split}} / t"
    r" + A_{\text{kv}} / \min(t, n_{kv}) + B s / t \right) + A_{\text{outside}} \right)",
    source="tensors that PyTorch's autograd saves, operator by operator; Korthikanti et al., arXiv 2205.05198, eq. 1-4",
)
RECOMPUTED = Formula(
    id="mem.activations.recomputed",
    unit="bytes",
    latex=r"\max_{\text{moments}} \left( A_{\text{layer}} + G_{\text{moment}} \right)",
    source="one layer made again for its backward pass, and the gradients alive at that pass's worst moment",
)

CONVOLUTION_TENSORS = 2.0  # batch norm keeps its input, the activation its result: two of each convolution's output
IMAGE_TOKENS_SIDE = 224  # pixels a side that `tokens_per_item` counts, where the configuration doesn't say


@dataclass(frozen=True, slots=True)
class Activations:
    """Bytes on one GPU of a stage."""

    saved: Number  # at the end of the forward pass
    working: Number  # beyond `saved`, in one layer's backward pass
    held: Number = 0  # beyond `saved`, collected over the backward pass


def image_scale(request: Training) -> Number:
    """Pixels of the request's images over those that the model's figures are for."""
    config = request.model.config
    size = config.get("image_size") if request.model.image is None else request.model.image.image_size
    side = size if isinstance(size, int) else IMAGE_TOKENS_SIDE
    return (request.image_size / side) ** 2


def stack_tokens(request: Training, stack: Stack) -> tuple[Number, Number]:
    """Tokens of one micro-batch on one GPU in `stack`, and keys that a query meets.

    An image model's tokens follow the image's pixels; towers and audio encoders have as many as they are built for.
    """
    model, batch = request.model, request.micro_batch_size
    if stack is model.text_stack and stack.kind is StackKind.VISION:
        each = (stack.tokens_per_item or 0) * image_scale(request)
        return batch * each, each
    if stack.kind in (StackKind.VISION, StackKind.AUDIO) and stack is not model.text_stack:
        items = request.images_per_sample if model.task is ModelTask.MULTIMODAL else 1
        fixed = stack.tokens_per_item or 0
        return batch * items * fixed, fixed
    length = request.sequence_length
    if stack is not model.text_stack and stack.tokens_per_item:
        length = stack.tokens_per_item
    return batch * length / request.layout.context_parallel, length


def shape_of(request: Training, stack: Stack) -> Shape:
    """What the coefficients of `stack`'s layers meet."""
    layout, method = request.layout, request.method
    tokens, keys = stack_tokens(request, stack)
    width = method.bottleneck if method.kind is MethodKind.ADAPTER else method.rank
    return Shape(tokens=tokens, keys=keys, tensor=layout.tensor_parallel, sequence=layout.residual_split, rank=width)


def _kept(request: Training, coefficients: LayerSaved, shape: Shape) -> tuple[Number, Number]:
    """Bytes that one layer keeps until its backward pass, and that recomputation then makes again."""
    every = coefficients.kept.bytes(shape)
    if request.recompute is Recompute.NONE:
        return every, 0
    if request.recompute is Recompute.SELECTIVE:
        core = coefficients.attention_core.bytes(shape)
        return every - core, core
    boundary = coefficients.boundary.bytes(shape)
    share = 1 / request.recompute_every
    return boundary * share + every * (1 - share), every


def working(coefficients: LayerSaved, shape: Shape) -> Number:
    """Bytes beyond a layer's saved tensors at the worst moment of its backward pass."""
    moment = coefficients.feed_forward_extra.bytes(shape)
    if coefficients.scores_extra.scores:
        attention = coefficients.scores_extra.bytes(shape) - coefficients.feed_forward.bytes(shape)
        moment = maximum(moment, attention)
    return moment + coefficients.gradients.bytes(shape)


def _layer(request: Training, path: Path, layer: Layer, vision: bool, shape: Shape) -> tuple[Number, Number]:
    """Bytes that one layer keeps, and its working set in backward.

    Sequences longer than a sliding window need a mask in PyTorch's own attention, which then takes another kernel.
    """
    coefficients = layer_saved(path, layer, vision)
    kept, remade = _kept(request, coefficients, shape)
    found = kept, remade + working(coefficients, shape)
    windows = [part.window for part in layer.mixers if isinstance(part, Attention) and part.window]
    if not windows or path.padding_mask or path.attention is not AttentionImplementation.SDPA:
        return found
    masked = _layer(request, dataclasses.replace(path, padding_mask=True), layer, vision, shape)
    beyond = shape.keys > min(windows)
    return where(beyond, masked[0], found[0]), where(beyond, masked[1], found[1])


def activations(request: Training, path: Path, stage: Stage) -> Activations:
    """Saved activations of `stage`, and the working set of the layer that needs most.

    FSDP waits for the gradients of a frozen unit's inputs by a hook (register_multi_grad_hook) that keeps them until
    the backward pass ends: one residual stream a layer. Measured with adapters on 7B and 70B models.
    """
    if request.model.image is not None and not request.model.stacks:
        return _image_activations(request, path)
    saved: Number = 0
    peak: Number = 0
    held: Number = 0
    holds = not path.trains_base and request.layout.sharding in (Sharding.FSDP, Sharding.HSDP)
    for stack in request.model.stacks:
        tower = stack.kind in (StackKind.VISION, StackKind.AUDIO) and stack is not request.model.text_stack
        if stack.kind is StackKind.MTP or (tower and not path.trains_base):  # a frozen tower keeps nothing
            continue
        shape = shape_of(request, stack)
        for run in stack.groups:
            vision = stack.kind is StackKind.VISION
            kept, work = _layer(request, path, run.layer, vision, shape)
            saved = saved + kept * _trained(request, run.count)
            peak = maximum(peak, work)
            if holds:
                held = held + layer_saved(path, run.layer, vision).boundary.bytes(shape) * run.count
    if request.model.text_stack is None:
        return Activations(saved, peak, held)
    before, behind = outside_saved(path, request.model)
    shape = shape_of(request, request.model.text_stack)
    saved = saved * stage.share + before.bytes(shape) * stage.first
    return Activations(saved * stage.in_flight + behind.bytes(shape) * stage.last, peak, held * stage.share)


def _trained(request: Training, count: int) -> Number:
    """Layers of a run that keep anything: frozen ones before the first trained one keep nothing."""
    if request.method.kind is not MethodKind.FROZEN or request.model.text_stack is None:
        return count
    depth = request.model.text_stack.depth
    return count * (1 - minimum(request.method.frozen_layers, depth) / depth)


def _image_activations(request: Training, path: Path) -> Activations:
    """A convolutional network by its activation count."""
    image = request.model.image
    elements = (image.activation_elements if image else 0) * image_scale(request) * request.micro_batch_size
    saved = CONVOLUTION_TENSORS * path.bytes.compute * elements
    return Activations(saved, 0)
