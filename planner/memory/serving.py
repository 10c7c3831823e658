"""Memory of a serving GPU: will these sequences fit, how many would, and how many tokens the cache can hold."""

import dataclasses
from dataclasses import dataclass

from planner.memory import engine as engines
from planner.memory.engine import PROFILES, Profile
from planner.memory.formats import FORMATS, kv_element_bytes
from planner.memory.kv_cache import INDEX_BYTES, CacheLayout, cache_layout, kv_bytes, state_bytes
from planner.memory.serving_activations import (
    expert_elements,
    image_elements,
    layer_elements,
    layer_widths,
    tower_widths,
)
from planner.memory.serving_weights import stage_share, weight_split, weights_per_gpu
from planner.models.spec import ModelTask, StackKind
from planner.numeric import Number, ceil_div, maximum, minimum, round_up, where
from planner.result import Formula, Memory, Phase, Term, total
from planner.workload import AttentionImplementation, Engine, Serving

_LOGS = "vLLM 0.19 start-up logs on H100, planner.memory.engine"

WEIGHTS = Formula(
    id="mem.serving.weights",
    unit="bytes",
    latex=r"\frac{L_{stage}}{L}\left(\frac{W_{tp}}{t}+\frac{W_{kv}}{\min(t,h_{kv})}+W_{rep}+\frac{W_{exp}}{e}\right)+W_{edge}",
    source="planner.memory.formats; Megatron-LM, arXiv:1909.08053, section 3",
)
KV_CACHE = Formula(
    id="mem.serving.kv_cache",
    unit="bytes",
    latex=r"n\sum_{l}\min(s,w_l)\,\frac{h_{kv}(d_k+d_v)\,b}{\min(t,h_{kv})}",
    source="layer description; exact against transformers 5.24, within 0.2 % of vLLM logs",
)
RECURRENT = Formula(
    id="mem.serving.recurrent",
    unit="bytes",
    latex=r"n\,\frac{4\,S+b\,C}{t}",
    source="layer description; exact against transformers 5.24",
)
ACTIVATIONS = Formula(
    id="mem.serving.activations",
    unit="bytes",
    latex=r"T\,b\left(4h+\max\left(\tfrac{3f}{t},\tfrac{2(q+k+v)}{t},k_{top}(\tfrac{3f_e}{t}+h)\right)\right)",
    source="planner.memory.serving_activations",
)
LOGITS = Formula(
    id="mem.serving.logits", unit="bytes", latex=r"n_{sampled}\,V\,b_{logit}", source="planner.memory.engine"
)
BATCH = Formula(
    id="mem.serving.batch",
    unit="bytes",
    latex=r"16\,n\,s",
    source="token ids and slots, two 64-bit integers for each token",
)
RESERVE = Formula(
    id="mem.serving.reserve",
    unit="bytes",
    latex="0",
    source="the cache is one pool allocated at start: nothing left to fragment",
)
CONTEXT = Formula(id="mem.serving.context", unit="bytes", latex="M_{context}", source=_LOGS)
LIBRARIES = Formula(id="mem.serving.overhead_engine", unit="bytes", latex="M_{libraries}", source=_LOGS)
NCCL = Formula(id="mem.serving.nccl", unit="bytes", latex="M_{communicators}+M_{all-reduce}", source=_LOGS)
GRAPHS = Formula(
    id="mem.serving.graphs", unit="bytes", latex=r"0.1\,\mathrm{GiB}+n_{sizes}(a+b\,L_{stage})", source=_LOGS
)
UNUSED = Formula(
    id="mem.serving.reserve_fraction",
    unit="bytes",
    latex=r"\max(0,(1-f)M-M_{uncounted})",
    source="vLLM gpu_memory_utilization, SGLang mem_fraction_static: of total; TensorRT-LLM: of free memory",
)

BATCH_BYTES_PER_TOKEN = 16
MOST_SEQUENCES = 1 << 20


@dataclass(frozen=True, slots=True)
class _Sizes:
    """Counts that several terms share, for the fullest GPU."""

    sequences: Number  # on one replica
    tokens: Number  # a complete sequence keeps in the decoder, on one context-parallel rank
    encoder_tokens: Number
    pass_tokens: Number  # tokens of one forward pass
    sampled: Number  # tokens whose logits exist at once


