"""Checks that span several fields: layouts that cannot be, and combinations that no framework runs."""

from collections.abc import Callable

from planner.hardware import links
from planner.hardware.capability import computes
from planner.hardware.types import Gpu
from planner.memory.formats import FORMATS
from planner.models.spec import ModelTask, Stack
from planner.parallel_rules import (
    divides,
    divisible,
    expert_group,
    heads_replicate,
    sequence_divides,
    stages_have_layers,
)
from planner.plan.plan import Plan
from planner.result import Problem
from planner.throughput.precision import compute_dtype
from planner.workload import TrainingPrecision


def problems_of(plan: Plan) -> tuple[Problem, ...]:
    """Everything that makes a resolved plan impossible, each naming the field, its value and what would do."""
    return tuple(problem for check in _CHECKS for problem in check(plan))


def _degrees(plan: Plan) -> dict[str, int]:
    names = ("tensor_parallel", "pipeline_parallel", "context_parallel", "expert_parallel")
    return {name: plan.values[name] if plan.uses(name) else 1 for name in names}


def _gpus_are_the_product(plan: Plan) -> list[Problem]:
    degree, gpus = _degrees(plan), plan.values["gpus"]
    product = degree["tensor_parallel"] * degree["pipeline_parallel"] * degree["context_parallel"]
    if divides(gpus, product):
        return []
    field = max(("tensor_parallel", "pipeline_parallel", "context_parallel"), key=lambda name: degree[name])
    return [Problem("gpus-not-a-multiple", field, degree[field], {"gpus": gpus, "product": product})]


def _stack(plan: Plan) -> Stack | None:
    return plan.spec.text_stack


def _tensor_parallel_divides(plan: Plan) -> list[Problem]:
    degree = _degrees(plan)["tensor_parallel"]
    if degree == 1:
        return []
    parts = divisible(plan.spec)
    if not parts.layered:
        return [Problem("not-divisible-model", "tensor_parallel", degree)]
    for heads in parts.heads:
        if not divides(heads, degree):
            allowed = [d for d in range(1, min(heads, 64) + 1) if divides(heads, d)]
            return [Problem("not-dividing-heads", "tensor_parallel", degree, {"heads": heads, "allowed": allowed})]
    for kv_heads in parts.kv_heads:
        if not heads_replicate(kv_heads, degree):
            return [Problem("not-dividing-kv-heads", "tensor_parallel", degree, {"kv_heads": kv_heads})]
    return []


def _pipeline_has_layers(plan: Plan) -> list[Problem]:
    degree, depth = _degrees(plan)["pipeline_parallel"], divisible(plan.spec).depth
    chunks = plan.values["virtual_stages"] if plan.uses("virtual_stages") else 1
    if stages_have_layers(depth, degree, chunks):
        return []
    return [Problem("more-stages-than-layers", "pipeline_parallel", degree, {"layers": depth, "chunks": chunks})]


def _experts_divide(plan: Plan) -> list[Problem]:
    degree = _degrees(plan)
    experts = degree["expert_parallel"]
    if experts == 1:
        return []
    for stored in divisible(plan.spec).experts:
        if not divides(stored, experts):
            return [Problem("not-dividing-experts", "expert_parallel", experts, {"experts": stored})]
    tensor, pipeline = degree["tensor_parallel"], degree["pipeline_parallel"]
    group = expert_group(plan.values["gpus"], tensor, pipeline, plan.values["task"] == "serve")
    if not divides(group, experts):
        return [Problem("not-dividing-group", "expert_parallel", experts, {"group": group})]
    return []


def _context_divides(plan: Plan) -> list[Problem]:
    degree = _degrees(plan)["context_parallel"]
    if degree == 1 or sequence_divides(plan.values["sequence_length"], degree):
        return []
    length = plan.values["sequence_length"]
    return [Problem("not-dividing-sequence", "context_parallel", degree, {"sequence_length": length})]


def _length_within_positions(plan: Plan) -> list[Problem]:
    """Learned position tables end; rotary ones are only warned about elsewhere."""
    table = next((t for t in plan.spec.embeddings if t.role == "position"), None)
    if table is None or not plan.uses("sequence_length" if plan.values["task"] != "serve" else "input_tokens"):
        return []
    if plan.values["task"] == "serve":
        field, length = "input_tokens", plan.values["input_tokens"] + plan.values["output_tokens"]
    else:
        field, length = "sequence_length", plan.values["sequence_length"]
    if length <= table.rows:
        return []
    return [Problem("longer-than-positions", field, length, {"positions": table.rows})]


