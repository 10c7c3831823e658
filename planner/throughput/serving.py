"""Time of serving: prefill as compute, decoding as memory traffic, the engine's own costs, at a given concurrency."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planner.hardware.attainable import executed_dtype
from planner.hardware.types import Gpu
from planner.models.spec import ModelTask, StackKind
from planner.numeric import Number, maximum, minimum
from planner.result import InputError, Speed, Term
from planner.throughput import constants, terms
from planner.throughput.communication import all_reduce, all_to_all, expert_group, pipeline_group, send, tensor_group
from planner.throughput.image import DEFAULT_IMAGE, INFERENCE, image_pass, native_scale
from planner.throughput.operators import AttentionCore, ModelWork, Product, StackWork, model_work
from planner.throughput.roofline import Machine, eager_seconds, flash_seconds, gemm_seconds, machine, product_seconds
from planner.throughput.serving_constants import (
    ATTENTION_BANDWIDTH,
    ENGINES,
    HALF_SUMS_SHARE,
    SMALL_LATENCY,
    EngineCosts,
)
from planner.workload import AttentionImplementation, Serving

if TYPE_CHECKING:
    from planner.memory.formats import WeightFormat

ENCODERS = (ModelTask.VISION, ModelTask.ENCODER, ModelTask.EMBEDDING)
"""Tasks that end with the prompt: one pass, nothing decoded."""
EAGER_SCORE_BYTES = 24.0
"""Bytes moved per stored score: the product writes it, the softmax reads and writes it, the second product reads it,
and the copies between layouts; fp32. Chunks of the prompt meet half of it on average."""
FUSED_ELEMENTWISE = 14.0
"""Bytes moved per hidden element and layer by an engine's fused norms, rotary embedding and activations, one pass."""


@dataclass(frozen=True, slots=True)
class _Step:
    """Seconds of one pass over all layers (every pipeline stage in turn), by cause."""

    compute: Number
    attention: Number
    memory: Number
    elementwise: Number
    communication: Number
    launch: Number

    @property
    def seconds(self) -> Number:
        return self.compute + self.attention + self.memory + self.elementwise + self.communication + self.launch

    def times(self, count: Number) -> "_Step":
        """The same pass `count` times."""
        return _Step(
            count * self.compute,
            count * self.attention,
            count * self.memory,
            count * self.elementwise,
            count * self.communication,
            count * self.launch,
        )

    def __add__(self, other: "_Step") -> "_Step":
        return _Step(
            self.compute + other.compute,
            self.attention + other.attention,
            self.memory + other.memory,
            self.elementwise + other.elementwise,
            self.communication + other.communication,
            self.launch + other.launch,
        )


@dataclass(frozen=True, slots=True)
class _Run:
    """What every pass of a request shares."""

    request: Serving
    work: ModelWork
    on: Machine  # in the format's compute dtype
    sixteen: Machine  # in 16 bits: attention, head, what the format leaves alone
    format: "WeightFormat"
    costs: EngineCosts

    @property
    def tensor(self) -> Number:
        return self.request.layout.tensor_parallel


def serving_speed(request: Serving) -> Speed | None:
    """Time of one round: `concurrency` prompts read, then their output tokens decoded together.

    None where the card's peak or bandwidth is unknown. Time to first token and per output token are those of a closed
    loop: `concurrency` clients, each of which asks again when answered (`_closed_loop`).
    """
    try:
        run = _run(request)
    except InputError:
        return None
    layout = request.layout
    sequences = maximum(1, request.concurrency / layout.data_parallel)
    if not request.model.stacks:
        return _image_speed(run, sequences)
    stages = layout.pipeline_parallel
    prefill = _prompt(run, 1)
    together = minimum(sequences, maximum(1, request.max_batched_tokens / maximum(1, request.input_tokens)))
    reading = _prompt(run, together).times(sequences / together / stages)
    if request.model.task in ENCODERS:
        return _encoder_speed(run, prefill.seconds, reading, sequences)
    context = request.input_tokens + request.output_tokens / 2
    step = _token(run, maximum(1, sequences / stages), context)
    total = reading + step.times(request.output_tokens)
    first, per_token = _closed_loop(run, prefill.seconds, reading.seconds, step.seconds, sequences)
    replicas = layout.data_parallel
    parts = _parts(total)
    seconds = total.seconds
    return Speed(
        parts=parts,
        samples_per_second=replicas * sequences / seconds,
        tokens_per_second=replicas * sequences * request.output_tokens / seconds,
        mfu=_flops(run, sequences) * replicas / (seconds * run.on.peak * layout.gpus),
        model_flops=_flops(run, sequences) * replicas,
        time_to_first_token=run.costs.request + first,
        time_per_output_token=per_token,
        decode_step=step.seconds,
        prefill_tokens_per_second=replicas * request.input_tokens * _prompts_at_once(run, sequences) / prefill.seconds,
        status=run.on.status,
    )