def serving_memory(request: Serving) -> Memory:
    """Memory of the fullest GPU with `concurrency` complete sequences in flight, in bytes.

    Phases: loaded weights; reading prompts (the widest layer over one pass of tokens); decoding (logits of the sampled
    tokens). An engine that preallocates its cache takes more: `cache_budget` is what it would take.
    """
    profile, capacity = PROFILES[request.engine], request.cluster.gpu.memory_bytes
    phases = _phases(request, profile, _cache_terms(request, profile))
    outside, inside = _outside(request, profile)
    unused = _unused(request, profile, phases, outside, inside)
    return Memory(
        phases=phases,
        reserve=RESERVE.term(0),
        outside=(*inside, *outside, UNUSED.term(unused, fraction=request.memory_fraction, capacity=capacity)),
        capacity=capacity,
    )


def cache_budget(request: Serving) -> Number:
    """Bytes per GPU that the engine has for keys, values and recurrent states; negative where it cannot start.

    vLLM: fraction x total - weights - activations - libraries. SGLang: fraction x total - weights, if the rest holds
    activations and graphs. TensorRT-LLM: fraction x free. llama.cpp, transformers: what is left.
    """
    profile, capacity = PROFILES[request.engine], request.cluster.gpu.memory_bytes
    phases = _phases(request, profile, ())
    outside, inside = _outside(request, profile)
    unused = _unused(request, profile, phases, outside, inside)
    peak = maximum(*(phase.total for phase in phases))
    return capacity - unused - total(outside) - total(inside) - peak


def sequence_bytes(request: Serving) -> Number:
    """Bytes per GPU of one complete sequence: keys and values in whole blocks, and recurrent states."""
    profile = PROFILES[request.engine]
    return total(_cache_terms(dataclasses.replace(request, concurrency=1, max_model_length=0), profile))


