"""Every input of a plan, once: its stable id, kind, limits, unit, default, and when it applies.

The page's widgets, the link, the JSON form and the command line's flags are all made from this table, so a new input
is one new row here and one line in `planner.plan.request`.
"""

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Any

from planner import workload as w
from planner.hardware.capability import computes
from planner.memory.formats import FORMATS
from planner.parallel import Offload, Schedule, Sharding
from planner.plan.fields import ALL, SERVING, TRAINING, Field, Kind, Section, Values, always

_FAR = 16_777_216  # tokens: longer than any published context


def _is_image(values: Values) -> bool:
    spec = values["spec"]
    return spec.image is not None or spec.text_stack is None or spec.task == "vision"


def _has_tokens(values: Values) -> bool:
    return not _is_image(values)


def _has_layers(values: Values) -> bool:
    """Described layer by layer, not by totals."""
    return bool(values["spec"].stacks)


def _sees(values: Values) -> bool:
    return _is_image(values) or values["spec"].stack("vision") is not None


def _runs(values: Values) -> bool:
    """Whether its work is modelled at all: of diffusion pipelines only the weights are."""
    return not values["spec"].components


def _adapters(values: Values) -> bool:
    return values["task"] == "finetune" and values["method"] in ("lora", "dora", "qlora")


def _method(*kinds: str) -> Callable[[Values], bool]:
    return lambda values: values["task"] == "finetune" and values["method"] in kinds


def _several_gpus(values: Values) -> bool:
    return values["gpus"] > 1


def _default_precision(values: Values) -> str:
    """bf16 where the GPU computes in it, else fp16, which needs fp32 weights to train all of them."""
    bf16 = computes(values["card"], "bf16")
    if values["task"] == "finetune" and values["method"] in ("lora", "dora", "qlora", "adapter"):
        return "bf16-amp" if bf16 else "fp16-amp"
    if values["task"] == "finetune" and bf16:
        return "bf16"
    return "amp-bf16" if bf16 else "amp-fp16"


def _default_sharding(values: Values) -> str:
    return "none" if values["gpus"] == 1 or _is_image(values) else "fsdp"


def _default_tensor_parallel(values: Values) -> int:
    """Serving spreads one copy of the model over the node, as far as the heads divide; training leaves it at 1."""
    if values["task"] != "serve" or not _has_tokens(values):
        return 1
    heads = _attention_heads(values["spec"])
    degree = min(values["gpus"], values["gpus_per_node"])
    while degree > 1 and (heads % degree or values["gpus"] % degree):
        degree -= 1
    return int(degree)


def _attention_heads(spec: Any) -> int:
    stack = spec.text_stack
    heads = [getattr(mixer, "heads", 0) for run in stack.runs for mixer in run.layer.mixers] if stack else []
    return max(heads, default=0) or 1


