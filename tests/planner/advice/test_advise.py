"""Advice is what the planner itself says of the changed plan, ranked."""

import pytest

from planner.advice import processors
from planner.advice.advise import advise
from planner.advice.changes import CHANGES
from planner.advice.precisions import compare
from planner.estimate import estimate
from planner.plan.plan import resolve
from planner.plan.presets import PRESETS
from planner.plan.request import request_of

TIGHT = {"model": "meta-llama/Llama-3.1-8B", "method": "lora", "gpu": "rtx-4090", "micro_batch_size": 8}


def plan_and_estimate(chosen):
    plan = resolve(chosen)
    return plan, estimate(request_of(plan))


@pytest.mark.parametrize("id", PRESETS)
def test_every_suggestion_is_the_estimate_of_its_own_plan(id):
    plan, present = plan_and_estimate(PRESETS[id])
    for one in advise(plan, present):
        again = estimate(request_of(one.plan))
        assert again.memory.required == one.estimate.memory.required
        assert one.memory_ratio == pytest.approx(again.memory.required / present.memory.required)
        assert one.plan.chosen == plan.with_changes(**{k: v for c in one.changes for k, v in c.sets.items()}).chosen


def test_what_makes_it_fit_comes_first_and_gives_up_least():
    plan, present = plan_and_estimate(TIGHT)
    assert not present.fits
    suggestions = advise(plan, present)
    fits = [one.fits for one in suggestions]
    assert fits[0]
    assert fits == sorted(fits, reverse=True)
    assert suggestions[0].trade == "none"
    assert "fused-loss" in [one.id for one in suggestions]


def test_a_plan_far_too_large_gets_a_recipe():
    chosen = {
        "task": "finetune",
        "model": "Qwen/Qwen3-14B",
        "method": "full",
        "gpu": "rtx-4090",
        "gpus": 2,
        "precision": "amp-bf16",
        "recompute": "none",
        "micro_batch_size": 8,
        "price": 0.5,
    }
    plan, present = plan_and_estimate(chosen)
    recipes = [one for one in advise(plan, present) if len(one.changes) > 1]
    singles = [one for one in advise(plan, present) if len(one.changes) == 1 and one.trade != "hardware" and one.fits]
    assert singles or recipes
    for one in recipes:
        assert one.estimate.memory.required < present.memory.required


def test_a_plan_that_fits_is_only_offered_gains():
    plan, present = plan_and_estimate(PRESETS["serve-32b"])
    assert present.fits
    for one in advise(plan, present):
        gains = (one.speed_ratio or 1) > 1.02 or (one.cost_ratio or 1) < 0.98 or one.memory_ratio < 0.98
        assert gains
        assert one.fits


def test_at_least_ten_kinds_of_change():
    for chosen, least in ((TIGHT, 10), (PRESETS["serve-32b"] | {"weight_format": "bf16"}, 8)):
        plan, present = plan_and_estimate(chosen)
        assert len({change.id for source in CHANGES for change in source(plan, present)}) >= least


def test_precisions_side_by_side_hold_the_plan_itself():
    plan, present = plan_and_estimate(TIGHT)
    rows = {row.id: row for row in compare(plan)}
    assert rows[plan.values["precision"]].estimate.memory.device == present.memory.device
    assert rows["fp32"].estimate.memory.device > present.memory.device
    assert all(row.problems or row.estimate for row in rows.values())


def test_processors_are_slower_than_a_gpu_and_ranked():
    plan, present = plan_and_estimate(TIGHT)
    rows = processors.compare(request_of(plan), present)
    ratios = [row.ratio for row in rows]
    assert ratios == sorted(ratios, reverse=True)
    assert 0 < ratios[-1] < ratios[0] < 1
