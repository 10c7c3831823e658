"""What the planner says about each measured quantity of a case."""

import dataclasses
from collections.abc import Callable

from planner.estimate import estimate
from planner.memory.engine import PROFILES
from planner.memory.formats import FORMATS, kv_element_bytes
from planner.memory.kv_cache import INDEX_BYTES, cache_layout
from planner.memory.serving import cache_budget, computing_bytes, kv_capacity_tokens
from planner.memory.serving_weights import weight_split, weights_per_gpu
from planner.parallel import Layout
from planner.result import Estimate, Memory
from planner.validation.case import Case, Quantity
from planner.validation.closed_loop import seen_by_clients
from planner.workload import Engine, Serving, Training

COUNTED_BY_SEQUENCES = (0, 21)
"""vLLM prints tokens as sequences x length from this version on; before, as if every layer attended in full."""


def starts(case: Case, result: Estimate) -> bool:
    """Whether the run would go through. Servers queue what their cache can't hold: one sequence must fit."""
    if isinstance(case.request, Serving) and _preallocates(case.request):
        return bool(estimate(dataclasses.replace(case.request, concurrency=1)).fits)
    return bool(result.fits)


def predictions(case: Case) -> tuple[dict[Quantity, float], Estimate]:
    """Predicted values of the case's quantities, and the estimate they came from; what has no prediction is absent."""
    result = estimate(case.request)
    found = {}
    for quantity in case.measured:
        value = _PREDICTED[quantity](case, result)
        if value is not None and value > 0:
            found[quantity] = float(value)
    return found, result


def _term(memory: Memory, *ids: str) -> float:
    terms = [term for phase in memory.phases[:1] for term in phase.terms] + list(memory.outside)
    return float(sum(term.value for term in terms if term.id in ids))


def _weights(case: Case, result: Estimate) -> float | None:
    request = case.request
    if not isinstance(request, Serving):
        return None
    if not case.whole_machine:
        return _term(result.memory, "mem.serving.weights")
    stored = FORMATS[request.weight_format]
    on_host = PROFILES[request.engine].tables_on_host and Quantity.ACTIVATION in case.measured  # a log, not a file
    split = weight_split(request.model, request.weight_format)
    if PROFILES[request.engine].towers_apart:
        split = dataclasses.replace(split, outside=0.0, outside_divided=0.0)
    return float(
        weights_per_gpu(
            split,
            Layout(),
            tables_on_host=on_host,
            expert_multiples=stored.expert_multiples if request.engine is not Engine.LLAMA_CPP else (1, 1),
        )
    )


def _preallocates(request: Serving) -> bool:
    return request.engine in (Engine.VLLM, Engine.SGLANG, Engine.TENSORRT_LLM)


def _kv_bytes(case: Case, result: Estimate) -> float | None:
    request = case.request
    if not isinstance(request, Serving):
        return None
    if _preallocates(request):
        return float(cache_budget(_idle(request)))
    alone = dataclasses.replace(request, layout=Layout()) if case.whole_machine else request
    memory = estimate(alone).memory if case.whole_machine else result.memory
    return float(sum(t.value for t in memory.phases[-1].terms if t.id == "mem.serving.kv_cache"))


def _idle(request: Serving) -> Serving:
    """The engine as it starts: its cache is sized before any request comes."""
    return dataclasses.replace(request, concurrency=1, input_tokens=1, output_tokens=1, max_model_length=0)


def _kv_tokens(case: Case, result: Estimate) -> float | None:
    request = case.request
    if not isinstance(request, Serving) or not _preallocates(request):
        return None
    idle = _idle(request)
    if request.engine is Engine.VLLM and case.engine_version and case.engine_version < COUNTED_BY_SEQUENCES:
        return float(cache_budget(idle)) / _padded_token_bytes(request)
    length = case.max_length or int(request.model.max_positions or request.context)
    whole = dataclasses.replace(idle, input_tokens=max(1, length - 1))
    return float(kv_capacity_tokens(whole))


