"""Time of a training step: every part of it, named; throughput, utilisation, and what bounds it."""

from dataclasses import dataclass

from planner.models.spec import ModelTask, StackKind
from planner.numeric import Number, maximum
from planner.result import InputError, Speed, Term
from planner.throughput import constants, terms
from planner.throughput.communication import shard_ranks
from planner.throughput.gradients import Traffic, data_parallel_traffic
from planner.throughput.image import TRAINING, image_pass, native_scale
from planner.throughput.input_pipeline import exposed_seconds
from planner.throughput.layer_traffic import context_traffic, expert_seconds, pipeline_seconds, tensor_seconds
from planner.throughput.offload import parameter_traffic
from planner.throughput.operators import StackWork, model_work
from planner.throughput.optimizer_step import update_seconds
from planner.throughput.passes import Pass, head_seconds, host_seconds, recomputed_share, stack_pass
from planner.throughput.pipeline import bubble_micro_batches, stage_share
from planner.throughput.precision import Widths, widths
from planner.throughput.roofline import Machine, machine
from planner.throughput.trained import backward_factor, local_parameters, trained_share
from planner.workload import Recompute, Training

TOKEN_BYTES = 8 * 3
"""Bytes copied to the GPU for one token: ids, labels and mask as 64-bit integers."""


@dataclass(frozen=True, slots=True)
class _Micro:
    """Seconds of one micro-batch on the fullest stage, and of its passes."""

    compute: Number
    attention: Number
    elementwise: Number
    recompute: Number
    traffic: Traffic
    forward: Number
    backward: Number
    host: Number

    @property
    def busy(self) -> Number:
        return self.compute + self.attention + self.elementwise + self.recompute + self.traffic.exposed


def training_speed(request: Training) -> Speed | None:
    """Time of one optimizer step and what follows from it. None where the card's peak or bandwidth is unknown.

    Seconds of the slowest rank. Arrays in the request broadcast.
    """
    sizes = widths(request)
    try:
        on = machine(request.cluster.gpu, sizes.compute, True)
    except InputError:
        return None
    micro = _micro_batch(request, on, sizes)
    steps = request.gradient_accumulation_steps
    launch = maximum(0.0, micro.host - micro.busy)
    synchronised = data_parallel_traffic(request, sizes, micro.forward, micro.backward) + parameter_traffic(
        request, sizes, micro.forward, micro.backward
    )
    optimizer = update_seconds(request, on, _updated_parameters(request))
    bubble = bubble_micro_batches(request.layout) * (micro.busy + launch)
    communication = steps * micro.traffic.exposed + synchronised.exposed
    running = steps * (micro.busy + launch) + bubble + synchronised.exposed + optimizer
    waiting = _input_seconds(request, running)
    parts = (
        terms.COMPUTE.term(steps * micro.compute, rate=on.flops, peak=on.peak, dtype=on.dtype),
        terms.ATTENTION.term(steps * micro.attention, rate=on.sixteen_bit_flops),
        terms.ELEMENTWISE.term(steps * micro.elementwise, bandwidth=on.bandwidth),
        terms.RECOMPUTE.term(steps * micro.recompute),
        terms.COMMUNICATION.term(communication),
        terms.BUBBLE.term(bubble),
        terms.OPTIMIZER.term(optimizer, bandwidth=on.bandwidth),
        terms.INPUT.term(waiting),
        terms.LAUNCH.term(steps * launch),
    )
    hidden = (terms.COMMUNICATION.term(steps * micro.traffic.hidden + synchronised.hidden),)
    return _speed(request, on, parts, hidden, running + waiting)


def _speed(request: Training, on: Machine, parts: tuple[Term, ...], hidden: tuple[Term, ...], seconds: Number) -> Speed:
    model_flops, executed = step_flops(request)
    capacity = seconds * on.peak * request.layout.gpus
    samples = request.global_batch_size / seconds
    return Speed(
        parts=parts,
        hidden=hidden,
        samples_per_second=samples,
        tokens_per_second=samples * sequence_tokens(request),
        mfu=model_flops / capacity,
        hfu=executed / capacity,
        model_flops=model_flops,
        status=on.status,
    )


