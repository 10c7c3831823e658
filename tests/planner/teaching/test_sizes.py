"""The search for the largest model, and the roofline's arithmetic."""

import pytest

from planner.estimate import estimate
from planner.hardware.catalogue import gpu
from planner.plan.plan import resolve
from planner.plan.request import request_of
from planner.teaching.roofline import intensity_of, product, ridge, roof
from planner.teaching.sizes import largest_billions
from planner.throughput.roofline import machine

SERVE = {"task": "serve", "gpu": "rtx-4090", "concurrency": 1, "weight_format": "bf16"}


def fits(chosen, billions):
    return bool(estimate(request_of(resolve({**chosen, "model": f"transformer-{billions:g}b"}))).fits)


@pytest.mark.parametrize("chosen", [SERVE, {"task": "finetune", "method": "full", "gpu": "a100-sxm4-80gb"}])
def test_the_largest_fits_and_a_larger_one_does_not(chosen):
    largest = largest_billions(resolve(chosen))
    assert fits(chosen, largest)
    assert not fits(chosen, 1.15 * largest)


def test_more_memory_or_fewer_bits_hold_more():
    base = largest_billions(resolve(SERVE))
    assert largest_billions(resolve({**SERVE, "gpu": "a100-sxm4-80gb"})) > 2 * base
    assert largest_billions(resolve({**SERVE, "weight_format": "awq-int4"})) > 2 * base


def test_nothing_fits_a_card_without_room():
    assert largest_billions(resolve({**SERVE, "task": "train", "gpu": "k80", "micro_batch_size": 4096})) is None


def test_products_stay_under_the_roof_and_climb_it():
    on = machine(gpu("a100-sxm4-80gb"), "fp16")
    points = [product(on, rows, 4096) for rows in (1, 16, 256, 4096)]
    assert [point.rate for point in points] == sorted(point.rate for point in points)
    assert all(point.rate <= roof(on, point.intensity) * (1 + 1e-9) for point in points)
    assert points[0].rate == pytest.approx(roof(on, points[0].intensity), rel=0.05)
    assert roof(on, ridge(on)) == pytest.approx(on.flops)
    assert intensity_of(1, 4096) == pytest.approx(1, rel=1e-3)
