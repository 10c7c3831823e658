"""Each solution against the scalar planner: its value fits, the next one does not."""

import pytest

from planner.estimate import estimate
from planner.plan.checks import problems_of
from planner.plan.plan import resolve
from planner.plan.request import request_of
from planner.result import InputError
from planner.solve import SOLVABLE, fewest_gpus, largest, solvable, solve

TUNING = {"task": "finetune", "model": "meta-llama/Llama-3.1-8B", "gpu": "rtx-4090", "method": "qlora"}
SERVING = {"task": "serve", "model": "Qwen/Qwen3-32B", "gpu": "h100-sxm5-80gb", "gpus": 2, "concurrency": 4}
IMAGES = {"task": "train", "model": "timm/resnet50", "gpu": "t4"}


def fits(plan):
    return bool(estimate(request_of(plan)).fits)


@pytest.mark.parametrize(
    ("chosen", "field", "step"),
    [
        ({**TUNING, "micro_batch_size": 1}, "micro_batch_size", 1),
        ({**TUNING, "micro_batch_size": 1}, "sequence_length", 1),
        ({**TUNING, "micro_batch_size": 1}, "lora_rank", 1),
        ({**TUNING, "gpus": 4, "context_parallel": 4, "micro_batch_size": 1}, "sequence_length", 8),
        (SERVING, "concurrency", 1),
        (SERVING, "input_tokens", 1),
        (IMAGES, "micro_batch_size", 1),
        (IMAGES, "image_size", 1),
    ],
)
def test_largest_is_exact(chosen, field, step):
    plan = resolve(chosen)
    found = largest(plan, field)
    assert found.value is not None
    assert not problems_of(found.plan)
    assert fits(plan.with_changes(**{field: found.value}))
    assert found.margin_bytes >= 0
    if found.next_short_bytes is not None:
        beyond = estimate(request_of(plan.with_changes(**{field: found.value + step})))
        assert not beyond.fits
        assert -float(beyond.memory.spare) == pytest.approx(found.next_short_bytes, rel=1e-9)


def test_limits_other_than_memory_end_a_search():
    plan = resolve({"task": "train", "model": "openai-community/gpt2", "gpu": "h200-sxm-141gb", "micro_batch_size": 1})
    found = largest(plan, "sequence_length")
    assert (found.value, found.next_short_bytes) == (1024, None)


def test_nothing_fits():
    plan = resolve({**TUNING, "model": "meta-llama/Llama-3.1-70B", "method": "full"})
    found = largest(plan, "micro_batch_size")
    assert found.value is None
    assert found.margin_bytes < 0
    assert found.next_short_bytes == pytest.approx(-found.margin_bytes)


def test_fewest_gpus():
    plan = resolve({**TUNING, "method": "full", "gpus": 4, "precision": "bf16", "recompute": "full"})
    found = fewest_gpus(plan)
    assert found.value > 1
    assert fits(plan.with_changes(gpus=found.value))
    assert not any(fits(plan.with_changes(gpus=n)) for n in range(2, found.value))


def test_largest_model():
    plan = resolve({"task": "serve", "model": "transformer-1b", "gpu": "rtx-4090", "concurrency": 1})
    found = largest(plan, "model")
    assert fits(plan.with_changes(model=found.value))
    assert 8.0 < float(found.value.removeprefix("transformer-").removesuffix("b")) < 12.0  # 2 bytes a parameter, 24 GB


def test_solvable_fields_follow_the_plan():
    assert "lora_rank" in solvable(resolve(TUNING))
    assert "lora_rank" not in solvable(resolve(SERVING))
    assert set(solvable(resolve(SERVING))) <= set(SOLVABLE)
    with pytest.raises(InputError):
        solve(resolve(SERVING), "micro_batch_size")
