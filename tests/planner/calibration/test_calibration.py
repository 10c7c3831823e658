"""Intervals: from other sources, wider where less is known; and the file that they come from is that of this code."""

import dataclasses

import pytest

from planner.baselines import rules
from planner.calibration.families import Family, kinds
from planner.calibration.intervals import around, fit_probability, interval
from planner.calibration.residuals import band, residuals
from planner.calibration.similar import similar
from planner.calibration.targets import reached
from planner.estimate import estimate
from planner.hardware.catalogue import gpu, read_rows
from planner.plan.plan import resolve
from planner.plan.request import request_of
from planner.result import Status
from planner.validation.run import table_outcomes
from planner.validation.tables import table_of


def request(**chosen):
    return request_of(resolve({"task": "serve", "model": "Qwen/Qwen3-8B", "gpu": "h100-sxm5-80gb", **chosen}))


@pytest.mark.parametrize("table", ["measured_training.csv", "measured_finetune.csv", "measured_inference.csv"])
def test_the_carried_comparisons_are_those_of_this_code(table):
    known = {(each.id, each.quantity): each for each in residuals()}
    rows = read_rows(table)[::60]
    for outcome in table_outcomes(table_of(rows)):
        for each in outcome.comparisons:
            kept = known[outcome.id, each.quantity.value]
            assert each.predicted == pytest.approx(kept.predicted, rel=1e-4), "run: python -m planner calibrate"


def test_a_row_is_never_judged_by_its_own_source_where_there_are_others():
    whole = band(Family.DECODE, ("serve vllm", "serve", ""))
    without = band(Family.DECODE, ("serve vllm", "serve", ""), "ai-dynamo/aiconfigurator", "")
    assert whole is not None
    assert without is not None
    assert without.rows < whole.rows


def test_rows_of_quality_c_are_never_learnt_from():
    counted = band(Family.WEIGHTS, ("",))
    assert counted is not None
    assert counted.rows == sum(r.family == "weights" and r.quality in ("A", "B") for r in residuals())


def test_a_card_of_an_unmeasured_generation_has_a_wider_interval():
    known = request()
    far = dataclasses.replace(known, cluster=dataclasses.replace(known.cluster, gpu=gpu("p100-sxm2-16gb")))
    near, wide = (around(1.0, Family.DECODE, each) for each in (known, far))
    assert near.status is Status.MEASURED
    assert wide.status is Status.EXTRAPOLATED
    assert wide.high / wide.low > near.high / near.low


def test_an_interval_holds_its_value_and_rates_mirror_times():
    asked = request()
    found = interval(estimate(asked), asked)
    for each in (found.required, found.tokens_per_second, found.time_to_first_token, found.time_per_output_token):
        assert each is not None
        assert each.low < each.value < each.high
    assert found.seconds is None
    time, rate = around(2.0, Family.STEP, asked), around(0.5, Family.STEP, asked, inverse=True)
    assert time.low * rate.high == pytest.approx(1.0)


def test_the_probability_of_fitting_falls_with_what_is_required():
    asked = request()
    needed = around(50e9, Family.DEVICE, asked)
    chances = [fit_probability(needed, capacity) for capacity in (20e9, 50e9, 60e9, 500e9)]
    assert chances == sorted(chances)
    assert chances[0] < 0.01
    assert chances[-1] > 0.99


def test_kinds_go_from_the_particular_to_everything():
    assert kinds(request())[0] == "serve vllm"
    assert all(kinds(request(engine=name))[-1] == "" for name in ("vllm", "llama.cpp"))


def test_what_was_reached_does_not_get_worse():
    """Bounds a little above today's figures: a change that breaks a quantity is seen."""
    worst = {"allocated": 0.05, "held": 0.10, "weights": 0.01, "cache": 0.02, "language": 0.17, "images": 0.22}
    worst |= {"decode": 0.09, "first": 0.25}
    for each in reached():
        assert each.middle <= worst[each.target.id], each.target.id
        assert 0.85 <= each.coverage <= 0.99, each.target.id


def test_public_rules_say_what_their_sources_say():
    plan = request_of(resolve({"task": "train", "model": "openai-community/gpt2", "gpu": "a100-sxm4-80gb", "gpus": 8}))
    parameters = plan.model.total_parameters
    assert rules.accelerate_training_bytes(plan.model) == 16 * parameters
    assert rules.deepspeed_bytes(plan) == pytest.approx(4 * 50257 * 768 + 18 * parameters / 8)
    assert rules.serving_bytes(request()) == pytest.approx(1.2 * 2 * request().model.total_parameters)
    assert rules.training_seconds(plan) > 0


def test_the_most_similar_rows_are_of_the_same_engine_and_then_the_same_card():
    found = similar(request(), Family.DECODE)
    assert len(found) == 5
    assert all("serve vllm" in each.kinds for each in found)
    assert found[0].gpu == "h100-sxm5-80gb"
    assert not similar(request(), Family.STEP)
