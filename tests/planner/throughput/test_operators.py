import dataclasses

import pytest
import speed_accuracy as measured

from planner.models.spec import Linear, ModelSpec, Stack, StackKind
from planner.throughput.operators import backward_flops, forward_flops, model_work

ROWS = [row for row in measured.rows("oracle_flops.csv") if row["recompute"] == "none"]


def spec_of(row: dict[str, str]) -> ModelSpec:
    if row["family"] == "image":
        return measured.image_network({**row, "id": row["model"]})
    row = {**row, "id": row["model"]}
    if row["family"] != "bert":
        return measured.decoder(row)
    spec = measured.decoder({**row, "family": "gpt"})
    hidden = int(row["hidden"])
    stack = dataclasses.replace(spec.stacks[0], kind=StackKind.ENCODER)
    transform = Linear(role="transform", inputs=hidden, outputs=hidden)  # of the masked-language head
    return dataclasses.replace(spec, stacks=(Stack(**{**vars_of(stack), "linears": (transform,)}),))


def vars_of(stack: Stack) -> dict[str, object]:
    return {field.name: getattr(stack, field.name) for field in dataclasses.fields(stack)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['model']}-{row['mode']}-{row['batch']}x{row['size']}")
def test_flops_equal_those_counted_while_running(row):
    spec = spec_of(row)
    batch, size = int(row["batch"]), int(row["size"])
    if row["family"] == "image":
        scale = (size / spec.image.image_size) ** 2
        forward = forward_flops(spec, batch, 1)[0] * scale
        # timm prints two decimals, and counts some element-wise operations
        assert forward == pytest.approx(float(row["forward_flops"]), rel=0.01)
        return
    if row["mode"] == "decode":
        work = model_work(spec)
        matrices = forward_flops(spec, batch, 1)[0]
        forward = matrices + work.main.attention_flops(batch, size + 1)
        assert forward == pytest.approx(float(row["forward_flops"]), rel=0.005)
        return
    matrices, attention = forward_flops(spec, batch, size)
    if row["family"] == "bert":
        matrices += 2 * batch * size * int(row["hidden"]) ** 2
    assert matrices + attention == pytest.approx(float(row["forward_flops"]), rel=0.005)
    assert backward_flops(matrices, attention) == pytest.approx(float(row["backward_flops"]), rel=0.005)


def test_a_router_leaves_most_experts_out():
    row = next(row for row in ROWS if row["model"] == "qwen3-30b-a3b")
    spec = spec_of(row)
    assert 2 * model_work(spec).main.matrix_elements < 0.2 * spec.total_parameters


def test_work_is_kept_for_each_model():
    spec = spec_of(ROWS[0])
    assert model_work(spec) is model_work(spec)