def _padded_token_bytes(request: Serving) -> float:
    """Bytes of a token as vLLM counted them: groups of as many layers as the rarest kind has, the last one padded."""
    layout = cache_layout(request.model)
    size = kv_element_bytes(request.kv_dtype, computing_bytes(request))
    kinds = [kind for kind in layout.tokens if not kind.cross]
    group = min((kind.layers for kind in kinds), default=1)
    slots = sum(-(-kind.layers // group) * group for kind in kinds) if len(kinds) > 1 else sum(k.layers for k in kinds)
    widest = max(
        kind.elements * size / min(request.layout.tensor_parallel, kind.heads) + kind.index_elements * INDEX_BYTES
        for kind in kinds
    )
    return float(slots * widest / request.layout.pipeline_parallel)


def _activation(case: Case, result: Estimate) -> float | None:
    request = case.request
    if not isinstance(request, Serving):
        return None
    ids = ("mem.serving.activations", "mem.serving.logits")
    phases = [sum(t.value for t in phase.terms if t.id in ids) for phase in result.memory.phases]
    return float(max(phases)) * (request.layout.gpus if case.whole_machine else 1)


def _outside(*ids: str) -> Callable[[Case, Estimate], float | None]:
    return lambda case, result: _term(result.memory, *ids)


def _engine_other(case: Case, result: Estimate) -> float | None:
    """Libraries and all-reduce buffers: what an engine counts beyond tensors, its context and communicators not."""
    found = 0.0
    for term in result.memory.outside:
        if term.id == "mem.serving.overhead_engine":
            found += float(term.value)
        if term.id == "mem.serving.nccl":
            found += float(term.value)
    return found


def _speed(name: str, training: bool = True) -> Callable[[Case, Estimate], float | None]:
    def read(case: Case, result: Estimate) -> float | None:
        if result.speed is None or (isinstance(case.request, Training) is not training):
            return None
        value = getattr(result.speed, name)
        return None if value is None else float(value)

    return read


def _either(name: str) -> Callable[[Case, Estimate], float | None]:
    return lambda case, result: None if result.speed is None else float(getattr(result.speed, name))


def _decode_rate(case: Case, result: Estimate) -> float | None:
    """Rates of one sequence are told by benchmarks of equal sequences that start together: no prompts in between."""
    if result.speed is None or result.speed.decode_step is None:
        return None
    if case.whole_request and isinstance(case.request, Serving):
        return float(result.speed.tokens_per_second / case.request.concurrency)
    return 1 / float(result.speed.decode_step)


def _client(name: str) -> Callable[[Case, Estimate], float | None]:
    """What a load generator measures; engines that don't queue answer as they are."""

    def read(case: Case, result: Estimate) -> float | None:
        request = case.request
        if not isinstance(request, Serving) or result.speed is None:
            return None
        if not _preallocates(request) or request.output_tokens < 2:
            alone = result.speed.time_to_first_token if name == "first_token" else result.speed.decode_step
            return None if alone is None else float(alone)
        seen = seen_by_clients(request, result)
        return None if seen is None else float(getattr(seen, name))

    return read


def _output_rate(case: Case, result: Estimate) -> float | None:
    """All sequences together. A log that also tells the rate of one sequence counts decoding alone."""
    if result.speed is None:
        return None
    if Quantity.DECODE_RATE in case.measured and isinstance(case.request, Serving):
        rate = _decode_rate(case, result)
        return None if rate is None else rate * float(case.request.concurrency)
    if isinstance(case.request, Serving) and _preallocates(case.request) and case.request.output_tokens > 1:
        seen = seen_by_clients(case.request, result)
        return None if seen is None else seen.output_rate
    return float(result.speed.tokens_per_second)


_PREDICTED: dict[Quantity, Callable[[Case, Estimate], float | None]] = {
    Quantity.ALLOCATED: lambda case, result: float(result.memory.allocated),
    Quantity.RESERVED: lambda case, result: float(result.memory.reserved),
    Quantity.UNSTATED: lambda case, result: float(result.memory.reserved),
    Quantity.DEVICE: lambda case, result: float(result.memory.device),
    Quantity.AFTER: lambda case, result: None,
    Quantity.WEIGHTS: _weights,
    Quantity.KV_TOKENS: _kv_tokens,
    Quantity.KV_BYTES: _kv_bytes,
    Quantity.ACTIVATION: _activation,
    Quantity.ENGINE_OTHER: _engine_other,
    Quantity.GRAPHS: _outside("mem.serving.graphs"),
    Quantity.TOKENS_RATE: _speed("tokens_per_second"),
    Quantity.SAMPLES_RATE: _either("samples_per_second"),
    Quantity.STEP_TIME: _speed("seconds"),
    Quantity.TTFT: _client("first_token"),
    Quantity.TPOT: _client("per_token"),
    Quantity.OUTPUT_RATE: _output_rate,
    Quantity.PREFILL_RATE: _speed("prefill_tokens_per_second", training=False),
    Quantity.DECODE_RATE: _decode_rate,
}