def kv_capacity_tokens(request: Serving) -> Number:
    """Tokens whose keys and values one replica can hold, in sequences of the request's full length.

    cache budget x length / bytes of one sequence; for plain attention it does not depend on the length. It is vLLM's
    "GPU KV cache size" from 0.21 on (before: as if every layer attended in full). 0 where the engine cannot start.
    """
    budget, one = cache_budget(request), sequence_bytes(request)
    return where(one > 0, maximum(0, budget) * request.context // maximum(one, 1), 0)


def largest_concurrency(request: Serving) -> Number:
    """Most complete sequences in flight on all GPUs that fit; 0 where not even one does. By bisection, exact."""
    low: Number = 0 * (request.context + request.layout.gpus)
    high: Number = low + MOST_SEQUENCES
    for _ in range(MOST_SEQUENCES.bit_length()):
        middle = (low + high + 1) // 2
        memory = serving_memory(dataclasses.replace(request, concurrency=middle))
        fits = memory.required <= memory.capacity
        low, high = where(fits, middle, low), where(fits, high, middle - 1)
    return low


def _sizes(request: Serving, profile: Profile) -> _Sizes:
    model, layout = request.model, request.layout
    sequences = maximum(1, ceil_div(request.concurrency, layout.data_parallel))
    decoder, encoder = _sequence_tokens(request)
    read = sequences * request.input_tokens
    batched = profile.prefill_tokens or request.max_batched_tokens
    pass_tokens = read if profile.whole_prompts else batched
    sampled: Number = maximum(sequences, profile.logit_rows)
    if profile.profiles_most_sequences:
        sampled = minimum(engines.most_sequences(request.cluster.gpu, sequences), maximum(batched, sequences))
    if model.task is ModelTask.EMBEDDING or model.head is None:
        sampled = 0 * sampled
    return _Sizes(sequences, ceil_div(decoder, layout.context_parallel), encoder, pass_tokens, sampled)


def _sequence_tokens(request: Serving) -> tuple[Number, Number]:
    """Tokens of a complete sequence in the decoder and in front of cross-attention."""
    model = request.model
    encoder = model.stack(StackKind.ENCODER) or model.stack(StackKind.AUDIO)
    crossed = any(kind.cross for kind in cache_layout(model).tokens)
    if not crossed:
        return request.context, 0
    if encoder is not None:
        return request.output_tokens, encoder.tokens_per_item or request.input_tokens
    tower = model.stack(StackKind.VISION)
    return request.context, request.images_per_request * (tower.tokens_per_item or 0 if tower else 0)


def computing_bytes(request: Serving) -> int:
    """Bytes of an activation: fp32 where the weights are served in fp32, else 16 bits."""
    return 4 if FORMATS[request.weight_format].compute == "fp32" else 2


def _block_tokens(request: Serving, profile: Profile, layout: CacheLayout) -> int:
    """Tokens of one cache block. vLLM gives hybrids blocks as large as a recurrent layer's state (Qwen3.5: 784)."""
    largest = layout.largest
    if request.engine is not Engine.VLLM or not layout.recurrent_layers or largest is None:
        return profile.block_tokens
    state = state_bytes(request.model) / layout.recurrent_layers
    per_token = largest.elements * kv_element_bytes(request.kv_dtype, computing_bytes(request))
    return int(round_up(int(-(-state // per_token)), profile.block_tokens))


def _cache_terms(request: Serving, profile: Profile) -> tuple[Term, ...]:
    model, layout, tp = request.model, cache_layout(request.model), request.layout.tensor_parallel
    sizes, size = _sizes(request, profile), computing_bytes(request)
    stage = stage_share(layout.depth, request.layout.pipeline_parallel)
    terms: tuple[Term, ...] = ()
    if layout.tokens:
        block = _block_tokens(request, profile, layout)

        def held(tokens: Number) -> Number:
            return kv_bytes(
                model,
                tokens,
                request.kv_dtype,
                tensor_parallel=tp,
                encoder_tokens=sizes.encoder_tokens,
                block_tokens=block,
                window_slack=profile.window_slack,
                auto_bytes=size,
            )

        longest = ceil_div(request.max_model_length, request.layout.context_parallel)
        value = maximum(sizes.sequences * held(sizes.tokens), held(longest)) * stage
        terms = (KV_CACHE.term(value, sequences=sizes.sequences, tokens=sizes.tokens, kv_dtype=request.kv_dtype),)
    if layout.recurrent_layers:
        convolution = maximum(size, profile.activation_bytes)  # llama.cpp keeps convolution states in fp32 too
        state = sizes.sequences * state_bytes(model, tensor_parallel=tp, convolution_bytes=convolution) * stage
        terms = (*terms, RECURRENT.term(state, sequences=sizes.sequences, tensor_parallel=tp))
    return terms


def _phases(request: Serving, profile: Profile, cache: tuple[Term, ...]) -> tuple[Phase, ...]:
    model, layout = request.model, request.layout
    split = weight_split(model, request.weight_format)
    if profile.towers_apart:  # loaded only for requests that bring images
        seen = minimum(1, request.images_per_request)
        split = dataclasses.replace(split, outside=split.outside * seen, outside_divided=split.outside_divided * seen)
    weights = WEIGHTS.term(
        weights_per_gpu(
            split,
            layout,
            tables_on_host=profile.tables_on_host,
            expert_multiples=FORMATS[request.weight_format].expert_multiples,
        ),
        format=request.weight_format,
        tensor_parallel=layout.tensor_parallel,
        pipeline_parallel=layout.pipeline_parallel,
    )
    load = Phase("load", (weights,))
    if model.components:  # no sound bound on a diffusion pipeline's activations is known: left out
        return (load,)
    sizes = _sizes(request, profile)
    if model.image is not None and not model.stacks:
        size = image_elements(model, request.image_size or model.image.image_size) * sizes.sequences
        image = ACTIVATIONS.term(size * computing_bytes(request), images=sizes.sequences)
        return (load, Phase("prefill", (weights, image)))
    return (load, *_token_phases(request, profile, sizes, weights, cache))


def _token_phases(
    request: Serving, profile: Profile, sizes: _Sizes, weights: Term, cache: tuple[Term, ...]
) -> tuple[Phase, Phase]:
    model, layout, tp = request.model, request.layout, request.layout.tensor_parallel
    size = maximum(profile.activation_bytes, computing_bytes(request))
    widths, tokens = layer_widths(model), sizes.pass_tokens
    layer = layer_elements(
        widths, tensor_parallel=tp, stage_inputs=where(layout.pipeline_parallel > 1, engines.HIDDEN_COPIES, 0)
    )
    unpacked = _layer_cache_bytes(request, sizes) if profile.unpacks_cache and _packed(request) else 0
    tower = _tower_bytes(request)
    stored = _score_bytes(request, tokens, sizes.tokens)
    prefill = ACTIVATIONS.term(maximum(size * tokens * layer + unpacked + stored, tower), tokens=tokens, elements=layer)

    decoding_tokens = sizes.sequences if profile.whole_prompts else tokens
    hidden = engines.HIDDEN_COPIES * widths.hidden + expert_elements(widths, tensor_parallel=tp)
    copied = _layer_cache_bytes(request, sizes) / 2 if profile.grows_by_copy else 0  # keys, then values
    decode = ACTIVATIONS.term(size * decoding_tokens * hidden + copied, tokens=decoding_tokens, elements=hidden)
    bytes_each = profile.logit_bytes + (size - 2 if profile.activation_bytes == 2 else 0)
    logits = LOGITS.term(sizes.sampled * model.vocabulary * bytes_each, sampled=sizes.sampled, bytes=bytes_each)
    batch = BATCH.term(
        BATCH_BYTES_PER_TOKEN * sizes.sequences * sizes.tokens, sequences=sizes.sequences, tokens=sizes.tokens
    )
    return (
        Phase("prefill", (weights, *cache, prefill, batch)),
        Phase("decode", (weights, *cache, decode, logits, batch)),
    )


def _score_bytes(request: Serving, queries: Number, keys: Number) -> Number:
    """fp32 attention scores of one pass in one layer, where they are stored whole (no fused attention)."""
    if request.attention is not AttentionImplementation.EAGER:
        return 0
    stack = request.model.text_stack
    heads = [getattr(m, "heads", 0) for run in stack.runs for m in run.layer.mixers] if stack else []
    longest = maximum(keys, request.max_model_length)
    return 4 * queries * longest * max(heads, default=0) / request.layout.tensor_parallel


def _packed(request: Serving) -> bool:
    return bool(kv_element_bytes(request.kv_dtype, 2) < 2)


def _layer_cache_bytes(request: Serving, sizes: _Sizes) -> Number:
    """16-bit keys and values of one layer of the widest kind, for all sequences of the replica."""
    largest = cache_layout(request.model).largest
    if largest is None:
        return 0
    kept = sizes.tokens if largest.window is None else minimum(sizes.tokens, largest.window)
    width = largest.elements / minimum(request.layout.tensor_parallel, largest.heads)
    return 2 * sizes.sequences * kept * (width + largest.index_elements * INDEX_BYTES / 2)


def _tower_bytes(request: Serving) -> Number:
    """Activations of a vision tower for one request's images; 0 for requests without images."""
    tower, widths = request.model.stack(StackKind.VISION), tower_widths(request.model)
    if tower is None or widths is None:
        return 0
    tokens = request.images_per_request * (tower.tokens_per_item or 0)
    return computing_bytes(request) * tokens * layer_elements(widths, tensor_parallel=request.layout.tensor_parallel)


def _outside(request: Serving, profile: Profile) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Terms beyond the tensors: those that no memory fraction counts, and those that vLLM's does."""
    gpu, layout = request.cluster.gpu, request.layout
    several = layout.tensor_parallel * layout.pipeline_parallel * layout.context_parallel > 1
    start = where(several, engines.NCCL_START_BYTES, 0) if request.engine is not Engine.LLAMA_CPP else 0 * several
    context = CONTEXT.term(profile.context_bytes + start, context=profile.context_bytes, communicators=start)
    outside = [context]
    if profile.captures_graphs and request.cuda_graphs and not request.model.image:
        depth = weight_split(request.model, request.weight_format).depth
        layers = ceil_div(depth, layout.pipeline_parallel)
        outside.append(GRAPHS.term(engines.graph_bytes(request.engine, gpu, layers), layers=layers))
    inside = [LIBRARIES.term(profile.library_bytes)]
    if request.engine is not Engine.LLAMA_CPP:
        inside.append(NCCL.term(engines.all_reduce_bytes(gpu, layout.tensor_parallel), tp=layout.tensor_parallel))
    return tuple(outside), tuple(inside)


def _unused(
    request: Serving, profile: Profile, phases: tuple[Phase, ...], outside: tuple[Term, ...], inside: tuple[Term, ...]
) -> Number:
    """Idle bytes by the engine's fraction. The cache takes no part in them."""
    cached = total(term for term in phases[-1].terms if term.formula in (KV_CACHE, RECURRENT))
    loaded = phases[0].total
    without_cache = maximum(loaded, *(phase.total - cached for phase in phases[1:])) if phases[1:] else loaded
    return engines.unused_bytes(
        profile,
        request.memory_fraction,
        request.cluster.gpu.memory_bytes,
        outside=total(outside),
        everything=without_cache + total(outside) + total(inside),
        activations=without_cache - loaded + total(inside),
    )