def _closed_loop(run: _Run, prompt: Number, reading: Number, step: Number, sequences: Number) -> tuple[Number, Number]:
    """Seconds to the first token, and for each further one, when every answered client asks again at once.

    A request's cycle holds the prompts of all clients (`reading`) and its own decode steps. Prompts share the passes
    that read them, so a prompt takes p / (1 - rho), rho the share of time spent on the others' prompts (processor
    sharing, Kleinrock 1976, section 4.4); engines that put prompts first let more of them wait. What of the reading
    isn't waited for before the first token falls between tokens. Each prompt also waits for the decode step in
    progress.
    """
    output_tokens = run.request.output_tokens
    others = reading * (1 - 1 / sequences)
    share = others / (reading + output_tokens * step)
    shared = minimum(prompt / maximum(1e-9, 1 - share), reading + prompt)
    first = maximum(shared, prompt + run.costs.prompts_first * others)
    between = maximum(0.0, reading - first)
    return first + step, step + between / maximum(1, output_tokens)


def _prompts_at_once(run: _Run, sequences: Number) -> Number:
    """Pipeline stages that prompts keep busy: m micro-batches on s stages run m s / (m + s - 1) at once."""
    stages = run.request.layout.pipeline_parallel
    tokens = maximum(1, sequences * run.request.input_tokens)
    if run.costs.micro_batch:
        pieces = maximum(1, minimum(tokens, run.costs.logical_batch) / run.costs.micro_batch)
    else:
        pieces = maximum(sequences, tokens / run.request.max_batched_tokens)
    return pieces * stages / (pieces + stages - 1)


def _run(request: Serving) -> _Run:
    from planner.memory.formats import FORMATS

    weight_format = FORMATS[request.weight_format]
    gpu = request.cluster.gpu
    sixteen = machine(gpu, _float_dtype(request))
    costs = ENGINES[request.engine]
    try:
        on = _halves(gpu, sixteen) if costs.unpacks else machine(gpu, weight_format.compute)
    except InputError:  # no units for the format: engines unpack weights and compute in 16 bits
        on = sixteen
    return _Run(request, model_work(request.model), on, sixteen, weight_format, costs)


def _halves(gpu: Gpu, sixteen: Machine) -> Machine:
    """llama.cpp's products: FP16 sums, half the INT8 rate, which GeForce cards run at twice the rate of FP32 sums."""
    if "int8" not in gpu.peaks:
        return sixteen
    return replace(sixteen, flops=HALF_SUMS_SHARE * machine(gpu, "int8").flops / 2)


def _float_dtype(request: Serving) -> str:
    """The 16-bit dtype products run in; FP32 where the weights are."""
    gpu = request.cluster.gpu
    if request.weight_format == "fp32":
        return "fp32"
    return "fp16" if executed_dtype(gpu, "bf16") == "fp32" and "fp16" in gpu.peaks else "bf16"


def _prompt(run: _Run, prompts: Number) -> _Step:
    """One pass over `prompts` prompts together, with the encoders and towers that feed it."""
    request = run.request
    main, *rest = run.work.stacks
    if main.kind is StackKind.VISION:
        size = (main.tokens_per_item or 1) * native_scale(request.model, request.image_size or DEFAULT_IMAGE)
        return _read(run, main, prompts, size)
    step = _read(run, main, prompts, request.input_tokens)
    for stack in rest:
        if stack.kind is StackKind.ENCODER and request.model.task in (ModelTask.SEQ2SEQ, ModelTask.SPEECH):
            step = step + _read(run, stack, prompts, stack.tokens_per_item or request.input_tokens)
        elif stack.kind is StackKind.VISION and stack.tokens_per_item:
            step = step + _read(run, stack, prompts * request.images_per_request, stack.tokens_per_item)
    return step


