"""The changes worth trying, one small function each: a plan -> the field values it would set.

A function returns nothing where its change does not apply. `trade` says what is given up: nothing but time ("none"),
the arithmetic or the work itself ("result"), or other hardware ("hardware").
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from planner.hardware import catalogue as hardware
from planner.hardware import prices
from planner.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Change:
    """A named change: `id` is stable, `sets` are field values (None: back to the default)."""

    id: str
    trade: str
    sets: Mapping[str, Any]


def _is(plan: Plan, **values: Any) -> bool:
    """Whether every named field applies and has the given value (or one of a tuple)."""
    for field, wanted in values.items():
        options = wanted if isinstance(wanted, tuple) else (wanted,)
        if not plan.uses(field) or plan.values[field] not in options:
            return False
    return True


def fused_loss(plan: Plan) -> Iterator[Change]:
    """Compute the loss without ever holding all logits."""
    if plan.uses("loss") and plan.values["loss"] not in ("fused", "chunked"):
        yield Change("fused-loss", "none", {"loss": "fused"})


def recompute(plan: Plan) -> Iterator[Change]:
    """Trade saved activations against a second forward, either way."""
    if _is(plan, recompute=("none", "selective")):
        yield Change("recompute-full", "none", {"recompute": "full", "recompute_every": None})
    if _is(plan, recompute="full"):
        yield Change("recompute-none", "none", {"recompute": "none", "recompute_every": None})
        yield Change("recompute-selective", "none", {"recompute": "selective", "recompute_every": None})
        yield Change("recompute-half", "none", {"recompute": "full", "recompute_every": 2})


def micro_batch(plan: Plan) -> Iterator[Change]:
    """The same global batch in smaller or larger pieces."""
    if not plan.uses("micro_batch_size"):
        return
    size, steps = plan.values["micro_batch_size"], plan.values["gradient_accumulation_steps"]
    for divisor in (2, 4, 8, 16, 32, 64):
        if size % divisor == 0:
            sets = {"micro_batch_size": size // divisor, "gradient_accumulation_steps": steps * divisor}
            yield Change("smaller-micro-batch", "none", sets)
    for factor in (2, 4, 8):
        if steps % factor == 0:
            sets = {"micro_batch_size": size * factor, "gradient_accumulation_steps": steps // factor}
            yield Change("larger-micro-batch", "none", sets)
    if steps == 1:
        for factor in (2, 4, 8):
            yield Change("larger-batch", "result", {"micro_batch_size": size * factor})


def method(plan: Plan) -> Iterator[Change]:
    """Train fewer parameters, or keep the frozen ones in fewer bits."""
    if _is(plan, method=("full", "frozen")) and plan.spec.stacks and plan.uses("sequence_length"):
        yield Change("lora", "result", {"method": "lora", "precision": "bf16-amp"})
    if _is(plan, method=("full", "frozen", "lora", "dora")) and plan.spec.stacks and plan.uses("sequence_length"):
        yield Change("qlora", "result", {"method": "qlora", "precision": "bf16-amp"})
    if _is(plan, kbit_upcast=True):
        yield Change("no-kbit-upcast", "none", {"kbit_upcast": False})
    if _is(plan, adapter_fp32=True):
        yield Change("adapter-16-bit", "result", {"adapter_fp32": False})


def precision(plan: Plan) -> Iterator[Change]:
    """Fewer bits in training."""
    if _is(plan, precision=("fp32", "tf32")):
        yield Change("mixed-precision", "none", {"precision": "amp-bf16"})
    if _is(plan, precision="fp32"):
        yield Change("tf32", "none", {"precision": "tf32"})
    if _is(plan, precision=("fp32", "tf32", "amp-bf16", "amp-fp16", "bf16-master", "fp16-master")):
        yield Change("pure-bf16", "result", {"precision": "bf16"})
    if _is(plan, precision=("bf16", "amp-bf16", "bf16-master")) and plan.uses("recompute"):
        yield Change("fp8", "result", {"precision": "fp8"})


def optimizer(plan: Plan) -> Iterator[Change]:
    """Smaller optimizer states, or fewer temporaries in its step."""
    if _is(plan, optimizer="adamw"):
        yield Change("fused-optimizer", "none", {"optimizer": "adamw-fused"})
    if _is(plan, optimizer=("adamw", "adamw-fused", "adamw-loop", "paged-adamw")):
        yield Change("optimizer-8-bit", "result", {"optimizer": "adamw-8bit"})
        yield Change("adafactor", "result", {"optimizer": "adafactor"})
    if _is(plan, offload_optimizer="none"):
        yield Change("offload-optimizer", "none", {"offload_optimizer": "cpu"})


def sharding(plan: Plan) -> Iterator[Change]:
    """Divide the training state over the GPUs there are, or over more of them."""
    if plan.values["task"] == "serve":
        return
    gpus = plan.values["gpus"]
    if _is(plan, sharding=("none", "zero1", "zero2")):
        yield Change("shard", "none", {"sharding": "fsdp"})
    if _is(plan, sharding=("fsdp", "zero3", "hsdp")):
        yield Change("no-shard", "none", {"sharding": "none"})
    for factor in (2, 4, 8):
        if gpus * factor <= 1024:
            yield Change("more-gpus", "hardware", {"gpus": gpus * factor, "sharding": "fsdp"})
    for degree in (2, 4, 8):
        if gpus % degree == 0 and _is(plan, tensor_parallel=1):
            sets = {"tensor_parallel": degree, "sequence_parallel": None, "context_parallel": None}
            yield Change("tensor-parallel", "none", sets)


def attention(plan: Plan) -> Iterator[Change]:
    """A fused attention kernel, and batches that need no mask."""
    if _is(plan, attention="eager"):
        yield Change("fused-attention", "none", {"attention": "sdpa"})
    if _is(plan, padding_mask=True):
        yield Change("packing", "none", {"padding_mask": False})
    if _is(plan, compiled=False) and plan.uses("recompute"):
        yield Change("compile", "none", {"compiled": True})


def length(plan: Plan) -> Iterator[Change]:
    """Shorter sequences."""
    if plan.uses("sequence_length") and plan.values["sequence_length"] >= 256:
        yield Change("shorter-sequence", "result", {"sequence_length": plan.values["sequence_length"] // 2})
    if _is(plan, max_model_length=0):
        return
    if plan.uses("max_model_length"):
        yield Change("shorter-context", "result", {"max_model_length": 0})


def input_pipeline(plan: Plan) -> Iterator[Change]:
    """Feed the GPU faster."""
    if plan.values["task"] == "serve":
        return
    if plan.values["decode_ms"] > 0:
        yield Change("more-workers", "none", {"workers": max(1, plan.values["workers"] * 2)})
    if plan.values["sample_kib"] > 0 and not plan.values["pinned"]:
        yield Change("pinned-memory", "none", {"pinned": True})
    if plan.values["sample_kib"] > 0 and not plan.values["overlapped"]:
        yield Change("overlap-copies", "none", {"overlapped": True, "pinned": True})


def serving(plan: Plan) -> Iterator[Change]:
    """Smaller weights, smaller cache, fewer or more requests, another share of the card."""
    if plan.values["task"] != "serve":
        return
    if _is(plan, weight_format=("fp32", "fp16", "bf16")):
        for weight_format in ("fp8", "int8", "awq-int4"):
            yield Change(f"weights-{weight_format}", "result", {"weight_format": weight_format})
    if _is(plan, kv_dtype=("auto", "bf16", "fp16")):
        yield Change("kv-fp8", "result", {"kv_dtype": "fp8"})
    concurrency = plan.values["concurrency"]
    for factor in (2, 4, 8):
        yield Change("higher-concurrency", "none", {"concurrency": concurrency * factor})
        if concurrency % factor == 0:
            yield Change("lower-concurrency", "none", {"concurrency": concurrency // factor})
    if plan.uses("max_batched_tokens") and plan.values["max_batched_tokens"] > 2048:
        yield Change("smaller-prefill-chunk", "none", {"max_batched_tokens": 2048})
    if plan.values["memory_fraction"] < 0.95:
        yield Change("larger-memory-fraction", "none", {"memory_fraction": 0.95})
    for factor in (2, 4, 8):
        if plan.values["gpus"] * factor <= 64:
            yield Change("more-gpus", "hardware", {"gpus": plan.values["gpus"] * factor, "tensor_parallel": None})


def other_gpu(plan: Plan) -> Iterator[Change]:
    """Cards of the same vendor that one can rent, of every larger memory size."""
    current = hardware.gpu(plan.values["gpu"])
    for gpu_id in prices.rentable():
        gpu = hardware.gpu(gpu_id)
        if gpu.id != current.id and gpu.vendor == current.vendor:
            yield Change("other-gpu", "hardware", {"gpu": gpu.id, "price": None})


CHANGES: tuple[Callable[[Plan], Iterator[Change]], ...] = (
    fused_loss,
    recompute,
    micro_batch,
    method,
    precision,
    optimizer,
    sharding,
    attention,
    length,
    input_pipeline,
    serving,
    other_gpu,
)
"""Every source of changes."""