def sequence_tokens(request: Training) -> Number:
    """Tokens of one sample: the sequence's, or the patches of an image at its size."""
    spec = request.model
    if not spec.stacks:
        return 0
    main = model_work(spec).main
    if main.kind is StackKind.VISION:
        return (main.tokens_per_item or 1) * native_scale(spec, request.image_size)
    return request.sequence_length


def step_flops(request: Training) -> tuple[Number, Number]:
    """FLOPs of one step on all GPUs: the model's, and those executed with recomputation.

    PaLM's convention (arXiv:2204.02311, appendix B): 6N and attention in full, no credit for what is recomputed.
    Frozen matrices under adapters count 4N.
    """
    spec, length = request.model, sequence_tokens(request)
    if not spec.stacks:
        assert spec.image is not None
        scale = native_scale(spec, request.image_size)
        forward = 2 * spec.image.multiply_accumulates * scale * request.global_batch_size
        return 3 * forward, 3 * forward
    matrices, attention = _forward_flops(request, length)
    factor, share = backward_factor(request)
    model = matrices * (1 + factor * share) + attention * (1 + 2 * share)
    if request.recompute is Recompute.NONE:
        return model, model
    if request.recompute is Recompute.SELECTIVE:
        return model, model + attention
    return model, model + recomputed_share(request.recompute_every) * (matrices + attention)


def _forward_flops(request: Training, length: Number) -> tuple[Number, Number]:
    """Forward FLOPs of the global batch: products and attention, of every stack that runs."""
    work = model_work(request.model)
    batch = request.global_batch_size
    head = work.head.elements if work.head else 0.0
    matrices = 2 * batch * length * head
    attention: Number = 0.0
    for stack, items, tokens in _stacks(request, length):
        rows = batch * items * tokens
        matrices = matrices + rows * (2 * stack.matrix_elements + stack.scan_flops)
        attention = attention + stack.attention_flops(rows, tokens)
    return matrices, attention


def _stacks(request: Training, length: Number) -> list[tuple[StackWork, Number, Number]]:
    """Stacks that run, with items per sample and tokens per item: the main one, encoders, towers for images."""
    main, *rest = model_work(request.model).stacks
    found = [(main, 1, length)]
    for stack in rest:
        if stack.kind is StackKind.ENCODER and request.model.task in (ModelTask.SEQ2SEQ, ModelTask.SPEECH):
            found.append((stack, 1, stack.tokens_per_item or length))
        elif stack.kind is StackKind.VISION and stack.tokens_per_item:
            found.append((stack, request.images_per_sample, stack.tokens_per_item))
    return found


def _micro_batch(request: Training, on: Machine, sizes: Widths) -> _Micro:
    if not request.model.stacks:
        passes = image_pass(
            request.model, request.micro_batch_size, request.image_size, on, sizes.inner, TRAINING[request.compiled]
        )
        backward = 2 * passes.products + passes.elementwise_backward
        return _Micro(
            compute=3 * passes.products,
            attention=0.0,
            elementwise=passes.elementwise + passes.elementwise_backward,
            recompute=0.0,
            traffic=Traffic(0.0, 0.0),
            forward=passes.forward,
            backward=backward,
            host=sum(constants.HOST_IMAGE) * (constants.HOST_COMPILED if request.compiled else 1.0),
        )
    parts = [_stack_micro(request, on, sizes, *stack) for stack in _stacks(request, sequence_tokens(request))]
    head, loss = _head(request, on)
    factor, _ = backward_factor(request)
    first, *rest = parts
    return _Micro(
        compute=first.compute + (1 + factor) * head + sum(p.compute for p in rest),
        attention=first.attention + sum(p.attention for p in rest),
        elementwise=first.elementwise + loss + sum(p.elementwise for p in rest),
        recompute=first.recompute + sum(p.recompute for p in rest),
        traffic=first.traffic,
        forward=first.forward + head,
        backward=first.backward + factor * head + loss,
        host=first.host + sum(p.host for p in rest),
    )


