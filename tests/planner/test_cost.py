from dataclasses import replace

import numpy as np
import pytest

from planner.cost import cost
from planner.hardware.catalogue import gpu
from planner.hardware.types import Cluster
from planner.models.spec import ImageCosts, ModelSpec, ModelTask
from planner.parallel import Layout
from planner.throughput.training import training_speed
from planner.workload import Training

COSTS = ImageCosts(parameters=25_560_000, multiply_accumulates=4.11e9, activation_elements=11.11e6, image_size=224)
MODEL = ModelSpec(id="resnet50", name="ResNet-50", model_type="resnet", task=ModelTask.VISION, image=COSTS)
CLUSTER = Cluster(
    gpu=gpu("a100-sxm4-80gb"), gpus=4, price_per_gpu_hour=2.0, price_source="mine", price_date="2026-11-01"
)
REQUEST = Training(
    model=MODEL, cluster=CLUSTER, layout=Layout(data_parallel=4), micro_batch_size=256, total_samples=90 * 1_281_167
)


def test_price_follows_time():
    speed = training_speed(REQUEST)
    bill = cost(REQUEST, speed)
    assert bill.price_per_hour == 8.0
    assert bill.seconds_to_finish == pytest.approx(90 * 1_281_167 / speed.samples_per_second, rel=1e-4)
    assert bill.price_to_finish == pytest.approx(8.0 * bill.seconds_to_finish / 3600)
    assert (bill.price_source, bill.price_date) == ("mine", "2026-11-01")


def test_energy_stays_within_the_power_limit():
    bill = cost(REQUEST, training_speed(REQUEST))
    limit = 4 * 400 * bill.seconds_to_finish
    assert 0.3 * limit < bill.energy_joules < limit


def test_without_a_price_of_its_own_the_cheapest_dated_offer_is_used():
    request = replace(REQUEST, cluster=Cluster(gpu=gpu("a100-sxm4-80gb"), gpus=4))
    bill = cost(request, training_speed(request))
    assert bill.price_date
    assert bill.price_source
    assert 2 < bill.price_per_hour < 20


def test_what_is_unknown_stays_unknown():
    unpriced = replace(REQUEST, cluster=Cluster(gpu=gpu("rubin-r200")), total_samples=None)
    bill = cost(unpriced, None)
    assert bill.price_per_hour is None
    assert bill.price_to_finish is None
    assert cost(replace(REQUEST, total_samples=None), training_speed(REQUEST)).seconds_to_finish is None


def test_arrays():
    request = replace(REQUEST, micro_batch_size=np.array([64, 256]))
    bill = cost(request, training_speed(request))
    assert bill.price_to_finish.shape == (2,)
    assert bill.price_to_finish[0] > bill.price_to_finish[1]


def test_images_have_no_price_per_token():
    assert cost(REQUEST, training_speed(REQUEST)).price_per_million_tokens is None


def test_steps_are_whole():
    request = replace(REQUEST, total_samples=1)
    speed = training_speed(request)
    assert cost(request, speed).seconds_to_finish == pytest.approx(speed.seconds)