def _read(run: _Run, work: StackWork, items: Number, length: Number) -> _Step:
    """One pass of a stack over `items` sequences of `length` tokens, bound by arithmetic when long."""
    tokens = items * length
    arithmetic = _products(run, work, tokens) / run.costs.prefill_share
    attention = sum(_attention(run, core, tokens, length) for core in work.cores)
    moved = _elementwise(run, work, tokens)
    head = _head(run, items)
    busy = arithmetic + attention + moved + head
    return _Step(arithmetic, attention, head, moved, _communication(run, work, tokens), _launch(run, work, busy))


def _attention(run: _Run, core: AttentionCore, queries: Number, keys: Number) -> Number:
    """Seconds of attention over prompts: fused, or with every score stored in fp32, read and written three times."""
    if run.request.attention is AttentionImplementation.EAGER:
        return eager_seconds(run.sixteen, core, queries, keys / 2, 1 / run.tensor, EAGER_SCORE_BYTES)
    return flash_seconds(run.sixteen, core, queries, keys, 1 / run.tensor)


def _token(run: _Run, sequences: Number, context: Number) -> _Step:
    """One decode step: a token of each sequence, bound by reading the weights and the cache of `context` tokens."""
    work = run.work.main
    hbm = run.costs.hbm_share if "HBM" in run.request.cluster.gpu.memory_type else 1.0
    memory = _products(run, work, sequences) / hbm + _cache(run, work, sequences, context) + _head(run, sequences)
    moved = _elementwise(run, work, sequences)
    launch = _launch(run, work, memory + moved)
    return _Step(0.0, 0.0, memory, moved, _communication(run, work, sequences), launch)


def _elementwise(run: _Run, work: StackWork, tokens: Number) -> Number:
    return FUSED_ELEMENTWISE * work.depth * work.hidden * tokens / run.sixteen.streaming


def _products(run: _Run, work: StackWork, tokens: Number) -> Number:
    """Seconds of the layers' products for `tokens` tokens: arithmetic, or reading the weights where that is longer."""
    experts = run.request.layout.expert_parallel
    total: Number = 0.0
    for product in work.products:
        on, weight_bytes = _storage(run, product)
        total = total + product_seconds(on, product, tokens, run.tensor, experts, 2.0, weight_bytes)
    return total


def _storage(run: _Run, product: Product) -> tuple[Machine, float]:
    """The machine that computes a product, and bytes of one of its weights."""
    stored = run.format
    if product.role in ("router", "shared_gate") or (stored.experts_only and not product.routed):
        return run.sixteen, stored.other_bytes
    width = stored.matrix_bits(product.inputs, product.outputs, routed=product.routed) / 8
    if width < 1.5 and (stored.compute in ("bf16", "fp16") or run.costs.unpacks):
        return run.on, width / run.costs.unpacked_share  # unpacked on the way: bandwidth is not all used
    return run.on, width


def _head(run: _Run, tokens: Number) -> Number:
    if run.work.head is None:
        return 0.0
    from planner.memory.serving_weights import weight_split

    head = run.work.head
    stored = weight_split(run.request.model, run.request.weight_format).head / head.elements
    return gemm_seconds(run.sixteen, tokens, head.inputs, head.outputs / run.tensor, 2.0, stored)


def _cache(run: _Run, work: StackWork, sequences: Number, keys: Number) -> Number:
    """Seconds of one decode step's attention: reading the cache, or its arithmetic where that takes longer."""
    from planner.memory.formats import kv_element_bytes

    width = kv_element_bytes(run.request.kv_dtype, 4 if run.request.weight_format == "fp32" else 2)
    reading: Number = 0.0
    for core in work.cores:
        moved = core.layers * core.cache_elements * core.span(keys) * sequences * width / _cache_split(core, run.tensor)
        if run.costs.copies_cache:  # appends by copying, then repeats keys and values to every head
            moved = moved * (3 + 2 * core.heads / core.kv_heads)
        flops = core.layers * _decode_flops(core) * core.span(keys) * sequences / run.tensor
        reading = reading + maximum(moved / (run.sixteen.bandwidth * ATTENTION_BANDWIDTH), flops / run.sixteen.flops)
    state = 2 * 4 * work.state_elements * sequences / run.tensor / run.sixteen.bandwidth  # fp32, read and written
    return reading + state


