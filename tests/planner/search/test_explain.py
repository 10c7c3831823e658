"""Reasons of a search: they add up, and what they advise works."""

import dataclasses

import pytest

from planner.parallel import Sharding
from planner.plan.plan import resolve
from planner.search.explain import Reason, differences, estimated, relaxations, why_not
from planner.search.search import search
from planner.search.space import space_of

PLAN = resolve(
    {
        "task": "train",
        "model": "meta-llama/Llama-3.1-8B",
        "gpu": "h100-sxm5-80gb",
        "gpus": 16,
        "micro_batch_size": 1,
        "gradient_accumulation_steps": 4,
        "sequence_length": 4096,
        "precision": "bf16-master",
    }
)


@pytest.fixture(scope="module")
def found():
    return search(PLAN, space_of(PLAN))


def test_differences_sum_to_the_loss(found):
    best, other = (estimated(PLAN, found.best[place]) for place in (0, 3))
    lost = sum(one.seconds for one in differences(best, other))
    assert lost == pytest.approx(best.speed.seconds * (best.relative_rate(other) - 1))
    assert differences(best, best)[0].seconds == pytest.approx(0)


def test_why_not(found):
    space = space_of(PLAN)

    def ask(**changes):
        return why_not(PLAN.with_changes(**changes), PLAN, space, found)

    best = found.best[0]
    assert ask(**best.sets(PLAN)).reason is Reason.BEST
    assert ask(tensor_parallel=7).reason is Reason.IMPOSSIBLE
    short = ask(sharding="none", recompute="none", micro_batch_size=4, gradient_accumulation_steps=1)
    assert short.reason is Reason.NO_MEMORY
    assert short.short_bytes > 0
    slower = ask(pipeline_parallel=16, sharding="none", micro_batch_size=1, gradient_accumulation_steps=64)
    assert slower.reason is Reason.SLOWER
    assert 0 < slower.speed_ratio < 1
    assert 0 <= slower.share_slower < 1
    assert [one.seconds for one in slower.differences] == sorted((d.seconds for d in slower.differences), reverse=True)
    assert {"time.bubble"} <= {one.term for one in slower.differences[:3] if one.seconds > 0}
    assert ask(gradient_accumulation_steps=8).global_batch_size == 128


def test_nothing_legal_asks_for_a_batch_that_divides():
    space = dataclasses.replace(space_of(PLAN, fewer_gpus=False), global_batch_size=1, shardings=(Sharding.FSDP,))
    plan = PLAN.with_changes(model="timm/resnet50", sequence_length=None)
    nothing = search(plan, space)
    assert nothing.legal == 0
    (advice,) = relaxations(plan, space, nothing)
    assert (advice.field, advice.value) == ("global_batch_size", 16)
    assert search(plan, dataclasses.replace(space, global_batch_size=advice.value)).legal


def test_nothing_fits_asks_for_more_gpus_or_less_work():
    plan = PLAN.with_changes(model="meta-llama/Llama-3.1-405B", sequence_length=131_072)
    space = space_of(plan, offload=False)
    nothing = search(plan, space)
    assert nothing.legal
    assert not nothing.fits
    advice = {one.field: one for one in relaxations(plan, space, nothing)}
    more = plan.with_changes(gpus=advice["gpus"].value)
    assert search(more, space_of(more, global_batch_size=space.global_batch_size, offload=False)).fits
    half = plan.with_changes(gpus=advice["gpus"].value // 2)
    assert not search(half, space_of(half, global_batch_size=space.global_batch_size, offload=False)).fits