def _default_length(usual: int, share: int) -> Callable[[Values], int]:
    """The usual length, or a share of the model's positions where it has fewer."""
    return lambda values: min(usual, max(1, (values["spec"].max_positions or usual * share) // share))


def _default_image_size(values: Values) -> int:
    spec = values["spec"]
    return spec.image.image_size if spec.image else 224


def _default_optimizer(values: Values) -> str:
    return "sgd-momentum" if values["spec"].image else "adamw"


def _default_recompute(values: Values) -> str:
    return "full" if values["task"] == "finetune" and _has_tokens(values) else "none"


def _default_engine(values: Values) -> str:
    """llama.cpp for a model read from a GGUF file; no server for what has no tokens."""
    if _gguf_format(values["spec"].quantization):
        return "llama.cpp"
    return "vllm" if _has_tokens(values) else "transformers"


_PUBLISHED_FORMATS = {"fp8": "fp8", "mxfp4": "mxfp4", "gptq": "gptq-int4", "awq": "awq-int4", "nvfp4": "nvfp4"}


def _default_weight_format(values: Values) -> str:
    """The format that the checkpoint is published in, where the engine reads it; else 16 bits."""
    stored = values["spec"].quantization or ""
    if values["engine"] == "llama.cpp":
        return _gguf_format(stored) or "gguf-f16"
    wanted = _PUBLISHED_FORMATS.get(stored.lower(), "bf16")
    return wanted if values["engine"] in FORMATS[wanted].engines else "bf16"


def _gguf_format(stored: str | None) -> str | None:
    """The file type whose usual block this is: a file of mostly Q4_K blocks is taken for Q4_K_M."""
    name = f"gguf-{(stored or '').lower()}"
    return next((id for id in (name, f"{name}_m") if id in FORMATS), None)


def _enum(kind: type[StrEnum]) -> tuple[str, ...]:
    return tuple(member.value for member in kind)


def _numeric(
    kind: Kind,
    id: str,
    section: Section,
    tasks: tuple[str, ...],
    default: Any,
    low: float,
    high: float,
    unit: str = "",
    applies: Callable[[Values], bool] = always,
) -> Field:
    return Field(
        id=id, kind=kind, section=section, tasks=tasks, default=default, low=low, high=high, unit=unit, applies=applies
    )


_whole = partial(_numeric, Kind.INTEGER)
_number = partial(_numeric, Kind.NUMBER)


def _choice(
    id: str,
    section: Section,
    tasks: tuple[str, ...],
    default: Any,
    choices: tuple[str, ...] = (),
    applies: Callable[[Values], bool] = always,
) -> Field:
    return Field(
        id=id, kind=Kind.CHOICE, section=section, tasks=tasks, default=default, choices=choices, applies=applies
    )


def _flag(
    id: str, section: Section, tasks: tuple[str, ...], default: Any, applies: Callable[[Values], bool] = always
) -> Field:
    return Field(id=id, kind=Kind.FLAG, section=section, tasks=tasks, default=default, applies=applies)


def _parallel(values: Values, degree: str) -> bool:
    return bool(values["gpus"] > 1 and values[degree] > 1)


BASIC, METHOD, EXECUTION, PARALLEL = Section.BASIC, Section.METHOD, Section.EXECUTION, Section.PARALLEL
ENGINE, MACHINE, INPUT, GOAL = Section.ENGINE, Section.MACHINE, Section.INPUT, Section.GOAL

_BASIC = (
    _choice("task", BASIC, ALL, "finetune", ALL),
    Field(id="model", kind=Kind.MODEL, section=BASIC, default="meta-llama/Llama-3.1-8B"),
    Field(id="model_config", kind=Kind.CONFIG, section=BASIC, default=None, applies=lambda v: v["model"] == "custom"),
    _choice("method", BASIC, ("finetune",), lambda v: "full" if _is_image(v) else "lora", _enum(w.MethodKind)),
    Field(id="gpu", kind=Kind.GPU, section=BASIC, default="rtx-4090"),
    Field(id="gpu_config", kind=Kind.CONFIG, section=BASIC, default=None, applies=lambda v: v["gpu"] == "custom"),
    _whole("gpus", BASIC, ALL, 1, 1, 65536),
    _choice("precision", BASIC, TRAINING, _default_precision, _enum(w.TrainingPrecision)),
    _choice("engine", ENGINE, SERVING, _default_engine, _enum(w.Engine)),  # before the format, which follows it
    _choice("weight_format", BASIC, SERVING, _default_weight_format),  # choices: planner.memory.formats
    _whole("micro_batch_size", BASIC, TRAINING, 4, 1, 65536),
    _whole("gradient_accumulation_steps", BASIC, TRAINING, 1, 1, 65536),
    _whole("sequence_length", BASIC, TRAINING, _default_length(2048, 1), 1, _FAR, "tokens", _has_tokens),
    _whole("image_size", BASIC, ALL, _default_image_size, 16, 8192, "pixels", _sees),
    _whole("concurrency", BASIC, SERVING, 8, 1, 65536, "sequences", _runs),
    _whole("input_tokens", BASIC, SERVING, _default_length(1024, 2), 1, _FAR, "tokens", _has_tokens),
    _whole("output_tokens", BASIC, SERVING, _default_length(256, 4), 1, _FAR, "tokens", _has_tokens),
)

_METHOD = (
    _whole("lora_rank", METHOD, TRAINING, 16, 1, 4096, "", _adapters),
    _choice("lora_targets", METHOD, TRAINING, "all-linear", ("all-linear", "attention", "qv"), _adapters),
    _flag("lora_dropout", METHOD, TRAINING, False, _adapters),
    _flag("adapter_fp32", METHOD, TRAINING, True, _adapters),
    _choice("base_format", METHOD, TRAINING, "nf4", _enum(w.BaseFormat), _method("qlora")),
    _flag("kbit_upcast", METHOD, TRAINING, True, _method("qlora")),
    _whole("frozen_layers", METHOD, TRAINING, 0, 0, 2000, "layers", _method("frozen")),
    _whole("bottleneck", METHOD, TRAINING, 64, 1, 65536, "", _method("adapter")),
)

_EXECUTION = (
    _choice("optimizer", EXECUTION, TRAINING, _default_optimizer, _enum(w.OptimizerKind)),
    _choice("recompute", EXECUTION, TRAINING, _default_recompute, _enum(w.Recompute), _has_layers),
    _whole(
        "recompute_every",
        EXECUTION,
        TRAINING,
        1,
        1,
        2000,
        "layers",
        lambda v: v["recompute"] == "full" and _has_layers(v),
    ),
    _choice("attention", EXECUTION, TRAINING, "sdpa", _enum(w.AttentionImplementation), _has_layers),
    _choice("loss", EXECUTION, TRAINING, "transformers-5", _enum(w.LossPath), _has_tokens),
    _whole("loss_chunks", EXECUTION, TRAINING, 8, 1, 65536, "", lambda v: v["loss"] == "chunked" and _has_tokens(v)),
    _flag("padding_mask", EXECUTION, TRAINING, False, _has_tokens),
    _flag("dropout", EXECUTION, TRAINING, False, _has_tokens),
    _flag("compiled", EXECUTION, TRAINING, False),
    _whole("images_per_sample", EXECUTION, ALL, 0, 0, 4096, "images", lambda v: _has_tokens(v) and _sees(v)),
)

_PARALLEL = (
    _whole("tensor_parallel", PARALLEL, ALL, _default_tensor_parallel, 1, 1024, "GPUs", _several_gpus),
    _flag(
        "sequence_parallel",
        PARALLEL,
        TRAINING,
        lambda v: v["tensor_parallel"] > 1,
        lambda v: _parallel(v, "tensor_parallel"),
    ),
    _whole("pipeline_parallel", PARALLEL, ALL, 1, 1, 1024, "GPUs", _several_gpus),
    _choice("schedule", PARALLEL, TRAINING, "1f1b", _enum(Schedule), lambda v: _parallel(v, "pipeline_parallel")),
    _whole(
        "virtual_stages",
        PARALLEL,
        TRAINING,
        2,
        1,
        128,
        "",
        lambda v: _parallel(v, "pipeline_parallel") and v["schedule"] == "interleaved",
    ),
    _whole("context_parallel", PARALLEL, TRAINING, 1, 1, 1024, "GPUs", lambda v: _several_gpus(v) and _has_tokens(v)),
    _whole(
        "expert_parallel",
        PARALLEL,
        ALL,
        1,
        1,
        1024,
        "GPUs",
        lambda v: _several_gpus(v) and v["spec"].expert_parameters > 0,
    ),
    _choice("sharding", PARALLEL, TRAINING, _default_sharding, _enum(Sharding), _several_gpus),
    _whole(
        "shard_group",
        PARALLEL,
        TRAINING,
        lambda v: min(v["gpus"], 8),
        1,
        65536,
        "GPUs",
        lambda v: _several_gpus(v) and v["sharding"] == "hsdp",
    ),
    _flag("bucket_view", PARALLEL, TRAINING, False, lambda v: _several_gpus(v) and v["sharding"] == "none"),
    _choice("offload_optimizer", PARALLEL, TRAINING, "none", _enum(Offload)),
    _choice("offload_parameters", PARALLEL, TRAINING, "none", _enum(Offload)),
)

_ENGINE = (
    _choice(
        "kv_dtype",
        ENGINE,
        SERVING,
        "auto",
        ("auto", "bf16", "fp16", "fp32", "fp8", "int8", "int4", "q8_0", "q4_0"),
        _has_tokens,
    ),
    _whole("max_model_length", ENGINE, SERVING, 0, 0, _FAR, "tokens", _has_tokens),
    _whole("max_batched_tokens", ENGINE, SERVING, 8192, 1, 1_048_576, "tokens", _has_tokens),
    _number("memory_fraction", ENGINE, SERVING, 0.9, 0.3, 1.0),
    _flag("cuda_graphs", ENGINE, SERVING, True),
)

_MACHINE = (
    _whole("gpus_per_node", MACHINE, ALL, 8, 1, 576, "", _several_gpus),
    _choice("link", MACHINE, ALL, "auto", ("auto", "nvlink", "pcie"), _several_gpus),
    _choice("network", MACHINE, ALL, "auto", (), lambda v: v["gpus"] > v["gpus_per_node"]),  # choices: links
    Field(id="host", kind=Kind.CPU, section=MACHINE, default=None),
    _number("price", MACHINE, ALL, None, 0, 10_000, "USD per GPU-hour"),
)

_INPUT = (
    _number("sample_kib", INPUT, TRAINING, 0.0, 0, 1e9, "KiB"),
    _number("storage_gbs", INPUT, TRAINING, 0.0, 0, 1e5, "GB/s"),
    _number("decode_ms", INPUT, TRAINING, 0.0, 0, 1e6, "ms"),
    _whole("workers", INPUT, TRAINING, 4, 0, 1024),
    _flag("pinned", INPUT, TRAINING, True),
    _flag("overlapped", INPUT, TRAINING, True),
)

_GOAL = (
    _number(
        "train_tokens_millions",
        GOAL,
        TRAINING,
        lambda v: 10.0 if v["task"] == "finetune" else 1000.0,
        0,
        1e9,
        "million tokens",
        _has_tokens,
    ),
    _number("train_images_millions", GOAL, TRAINING, 1.281167, 0, 1e9, "million images", _is_image),  # ImageNet-1k
    _number("serve_tokens_millions", GOAL, SERVING, 1.0, 0, 1e9, "million tokens", _has_tokens),
)

FIELDS: tuple[Field, ...] = (*_BASIC, *_MACHINE, *_METHOD, *_EXECUTION, *_PARALLEL, *_ENGINE, *_INPUT, *_GOAL)
"""All fields, in the order in which defaults are resolved: a default may look at the fields before it."""

BY_ID: dict[str, Field] = {field.id: field for field in FIELDS}
"""The table by id."""