def _decode_flops(core: AttentionCore) -> int:
    """FLOPs of one query against one cached token; the latent is met by every head (absorbed projections)."""
    return 4 * core.heads * core.cache_elements if core.latent else core.flops_per_pair


def _cache_split(core: AttentionCore, tensor: Number) -> Number:
    """Ways that tensor parallel divides a cache: up to the key/value heads; a latent is held by every rank."""
    return 1 if core.latent else minimum(tensor, core.kv_heads)


def _communication(run: _Run, work: StackWork, tokens: Number) -> Number:
    """Two all-reduces a layer; two all-to-alls a routed layer; a send between stages."""
    request = run.request
    layout, cluster = request.layout, request.cluster
    group = tensor_group(cluster, layout)
    message = 2.0 * tokens * work.hidden
    once = all_reduce(group, message)
    fabric = SMALL_LATENCY["nvlink" if cluster.gpu.nvlink_bandwidth else "pcie"]
    quick = fabric + 2 * (group.ranks - 1) / group.ranks * message / group.bandwidth
    inside = group.ranks <= group.local
    reduced = 2 * work.depth * minimum(once, inside * quick + (1 - inside) * once)
    exchanged: Number = 0.0
    if work.routed_layers:
        active = max(p.active for p in work.products if p.routed)
        share = expert_group(cluster, layout)
        exchanged = 2 * work.routed_layers * all_to_all(share, message, active)
    hops = (layout.pipeline_parallel - 1) * send(pipeline_group(cluster, layout), message)
    return reduced + exchanged + hops


def _launch(run: _Run, work: StackWork, busy: Number) -> Number:
    """Seconds of a pass beyond arithmetic and memory: kernels' starts, or the host where it is slower."""
    costs = run.costs
    kernels = work.depth * costs.kernels + work.routed_layers * costs.routed_kernels
    graph = kernels * constants.LAUNCH_SECONDS + costs.hop * (run.request.layout.pipeline_parallel - 1)
    if run.request.cuda_graphs and not costs.host_bound:
        return graph + costs.step
    quantised = run.format.compute not in ("fp32", "fp16") and run.format.bits < 16
    host = work.depth * (costs.host_layer + quantised * costs.quantised_host)
    return maximum(graph, host - busy) + costs.step


def _flops(run: _Run, sequences: Number) -> Number:
    """FLOPs of a round on one replica: every token through the products, attention over the growing context."""
    request, main = run.request, run.work.main
    tokens = request.input_tokens + request.output_tokens
    head = run.work.head.elements * request.output_tokens if run.work.head else 0.0
    products = 2 * (tokens * main.matrix_elements + head)
    return sequences * (products + main.attention_flops(tokens, tokens / 2))


def _parts(step: _Step) -> tuple[Term, ...]:
    return (
        terms.COMPUTE.term(step.compute),
        terms.ATTENTION.term(step.attention),
        terms.MEMORY.term(step.memory),
        terms.ELEMENTWISE.term(step.elementwise),
        terms.COMMUNICATION.term(step.communication),
        terms.LAUNCH.term(step.launch),
    )


def _encoder_speed(run: _Run, first: Number, reading: _Step, sequences: Number) -> Speed:
    """One pass and done: embeddings, classifications, image features."""
    parts = _parts(reading)
    per_second = run.request.layout.data_parallel * sequences / reading.seconds
    tokens = per_second * run.request.input_tokens
    return Speed(
        parts=parts,
        samples_per_second=per_second,
        tokens_per_second=tokens,
        time_to_first_token=first,
        prefill_tokens_per_second=tokens,
        status=run.on.status,
    )


def _image_speed(run: _Run, images: Number) -> Speed:
    """A batch of images through a network that is known by its totals."""
    request = run.request
    passed = image_pass(
        request.model, images, request.image_size or DEFAULT_IMAGE, run.sixteen, 2.0, INFERENCE[request.cuda_graphs]
    )
    step = _Step(passed.products, 0.0, 0.0, passed.elementwise, 0.0, run.costs.step)
    parts = _parts(step)
    return Speed(
        parts=parts,
        samples_per_second=request.layout.data_parallel * images / step.seconds,
        time_to_first_token=step.seconds,
        status=run.on.status,
    )
