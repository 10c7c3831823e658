"""The changes worth trying, one small function each: a plan and its estimate -> the field values it would set.

A function returns nothing where its change does not apply. `trade` says what is given up: nothing but time ("none"),
the arithmetic or the work itself ("result"), or other hardware ("hardware").
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.estimate import memory_of
from planner.hardware import catalogue as hardware
from planner.hardware import prices
from planner.plan.plan import Plan
from planner.plan.request import request_of
from planner.result import Estimate


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


def fused_loss(plan: Plan, present: Estimate) -> Iterator[Change]:
    """Compute the loss without ever holding all logits."""
    if plan.uses("loss") and plan.values["loss"] not in ("fused", "chunked"):
        yield Change("fused-loss", "none", {"loss": "fused"})


def recompute(plan: Plan, present: Estimate) -> Iterator[Change]:
    """Trade saved activations against a second forward, either way."""
    if _is(plan, recompute=("none", "selective")):
        yield Change("recompute-full", "none", {"recompute": "full", "recompute_every": None})
    if _is(plan, recompute="full"):
        yield Change("recompute-none", "none", {"recompute": "none", "recompute_every": None})
        yield Change("recompute-selective", "none", {"recompute": "selective", "recompute_every": None})
        yield Change("recompute-half", "none", {"recompute": "full", "recompute_every": 2})


def micro_batch(plan: Plan, present: Estimate) -> Iterator[Change]:
    """The same global batch in smaller or larger pieces; a larger one where there is no accumulation to take from."""
    if not plan.uses("micro_batch_size"):
        return
    size, steps = plan.values["micro_batch_size"], plan.values["gradient_accumulation_steps"]
    smaller = [(size // divisor, steps * divisor) for divisor in (2, 4, 8, 16, 32, 64) if size % divisor == 0]
    if fitting := _largest_that_fits(plan, smaller):
        yield Change("smaller-micro-batch", "none", fitting)
    larger = [(size * factor, steps // factor) for factor in (2, 4, 8) if steps % factor == 0]
    if fitting := _largest_that_fits(plan, larger):
        yield Change("larger-micro-batch", "none", fitting)
    elif present.fits and (fitting := _largest_that_fits(plan, [(size * factor, steps) for factor in (2, 4, 8)])):
        yield Change("larger-batch", "result", fitting)


def _largest_that_fits(plan: Plan, pieces: list[tuple[int, int]]) -> dict[str, Any]:
    """Of (micro-batch, accumulation) pairs the one with the largest micro-batch that fits, as field values.

    Where none fits, the smallest: with other changes it may. All are evaluated in one call.
    """
    if not pieces:
        return {}
    sizes, steps = (np.array(column, dtype=np.float64) for column in zip(*pieces, strict=True))
    request: Any = request_of(plan)
    memory = memory_of(dataclasses.replace(request, micro_batch_size=sizes, gradient_accumulation_steps=steps))
    fits = np.broadcast_to(memory.spare >= 0, sizes.shape)
    best = max((piece for piece, fit in zip(pieces, fits, strict=True) if fit), default=min(pieces))
    return {"micro_batch_size": best[0], "gradient_accumulation_steps": best[1]}


def method(plan: Plan, present: Estimate) -> Iterator[Change]:
    """Train fewer parameters, or keep the frozen ones in fewer bits."""
    if _is(plan, method=("full", "frozen")) and plan.spec.stacks and plan.uses("sequence_length"):
        yield Change("lora", "result", {"method": "lora", "precision": "bf16-amp"})
    if _is(plan, method=("full", "frozen", "lora", "dora")) and plan.spec.stacks and plan.uses("sequence_length"):
        yield Change("qlora", "result", {"method": "qlora", "precision": "bf16-amp"})
    if _is(plan, kbit_upcast=True):
        yield Change("no-kbit-upcast", "none", {"kbit_upcast": False})
    if _is(plan, adapter_fp32=True):
        yield Change("adapter-16-bit", "result", {"adapter_fp32": False})


def precision(plan: Plan, present: Estimate) -> Iterator[Change]:
    """Fewer bits in training."""
    if _is(plan, precision=("fp32", "tf32")):
        yield Change("mixed-precision", "none", {"precision": "amp-bf16"})
    if _is(plan, precision="fp32"):
        yield Change("tf32", "none", {"precision": "tf32"})
    if _is(plan, precision=("fp32", "tf32", "amp-bf16", "amp-fp16", "bf16-master", "fp16-master")):
        yield Change("pure-bf16", "result", {"precision": "bf16"})
    if _is(plan, precision=("bf16", "amp-bf16", "bf16-master")) and plan.uses("recompute"):
        yield Change("fp8", "result", {"precision": "fp8"})


def optimizer(plan: Plan, present: Estimate) -> Iterator[Change]:
    """Smaller optimizer states, or fewer temporaries in its step."""
    if _is(plan, optimizer="adamw"):
        yield Change("fused-optimizer", "none", {"optimizer": "adamw-fused"})
    if _is(plan, optimizer=("adamw", "adamw-fused", "adamw-loop", "paged-adamw")):
        yield Change("optimizer-8-bit", "result", {"optimizer": "adamw-8bit"})
        yield Change("adafactor", "result", {"optimizer": "adafactor"})
    if _is(plan, offload_optimizer="none"):
        yield Change("offload-optimizer", "none", {"offload_optimizer": "cpu"})


def sharding(plan: Plan, present: Estimate) -> Iterator[Change]:
    """Divide the training state over the GPUs there are, or over more of them."""
    if plan.values["task"] == "serve":
        return
    gpus = plan.values["gpus"]
    if _is(plan, sharding=("none", "zero1", "zero2")):
        yield Change("shard", "none", {"sharding": "fsdp"})
    if _is(plan, sharding=("fsdp", "zero3", "hsdp")):
        yield Change("no-shard", "none", {"sharding": "none"})
    for factor in (2,) if present.fits else (2, 4, 8):
        if gpus * factor <= 1024:
            yield Change("more-gpus", "hardware", {"gpus": gpus * factor, "sharding": "fsdp"})
    for degree in (2, 4, 8):
        if gpus % degree == 0 and _is(plan, tensor_parallel=1):
            sets = {"tensor_parallel": degree, "sequence_parallel": None, "context_parallel": None}
            yield Change("tensor-parallel", "none", sets)


def attention(plan: Plan, present: Estimate) -> Iterator[Change]:
    """A fused attention kernel, and batches that need no mask."""
    if _is(plan, attention="eager"):
        yield Change("fused-attention", "none", {"attention": "sdpa"})
    if _is(plan, padding_mask=True):
        yield Change("packing", "none", {"padding_mask": False})
    if _is(plan, compiled=False) and plan.uses("recompute"):
        yield Change("compile", "none", {"compiled": True})


def length(plan: Plan, present: Estimate) -> Iterator[Change]:
    """Shorter sequences."""
    if plan.uses("sequence_length") and plan.values["sequence_length"] >= 256:
        yield Change("shorter-sequence", "result", {"sequence_length": plan.values["sequence_length"] // 2})
    if _is(plan, max_model_length=0):
        return
    if plan.uses("max_model_length"):
        yield Change("shorter-context", "result", {"max_model_length": 0})


def input_pipeline(plan: Plan, present: Estimate) -> Iterator[Change]:
    """Feed the GPU faster."""
    if plan.values["task"] == "serve":
        return
    if plan.values["decode_ms"] > 0:
        yield Change("more-workers", "none", {"workers": max(1, plan.values["workers"] * 2)})
    if plan.values["sample_kib"] > 0 and not plan.values["pinned"]:
        yield Change("pinned-memory", "none", {"pinned": True})
    if plan.values["sample_kib"] > 0 and not plan.values["overlapped"]:
        yield Change("overlap-copies", "none", {"overlapped": True, "pinned": True})


def serving(plan: Plan, present: Estimate) -> Iterator[Change]:
    """Smaller weights, smaller cache, fewer or more requests, another share of the card."""
    if plan.values["task"] != "serve":
        return
    if _is(plan, weight_format=("fp32", "fp16", "bf16")):
        for weight_format in ("fp8", "int8", "awq-int4"):
            yield Change(f"weights-{weight_format}", "result", {"weight_format": weight_format})
    if _is(plan, kv_dtype=("auto", "bf16", "fp16")):
        yield Change("kv-fp8", "result", {"kv_dtype": "fp8"})
    yield from _concurrency(plan)
    if plan.uses("max_batched_tokens") and plan.values["max_batched_tokens"] > 2048:
        yield Change("smaller-prefill-chunk", "none", {"max_batched_tokens": 2048})
    if plan.values["memory_fraction"] < 0.95:
        yield Change("larger-memory-fraction", "none", {"memory_fraction": 0.95})
    for factor in (2, 4, 8):
        if plan.values["gpus"] * factor <= 64:
            yield Change("more-gpus", "hardware", {"gpus": plan.values["gpus"] * factor, "tensor_parallel": None})


def _concurrency(plan: Plan) -> Iterator[Change]:
    """As many requests at once as fit, up or down, by doublings; all are evaluated in one call."""
    present = plan.values["concurrency"]
    options = sorted({max(1, present // 2**step) for step in range(1, 7)} | {present * 2**step for step in range(1, 6)})
    request: Any = request_of(plan)
    memory = memory_of(dataclasses.replace(request, concurrency=np.array(options, dtype=np.float64)))
    fits = np.broadcast_to(memory.spare >= 0, (len(options),))
    fitting = [option for option, fit in zip(options, fits, strict=True) if fit]
    if fitting and max(fitting) > present:
        yield Change("higher-concurrency", "none", {"concurrency": max(fitting)})
    elif fitting:
        yield Change("lower-concurrency", "result", {"concurrency": max(fitting)})


_GPUS_TRIED = 4


def other_gpu(plan: Plan, present: Estimate) -> Iterator[Change]:
    """Cards of the same vendor that one can rent and that are large enough: the best for their price are tried."""
    current = plan.card
    key = "bf16" if plan.values["task"] != "serve" else ""
    offers: list[tuple[float, str]] = []
    for gpu_id in prices.rentable():
        gpu, offer = hardware.gpu(gpu_id), prices.cheapest(gpu_id)
        rate = gpu.peaks.get(key, gpu.peaks.get("fp16", 0.0)) if key else gpu.memory_bandwidth
        enough = gpu.memory_bytes >= present.memory.required
        if offer and rate and enough and gpu.id != current.id and gpu.vendor == current.vendor:
            offers.append((offer.price_per_gpu_hour / rate, gpu.id))
    for _, gpu_id in sorted(offers)[:_GPUS_TRIED]:
        yield Change("other-gpu", "hardware", {"gpu": gpu_id, "price": None})


CHANGES: tuple[Callable[[Plan, Estimate], Iterator[Change]], ...] = (
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
