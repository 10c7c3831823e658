"""The fit of the time model's constants: within bounds, back to what made the data, and nothing left behind."""

import dataclasses
import math
from types import SimpleNamespace

import pytest

from planner.calibration import fit
from planner.hardware.catalogue import gpu, read_rows
from planner.hardware.types import Cluster
from planner.memory.overhead import fragmentation_bytes
from planner.parallel import Layout, Sharding
from planner.plan.plan import resolve
from planner.plan.request import request_of
from planner.throughput import constants
from planner.throughput.gradients import Traffic
from planner.throughput.input_pipeline import loading_seconds
from planner.throughput.roofline import machine
from planner.throughput.training import training_speed
from planner.validation.case import Quantity
from planner.workload import InputPipeline, Recompute

ROWS = read_rows(fit.FILE)


@pytest.mark.parametrize("known", fit.constants_of(ROWS), ids=lambda known: known.name)
def test_every_constant_is_within_its_bounds_and_says_what_it_is(known):
    assert known.low <= known.value <= known.high
    assert known.low <= known.prior <= known.high
    row = next(row for row in ROWS if row["name"] == known.name)
    assert row["meaning"]
    assert row["origin"]


def test_constants_on_trial_are_put_back():
    before = dict(constants.FITTED)
    with fit.using({"interference": 0.4}):
        assert constants.FITTED["interference"] == 0.4
    assert before == constants.FITTED


def test_a_fit_finds_the_constant_that_made_its_data():
    pytest.importorskip("scipy")
    request = request_of(resolve({"task": "train", "model": "Qwen/Qwen3-8B", "gpu": "a100-sxm4-80gb", "gpus": 8}))
    runs = []
    with fit.using({"sustained.Ampere": 0.8}):
        for length in (1024, 2048, 4096, 8192):
            varied = dataclasses.replace(request, sequence_length=length)
            rate = training_speed(varied).tokens_per_second
            runs += [fit.Run(varied, Quantity.TOKENS_RATE, rate, source, "A") for source in ("one", "two") * 10]
    known = [each for each in fit.constants_of(ROWS) if each.name == "sustained.Ampere"]
    found = fit.fit(known, runs)
    assert found.values["sustained.Ampere"] == pytest.approx(0.8, abs=0.01)
    assert found.held_out["one"] < found.before["one"]


def test_communication_that_is_hidden_still_costs_its_interference():
    traffic = Traffic.behind(2.0, 10.0)
    assert traffic.exposed == pytest.approx(2.0 * constants.FITTED["interference"])
    assert traffic.exposed + traffic.hidden == pytest.approx(2.0)


def test_attention_in_training_runs_at_the_clocks_of_the_products():
    card = gpu("h100-sxm5-80gb")
    short, hours = machine(card, "bf16"), machine(card, "bf16", True)
    assert hours.sixteen_bit_flops / short.sixteen_bit_flops == pytest.approx(hours.flops / short.flops)


def test_one_gpu_has_its_nodes_storage_to_itself():
    pipeline = InputPipeline(sample_bytes=1e6, storage_bandwidth=1e9)
    card = gpu("h100-sxm5-80gb")
    alone, eight, many = (loading_seconds(pipeline, Cluster(gpu=card, gpus=n), 100) for n in (1, 8, 64))
    assert alone == pytest.approx(0.1)
    assert eight == many == pytest.approx(8 * alone)


def test_blocks_that_are_asked_for_once_a_step_leave_little_idle():
    layout = Layout(data_parallel=8, sharding=Sharding.FSDP)
    kept, again = (
        fragmentation_bytes(SimpleNamespace(layout=layout, recompute=each), 1e9)
        for each in (Recompute.NONE, Recompute.FULL)
    )
    assert math.isclose(again / kept, 5.0)
