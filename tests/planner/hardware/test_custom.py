"""Cards of the user's own."""

import pytest

from planner.hardware.custom import custom_gpu
from planner.result import InputError

CARD = {"name": "My Card", "memory_gib": 48, "bandwidth_gbs": 900, "bf16": 180, "watts": 300, "price": 1.5}


def test_becomes_a_gpu_in_base_units():
    gpu = custom_gpu(CARD).gpu()
    assert gpu.id == "custom-my-card"
    assert gpu.memory_bytes == 48 * 2**30
    assert gpu.memory_bandwidth == 900e9
    assert gpu.peaks == {"bf16": 180e12}
    assert gpu.power_watts == 300


def test_round_trip():
    assert custom_gpu(custom_gpu(CARD).as_mapping()) == custom_gpu(CARD)
    assert custom_gpu({key: str(value) for key, value in CARD.items()}) == custom_gpu(CARD)


def test_every_problem_is_named_at_once():
    with pytest.raises(InputError) as caught:
        custom_gpu({"name": "x", "memory_gib": -1, "bandwidth_gbs": "fast", "colour": "red"})
    found = {(problem.field, problem.code) for problem in caught.value.problems}
    assert found == {
        ("memory_gib", "out-of-range"),
        ("bandwidth_gbs", "not-a-number"),
        ("colour", "unknown-field"),
        ("bf16", "missing-value"),
    }


@pytest.mark.parametrize("value", [True, float("nan"), "inf", [], {}])
def test_hostile_numbers_are_refused(value):
    with pytest.raises(InputError):
        custom_gpu({**CARD, "memory_gib": value})
