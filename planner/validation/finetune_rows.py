"""Rows of finetune_fms.csv -> requests: fine-tuning on one kind of node, three counters of memory, runs that failed.

What the columns mean for memory, from the frameworks' documented behaviour:

* two GPUs and more run FSDP full shard; accelerate then raises trained parameters to fp32 where mixed precision is on;
* "baseline-peft-bnb" prepares a k-bit model by peft, which raises norms and embeddings to fp32; the "accelerated" kinds
  don't, and under FSDP nothing is raised;
* fast kernels ("foak") compute cross-entropy in place, Liger fuses it with the head; other runs use transformers 4.4x,
  whose loss raises and shifts whole logits.
"""

import re

from planner.hardware.types import Cluster, Gpu
from planner.models.spec import ModelSpec
from planner.naming.gpus import named_gpu
from planner.naming.models import named_model
from planner.naming.named import refuse
from planner.naming.training import named_attention, named_recompute
from planner.parallel import Layout, Sharding
from planner.units import MIB
from planner.validation.case import Case, Quantity, Row
from planner.validation.sources import source_of
from planner.validation.tables import number, whole
from planner.workload import (
    AttentionImplementation,
    BaseFormat,
    LossPath,
    Method,
    MethodKind,
    Recompute,
    Training,
    TrainingPrecision,
)


def finetune_case(row: Row) -> Case:
    """The case of a row. Raises `InputError` where something decisive is unknown, `BadCell` on a bad number."""
    model = named_model(row.text("model"))
    gpu = named_gpu(row.text("gpu"))
    assumed = [*model.assumed, *gpu.assumed]
    if row.text("packed").lower() == "no":
        raise refuse("sequence-length-not-stated", "packed", "batches padded to their longest sequence")
    request = _request(row, model.value, gpu.value, assumed)
    return Case(
        id=row.text("id") or f"line {row.line}",
        line=row.line,
        source=source_of(row),
        url=row.text("source"),
        date=row.text("date") or "2024-10",
        model=model.value.name,
        gpu=gpu.value.id,
        domain="llm_finetune",
        quality=row.text("quality") or "A",
        request=request,
        measured=_measured(row, request),
        assumed=tuple(assumed),
        ran=row.text("outcome").startswith("ran") if row.text("outcome") else True,
    )


def _request(row: Row, spec: ModelSpec, gpu: Gpu, assumed: list[str]) -> Training:
    gpus = whole(row, "n_gpus", 1)
    framework = row.text("framework").lower()
    expert_parallel = int(found.group(1)) if (found := re.search(r"ep(\d+)", framework)) else 1
    length = whole(row, "max_seq_len", 0)
    if not length:
        raise refuse("sequence-length-not-stated", "max_seq_len", "")
    table = next((t for t in spec.embeddings if t.role == "position"), None)
    if table is not None and table.rows < length:
        assumed.append(f"sequences end at the model's {table.rows} positions")
        length = table.rows
    half = "fp16" if row.text("torch_dtype") == "float16" else "bf16"
    amp = row.text("amp_flag").lower() == "true"
    return Training(
        model=spec,
        cluster=Cluster(gpu=gpu, gpus=gpus),
        layout=Layout(
            data_parallel=gpus,
            expert_parallel=expert_parallel,
            sharding=Sharding.FSDP if "fsdp" in row.text("sharding").lower() else Sharding.NONE,
        ),
        fine_tuning=True,
        method=_method(row, gpus, framework),
        precision=_precision(row, gpus, half, amp),
        micro_batch_size=whole(row, "per_device_batch", 1),
        gradient_accumulation_steps=whole(row, "grad_accum", 1),
        sequence_length=length,
        recompute=named_recompute(row.text("grad_checkpoint")) or Recompute.NONE,
        attention=named_attention(row.text("attention")) or AttentionImplementation.SDPA,
        loss=_loss(framework, spec, amp),
    )


def _method(row: Row, gpus: int, framework: str) -> Method:
    kind = row.text("method").lower()
    if kind == "full":
        return Method()
    targets = "attention" if "o_proj" in row.text("target_modules") else "all-linear"
    rank = whole(row, "lora_rank", 16)
    if kind == "lora":
        return Method(kind=MethodKind.LORA, rank=rank, targets=targets)
    if kind not in ("qlora", "gptq-lora"):
        raise refuse("unsupported-method", "method", kind)
    gptq = kind == "gptq-lora" or "gptq" in row.text("weight_quant")
    return Method(
        kind=MethodKind.QLORA,
        rank=rank,
        targets=targets,
        base_format=BaseFormat.GPTQ4 if gptq else BaseFormat.NF4,
        kbit_upcast=framework.startswith("baseline") and gpus == 1,
    )


def _precision(row: Row, gpus: int, half: str, amp: bool) -> TrainingPrecision:
    if row.text("method") == "full" and amp and gpus > 1:
        return TrainingPrecision(f"amp-{half}")
    if row.text("method") != "full" or amp:
        return TrainingPrecision(f"{half}-amp")
    return TrainingPrecision(half)


def _loss(framework: str, spec: ModelSpec, amp: bool) -> LossPath:
    if "liger" in framework:
        return LossPath.FUSED
    if "foak" in framework:
        return LossPath.IN_PLACE
    if spec.model_type == "gpt_bigcode" and not amp:  # its loss raises logits under autocast only
        return LossPath.NO_UPCAST
    return LossPath.TRANSFORMERS_4_46


def _measured(row: Row, request: Training) -> dict[Quantity, float]:
    found: dict[Quantity, float] = {}
    if not row.text("outcome").startswith("ran"):
        return found
    for column, quantity, unit in (
        ("torch_peak_alloc_bytes", Quantity.ALLOCATED, 1),
        ("torch_alloc_after_bytes", Quantity.AFTER, 1),
        ("nvidia_smi_peak_mib", Quantity.DEVICE, MIB),
    ):
        value = number(row, column)
        if value:
            found[quantity] = value * unit
    rate = number(row, "tokens_per_second_per_gpu")
    if rate:
        found[Quantity.TOKENS_RATE] = rate * request.layout.gpus
    return found
