"""Requests for values traced without a GPU: PyTorch 2.13 and transformers 5.24 training steps run on fake tensors.

`tests/data/saved_activations.csv` counts tensors saved for backward by one layer, `tests/data/training_peaks.csv` the
bytes allocated at the peak of each part of the second optimizer step.
"""

import csv
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from planner.hardware.types import Cluster
from planner.models.spec import ModelSpec, Run
from planner.parallel import Layout, Sharding
from planner.workload import (
    AttentionImplementation,
    LossPath,
    Method,
    MethodKind,
    OptimizerKind,
    Recompute,
    Training,
    TrainingPrecision,
)
from tests.planner.memory.fms import A100
from tests.planner.memory.reference_models import reference_model

DATA = Path(__file__).parents[2] / "data"


@dataclass(frozen=True)
class SavedCell:
    label: str
    request: Training
    bytes: int


@dataclass(frozen=True)
class PeakCell:
    label: str
    request: Training
    forward: int
    backward: int
    optimizer: int
    peak: int
    reserved: int | None  # by replaying the step's allocations through PyTorch's allocator


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8") as lines:
        yield from csv.DictReader(lines)


def saved_cells() -> Iterator[SavedCell]:
    """Bytes that one layer saves, with the request of that model and path."""
    for row in _rows("saved_activations.csv"):
        if row["model"] == "block:llama":
            continue
        label = " ".join(row[key] for key in ("model", "attention", "padded", "precision", "dropout"))
        request = Training(
            model=reference_model(row["model"]),
            cluster=Cluster(gpu=A100),
            precision=TrainingPrecision(row["precision"]),
            attention=AttentionImplementation(row["attention"]),
            padding_mask=row["padded"] == "1",
            dropout=row["dropout"] == "1",
            micro_batch_size=int(row["batch"]),
            sequence_length=int(row["sequence"]),
        )
        yield SavedCell(label, request, int(row["bytes_per_layer"]))


def peak_cells() -> Iterator[PeakCell]:
    """Peaks of whole training steps."""
    for row in _rows("training_peaks.csv"):
        label = " ".join(value for key, value in row.items() if not key.endswith("_bytes"))
        figures = (int(row[f"{key}_bytes"]) for key in ("forward", "backward", "optimizer", "peak"))
        reserved = int(row["reserved_bytes"]) if row["reserved_bytes"] else None
        yield PeakCell(label, _peak_request(row), *figures, reserved=reserved)


def shortened(model: ModelSpec, layers: int) -> ModelSpec:
    """`model` with that many layers."""
    stack = model.stacks[0]
    runs = (Run(stack.runs[0].layer, layers),)
    return dataclasses.replace(model, stacks=(dataclasses.replace(stack, runs=runs),))


def _peak_request(row: dict[str, str]) -> Training:
    model, ranks, image = reference_model(row["model"]), int(row["fsdp_ranks"]), row["model"] == "resnet-50"
    if row["layers"] != "0":
        model = shortened(model, int(row["layers"]))
    method = Method()
    if row["method"] != "full":
        method = Method(
            kind=MethodKind(row["method"]),
            rank=int(row["rank"]),
            targets=row["targets"],
            adapter_fp32=row["adapter_fp32"] == "1",
            kbit_upcast=row["upcast"] == "1",
        )
    return Training(
        model=model,
        cluster=Cluster(gpu=A100, gpus=ranks),
        layout=Layout(data_parallel=ranks, sharding=Sharding.FSDP if ranks > 1 else Sharding.NONE),
        method=method,
        precision=TrainingPrecision(row["precision"]),
        optimizer=OptimizerKind(row["optimizer"]),
        micro_batch_size=int(row["batch"]),
        sequence_length=0 if image else int(row["sequence"]),
        image_size=int(row["sequence"]) if image else 224,
        recompute=Recompute(row["recompute"]),
        attention=AttentionImplementation(row["attention"]),
        padding_mask=row["padded"] == "1",
        dropout=row["model"] == "bert-large",
        loss=LossPath(row["loss"]),
    )
