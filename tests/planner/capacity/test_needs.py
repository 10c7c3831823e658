"""A plan as a workload: the fewest GPUs that hold it, and the hours that the estimate gives."""

import pytest

from planner.capacity.needs import row_of
from planner.estimate import estimate
from planner.plan.plan import resolve
from planner.plan.request import request_of
from planner.result import InputError

TRAIN = {"model": "meta-llama/Llama-3.1-8B", "task": "train", "gpu": "h100-sxm5-80gb", "train_tokens_millions": 1000.0}


def test_training_takes_the_fewest_gpus_and_their_hours() -> None:
    row = row_of(resolve(TRAIN))
    assert row["gpus"] > 1
    assert row["gpu_hours"] == pytest.approx(
        2 * row_of(resolve({**TRAIN, "train_tokens_millions": 500.0}))["gpu_hours"], rel=0.01
    )
    assert row["gpu_types"] == "h100-sxm5-80gb"


def test_one_gpu_agrees_with_the_estimate() -> None:
    plan = resolve(
        {"model": "meta-llama/Llama-3.1-8B", "method": "qlora", "micro_batch_size": 1, "train_tokens_millions": 10.0}
    )
    row = row_of(plan)
    assert row["gpus"] == 1
    seconds = estimate(request_of(plan)).cost.seconds_to_finish
    assert row["gpu_hours"] == pytest.approx(float(seconds) / 3600, abs=0.01)


def test_serving_is_a_service() -> None:
    row = row_of(resolve({"model": "Qwen/Qwen3-32B", "task": "serve", "gpu": "l40s"}))
    assert row["gpu_hours"] == 0
    assert row["gpus"] >= 2


def test_what_is_missing_is_said() -> None:
    with pytest.raises(InputError) as error:
        row_of(resolve({"model": "meta-llama/Llama-3.1-8B", "task": "train", "train_tokens_millions": 0.0}))
    assert error.value.problems[0].code == "missing-value"
