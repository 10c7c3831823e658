"""Requests for the public A100-80GB fine-tuning runs of foundation-model-stack/fms-acceleration.

`tests/data/finetune_a100.csv` carries the rows of scripts/benchmarks/refs/a100_80gb.csv whose sequences are packed, so
that their length is known. What its columns mean for memory, from the frameworks' documented behaviour:

* full checkpointing, flash-attention 2, AdamW of torch (foreach), bf16 weights as loaded;
* two GPUs and more run FSDP full shard. accelerate then raises trained parameters to fp32 where mixed precision is on,
  which is AMP with fp32 shards and 16-bit gathered units;
* "baseline-peft-bnb" prepares a k-bit model by peft, which raises norms and embeddings to fp32; the "accelerated" kinds
  don't. Under FSDP nothing is raised;
* fast kernels ("foak") compute cross-entropy in place, Liger fuses it with the head; the other runs use
  transformers 4.4x, whose loss raises and shifts whole logits (GPT-BigCode's raises them under autocast only);
* a model with learned positions can't read sequences longer than these, whatever the column says.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from planner.hardware.types import Cluster, Gpu
from planner.parallel import Layout, Sharding
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
from tests.planner.memory.reference_models import reference_model

DATA = Path(__file__).parents[2] / "data" / "finetune_a100.csv"
A100 = Gpu(
    id="a100-80gb",
    name="A100 80GB",
    vendor="nvidia",
    architecture="ampere",
    compute_capability="8.0",
    memory_bytes=round(79.3 * 2**30),
)
POSITIONS = {"santacoder": 2048}
"""Longest sequences of models with learned positions: packing stops there."""


@dataclass(frozen=True)
class Run:
    id: str
    request: Training
    allocated: int | None
    device: int
    ran: bool


def runs() -> Iterator[Run]:
    """Every carried run with its request."""
    with DATA.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            yield Run(
                id=row["id"],
                request=_request(row),
                allocated=int(row["allocated_bytes"]) if row["allocated_bytes"] else None,
                device=int(row["device_bytes"]),
                ran=row["ran"] == "1",
            )


def _request(row: dict[str, str]) -> Training:
    gpus = int(row["gpus"])
    return Training(
        model=reference_model(row["model"]),
        cluster=Cluster(gpu=A100, gpus=gpus),
        layout=Layout(data_parallel=gpus, sharding=Sharding.FSDP if gpus > 1 else Sharding.NONE),
        fine_tuning=True,
        method=_method(row, gpus),
        precision=_precision(row, gpus),
        micro_batch_size=int(row["batch"]),
        gradient_accumulation_steps=int(row["accumulation"]),
        sequence_length=min(int(row["sequence"]), POSITIONS.get(row["model"], int(row["sequence"]))),
        recompute=Recompute.FULL,
        attention=AttentionImplementation.FLASH,
        loss=_loss(row),
    )


def _method(row: dict[str, str], gpus: int) -> Method:
    if row["method"] == "full":
        return Method()
    if row["method"] == "lora":
        return Method(kind=MethodKind.LORA, rank=16, targets="attention")
    gptq = row["method"] == "gptq-lora"
    return Method(
        kind=MethodKind.QLORA,
        rank=16,
        targets="attention",
        base_format=BaseFormat.GPTQ4 if gptq else BaseFormat.NF4,
        kbit_upcast=row["framework"].startswith("baseline") and gpus == 1,
    )


def _precision(row: dict[str, str], gpus: int) -> TrainingPrecision:
    if row["method"] == "full" and row["amp"] == "1" and gpus > 1:
        return TrainingPrecision.AMP_BF16
    return TrainingPrecision.BF16_AMP if row["method"] != "full" or row["amp"] == "1" else TrainingPrecision.BF16


def _loss(row: dict[str, str]) -> LossPath:
    if "liger" in row["framework"]:
        return LossPath.FUSED
    if "foak" in row["framework"]:
        return LossPath.IN_PLACE
    if row["model"] == "santacoder" and row["amp"] == "0":
        return LossPath.NO_UPCAST
    return LossPath.TRANSFORMERS_4_46
