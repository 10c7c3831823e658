"""Bytes saved for backward, layer by layer, against tensors counted in real models."""

import pytest

from planner.memory.layers import layer_saved
from planner.memory.path import path_of
from planner.memory.saved import Shape
from planner.models.spec import StackKind
from planner.workload import Training
from tests.planner.memory.traced import SavedCell, saved_cells

CELLS = list(saved_cells())
# With one sequence and one key/value head, repeating keys is a view; with more sequences it is the copy we count.
SINGLE_SEQUENCE_VIEW = {"gemma-3-1b eager 0 bf16 0": 0.025, "gemma-3-1b eager 0 amp-bf16 0": 0.012}


def layer_bytes(request: Training) -> float:
    stack = request.model.stacks[0]
    coefficients = layer_saved(path_of(request), stack.runs[0].layer, stack.kind is StackKind.VISION)
    tokens = request.micro_batch_size * request.sequence_length
    return float(coefficients.kept.bytes(Shape(tokens, request.sequence_length, 1, 1, 0)))


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.label)
def test_layer_matches_counted_tensors(cell: SavedCell) -> None:
    allowed = SINGLE_SEQUENCE_VIEW.get(cell.label, 0.001)
    assert layer_bytes(cell.request) == pytest.approx(cell.bytes, rel=allowed)


def test_megatron_formula_with_dropout() -> None:
    """34 s b h + 5 a s^2 b (Korthikanti et al., equation 2), and 16 bytes a token of norm statistics."""
    cell = next(cell for cell in CELLS if cell.label == "block:megatron eager 0 bf16 1")
    s, h, a = cell.request.sequence_length, 4096, 32
    assert layer_bytes(cell.request) == 34 * s * h + 5 * a * s * s + 16 * s
