"""Saved activations of catalogue models, one value a family: the facts that families state reach memory."""

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner.hardware.types import Cluster
from planner.memory.activations import shape_of
from planner.memory.layers import outside_saved
from planner.memory.path import path_of
from planner.memory.training import training_memory
from planner.models.catalogue import model
from planner.workload import AttentionImplementation, Training, TrainingPrecision
from tests.planner.memory.fms import A100

DATA = Path(__file__).parents[2] / "data" / "saved_activations_catalogue.csv"
SHORT_CONVOLUTION = "LiquidAI/LFM2-1.2B"  # its convolution is counted as the general recurrence, not traced


def cells() -> Iterator[tuple[str, Training, int]]:
    with DATA.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            request = Training(
                model=model(row["model"]),
                cluster=Cluster(gpu=A100),
                precision=TrainingPrecision(row["precision"]),
                attention=AttentionImplementation(row["attention"]),
                sequence_length=int(row["sequence"]),
            )
            yield " ".join(list(row.values())[:3]), request, int(row["bytes_per_layer"])


CELLS = list(cells())


@pytest.mark.parametrize(("label", "request_", "expected"), CELLS, ids=[cell[0] for cell in CELLS])
def test_layers_of_a_family(label: str, request_: Training, expected: int) -> None:
    stack = request_.model.text_stack
    assert stack is not None
    terms = training_memory(request_).phases[0].terms
    saved = next(term.value for term in terms if term.id == "mem.activations")
    outside = _outside(request_)
    allowed = 0.03 if label.startswith(SHORT_CONVOLUTION) else 0.005
    assert (saved - outside) / stack.depth == pytest.approx(expected, rel=allowed)


def _outside(request_: Training) -> float:
    path = path_of(request_)
    shape = shape_of(request_, request_.model.text_stack)  # type: ignore[arg-type]
    before, behind = outside_saved(path, request_.model)
    return float(before.bytes(shape) + behind.bytes(shape))