def _group_divides(plan: Plan) -> list[Problem]:
    if not plan.uses("shard_group"):
        return []
    degree = _degrees(plan)
    product = degree["tensor_parallel"] * degree["pipeline_parallel"]
    ranks = max(1, plan.values["gpus"] // product)
    if divides(ranks, plan.values["shard_group"]):
        return []
    return [Problem("not-dividing-ranks", "shard_group", plan.values["shard_group"], {"ranks": ranks})]


def trains_in(gpu: Gpu, precision: str) -> bool:
    """Whether a GPU has the arithmetic of a training precision."""
    return computes(gpu, compute_dtype(TrainingPrecision(precision)))


def _precision_exists(plan: Plan) -> list[Problem]:
    """A precision that the GPU has no arithmetic for is refused, not emulated."""
    if plan.values["task"] == "serve":
        return []
    gpu, precision = plan.card, plan.values["precision"]
    if trains_in(gpu, precision):
        return []
    dtype = compute_dtype(TrainingPrecision(precision))
    return [Problem("precision-not-on-gpu", "precision", precision, {"gpu": gpu.name, "dtype": dtype})]


def _link_exists(plan: Plan) -> list[Problem]:
    """A link that the card does not have is refused."""
    if plan.uses("link") and plan.values["link"] == "nvlink" and not links.has_fabric(plan.card):
        return [Problem("no-nvlink", "link", "nvlink", {"gpu": plan.card.name})]
    return []


def _frozen_layers_exist(plan: Plan) -> list[Problem]:
    stack = _stack(plan)
    depth, frozen = (stack.depth if stack else 0), plan.values["frozen_layers"]
    if not plan.uses("frozen_layers") or frozen <= depth:
        return []
    return [Problem("out-of-range", "frozen_layers", frozen, {"low": 0, "high": depth, "unit": "layers"})]


_KV_DTYPES: dict[str, frozenset[str]] = {
    "vllm": frozenset({"bf16", "fp16", "fp32", "fp8"}),
    "sglang": frozenset({"bf16", "fp16", "fp32", "fp8"}),
    "tensorrt-llm": frozenset({"bf16", "fp16", "fp32", "fp8", "int8"}),
    "llama.cpp": frozenset({"bf16", "fp16", "fp32", "q8_0", "q4_0"}),
    "transformers": frozenset({"bf16", "fp16", "fp32", "int8", "int4"}),
}
"""Cache dtypes of each engine beside "auto": its documentation of --kv-cache-dtype, --cache-type-k, QuantizedCache."""


def _engine_knows_formats(plan: Plan) -> list[Problem]:
    if plan.values["task"] != "serve":
        return []
    engine, found = plan.values["engine"], []
    weights = plan.values["weight_format"]
    if engine not in FORMATS[weights].engines:
        allowed = [id for id, known in FORMATS.items() if engine in known.engines]
        found.append(Problem("format-not-in-engine", "weight_format", weights, {"engine": engine, "choices": allowed}))
    kv_dtype = plan.values["kv_dtype"]
    if plan.uses("kv_dtype") and kv_dtype not in ("auto", *_KV_DTYPES[engine]):
        allowed = ["auto", *sorted(_KV_DTYPES[engine])]
        found.append(Problem("format-not-in-engine", "kv_dtype", kv_dtype, {"engine": engine, "choices": allowed}))
    return found


def _length_within_limit(plan: Plan) -> list[Problem]:
    if not plan.uses("max_model_length") or plan.values["max_model_length"] == 0:
        return []
    asked, longest = plan.values["input_tokens"] + plan.values["output_tokens"], plan.values["max_model_length"]
    if asked <= longest:
        return []
    return [Problem("longer-than-limit", "max_model_length", longest, {"asked": asked})]


def _task_fits_model(plan: Plan) -> list[Problem]:
    task, spec = plan.values["task"], plan.spec
    if spec.task is ModelTask.DIFFUSION and task != "serve":
        return [Problem("diffusion-serve-only", "task", task)]
    if task == "finetune" and spec.image is not None and not spec.stacks and plan.values["method"] not in ("full",):
        return [Problem("method-needs-layers", "method", plan.values["method"])]
    return []


_CHECKS: tuple[Callable[[Plan], list[Problem]], ...] = (
    _task_fits_model,
    _gpus_are_the_product,
    _tensor_parallel_divides,
    _pipeline_has_layers,
    _experts_divide,
    _context_divides,
    _group_divides,
    _length_within_positions,
    _link_exists,
    _precision_exists,
    _frozen_layers_exist,
    _engine_knows_formats,
    _length_within_limit,
)