def _head(request: Training, on: Machine) -> tuple[Number, Number]:
    tokens = request.micro_batch_size * sequence_tokens(request) / request.layout.context_parallel
    sixteen = on if on.dtype != "fp8" else machine(request.cluster.gpu, "bf16", True)
    return head_seconds(request, model_work(request.model), sixteen, tokens)


def _stack_micro(
    request: Training, on: Machine, sizes: Widths, work: StackWork, items: Number, length: Number
) -> _Micro:
    layout = request.layout
    tokens = request.micro_batch_size * items * length / layout.context_parallel
    share = stage_share(work.depth, layout.pipeline_parallel)
    passes = stack_pass(request, work, on, sizes, tokens, length)
    factor, deep = backward_factor(request)
    again, attention_again, runs = _recomputed(request, passes)
    through = tensor_seconds(request, work, tokens) + expert_seconds(request, work, tokens)
    ring = context_traffic(request, work, tokens, passes.attention)
    turns = 1 + deep + runs
    per_stage = share * turns * through
    sent = pipeline_seconds(request, request.model, tokens)
    weights = _weight_seconds(request, on, sizes)
    backward = deep * (factor * passes.products + passes.attention_backward + passes.elementwise_backward)
    return _Micro(
        compute=share * (1 + factor * deep) * passes.products,
        attention=share * (passes.attention + deep * passes.attention_backward),
        elementwise=share * (passes.elementwise + deep * passes.elementwise_backward) + weights,
        recompute=share * deep * (again + attention_again),
        traffic=Traffic(per_stage + sent + share * turns * ring.exposed, share * turns * ring.hidden),
        forward=share * (passes.forward + through),
        backward=share * (backward + deep * (again + attention_again) + through * (deep + runs)),
        host=host_seconds(request, share * work.depth, runs, deep),
    )


def _recomputed(request: Training, passes: Pass) -> tuple[Number, Number, Number]:
    """Seconds computed again in the backward pass, outside and inside attention; share of layers that run again."""
    if request.recompute is Recompute.NONE:
        return 0.0, 0.0, 0.0
    if request.recompute is Recompute.SELECTIVE:
        return 0.0, passes.attention, 0.0
    again = recomputed_share(request.recompute_every)
    return again * (passes.products - passes.last_product + passes.elementwise), again * passes.attention, again


def _weight_seconds(request: Training, on: Machine, sizes: Widths) -> Number:
    """Seconds of a micro-batch spent on whole weights: autocast's copies, and adding gradients up."""
    dense, experts = local_parameters(request)
    held = dense + experts
    trained = trained_share(request) * held
    moved = trained * sizes.gradient * 2.0
    if sizes.stored == 4.0 and sizes.weight == 2.0 and not request.layout.sharding.divides_parameters:
        moved = moved + held * 6.0
    return moved / on.bandwidth


def _updated_parameters(request: Training) -> Number:
    """Trained parameters that one rank updates."""
    dense, experts = local_parameters(request)
    layout = request.layout
    shared = shard_ranks(request.cluster, layout) if layout.sharding.divides_optimizer else 1
    peers = maximum(1, shared / layout.expert_parallel)
    return trained_share(request) * (dense / shared + experts / peers)


def _input_seconds(request: Training, running: Number) -> Number:
    samples = request.micro_batch_size * request.gradient_accumulation_steps
    if model_image(request):
        copied = samples * 3 * request.image_size * request.image_size * 4
    else:
        copied = samples * request.sequence_length * TOKEN_BYTES
    return exposed_seconds(request.input_pipeline, request.cluster, samples, copied, running)


def model_image(request: Training) -> bool:
    """Whether samples are images alone."""
    spec = request.model
    return not spec.stacks or model_work(spec).main.kind is StackKind.VISION
