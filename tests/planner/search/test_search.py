"""The search against the scalar planner, one plan after another, and against its own rules."""

import itertools
import tracemalloc

import numpy as np
import pytest

from planner.estimate import estimate
from planner.parallel import Sharding
from planner.plan.checks import problems_of
from planner.plan.plan import resolve
from planner.plan.request import request_of
from planner.search.enumerate import blocks, degrees_of, divisors, sharding_kinds
from planner.search.evaluate import scores
from planner.search.pareto import Sieve, frontier
from planner.search.search import layout_at, search
from planner.search.space import global_batch_of, space_of

DENSE = {
    "task": "train",
    "model": "meta-llama/Llama-3.1-8B",
    "gpu": "h100-sxm5-80gb",
    "gpus": 16,
    "micro_batch_size": 1,
    "gradient_accumulation_steps": 2,
    "sequence_length": 4096,
    "precision": "bf16-master",
}
EXPERTS = {**DENSE, "model": "mistralai/Mixtral-8x7B-v0.1"}
ADAPTERS = {**DENSE, "task": "finetune", "method": "lora", "model": "meta-llama/Llama-3.1-70B"}
ADAPTERS |= {"gpus": 8, "precision": "bf16-amp", "gpu": "rtx-4090"}
IMAGES = {"task": "train", "model": "timm/resnet50", "gpu": "a100-sxm4-80gb", "gpus": 8, "micro_batch_size": 64}
SERVING = {"task": "serve", "model": "Qwen/Qwen3-32B", "gpu": "l40s", "gpus": 8, "concurrency": 32}
KINDS = {"dense": DENSE, "experts": EXPERTS, "adapters": ADAPTERS, "images": IMAGES, "serving": SERVING}


def every(plan, space):
    """Every legal layout of a space, with the figures that the arrays gave it."""
    base = request_of(plan)
    degrees = degrees_of(base, space)
    for gpus in space.gpus:
        for sharding, group in sharding_kinds(space, gpus):
            ranks = degrees.ranks
            rows = (degrees.gpus == gpus) & ((ranks % group == 0) & (ranks > group) if group else True)
            rows &= (ranks > 1) | (sharding is Sharding.NONE)
            for block in blocks(base, space, degrees, np.flatnonzero(rows)):
                for choice in space.choices(sharding, group):
                    found = scores(base, block, choice)
                    for cell in np.flatnonzero(block.legal):
                        yield layout_at(block, choice, found.required, found.rate, int(cell))


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_equal_the_scalar_planner(kind):
    plan = resolve(KINDS[kind])
    layouts = list(every(plan, space_of(plan)))
    for layout in layouts[:: max(1, len(layouts) // 150)]:
        changed = plan.with_changes(**layout.sets(plan))
        assert not problems_of(changed), layout
        result = estimate(request_of(changed))
        assert layout.required_bytes == pytest.approx(float(result.memory.required), rel=1e-9), layout
        assert layout.rate == pytest.approx(result.speed.rate, rel=1e-9), layout
        if plan.values["task"] != "serve":
            assert global_batch_of(changed) == global_batch_of(plan)


@pytest.mark.parametrize("kind", KINDS)
def test_the_search_is_a_search_of_every_layout(kind):
    plan = resolve(KINDS[kind])
    space = space_of(plan)
    found, layouts = search(plan, space), list(every(plan, space))
    fitting = [one for one in layouts if one.required_bytes <= found.capacity_bytes]
    assert (found.legal, found.fits) == (len(layouts), len(fitting))
    assert found.considered >= found.legal
    assert len(found.rates) == found.fits
    assert found.leanest.required_bytes == min(one.required_bytes for one in layouts)
    assert found.best[0].rate == max(one.rate for one in fitting)
    assert found.share_slower(2 * found.best[0].rate) == 1.0
    slow = {(one.rate, one.required_bytes, one.gpus) for one in found.frontier}
    beaten = frontier(*(np.array([getattr(o, f) for o in fitting]) * s for f, s in FIGURES))
    assert slow == {(fitting[i].rate, fitting[i].required_bytes, fitting[i].gpus) for i in beaten}


FIGURES = (("rate", 1.0), ("required_bytes", -1.0), ("gpus", 1))


def test_every_legal_plan_is_found():
    """Brute force over the plan's own fields and checks, on a cluster small enough for it."""
    plan = resolve({**EXPERTS, "gpus": 4, "sequence_length": 1024, "gradient_accumulation_steps": 1})
    space = space_of(plan, fewer_gpus=False, offload=False)
    sharded = ("none", "zero1", "fsdp")
    found = set()
    for one in every(plan, space):
        if one.choice.sharding.value in sharded and one.choice.recompute.value == "full" and one.chunks == 1:
            found.add((one.tensor, one.pipeline, one.context, one.expert, one.micro_batch_size, one.accumulation,
                       one.sequence_parallel, one.choice.sharding.value))  # fmt: skip
    wanted = set()
    powers, batch = (1, 2, 4, 8), global_batch_of(plan)
    for tensor, pipeline, context, expert in itertools.product(powers, repeat=4):
        for micro, flag, sharding in itertools.product(powers, (False, True), sharded):
            ranks = 4 // (tensor * pipeline)
            if tensor * pipeline * context > 4 or (tensor == 1 and flag) or (ranks == 1 and sharding != "none"):
                continue
            data = 4 // (tensor * pipeline * context)
            if batch % (data * micro) or expert > ranks:
                continue
            sets = {"tensor_parallel": tensor, "pipeline_parallel": pipeline, "context_parallel": context}
            sets |= {"expert_parallel": expert, "micro_batch_size": micro, "sharding": sharding}
            sets |= {"sequence_parallel": flag, "recompute": "full"}
            changed = plan.with_changes(**sets, gradient_accumulation_steps=batch // data // micro)
            if not problems_of(changed):
                wanted.add((tensor, pipeline, context, expert, micro, batch // data // micro, flag, sharding))
    assert found == wanted


def test_interleaved_layouts_are_those_that_megatron_runs():
    plan = resolve({**DENSE, "gpus": 8, "gradient_accumulation_steps": 8})
    seen = {(one.pipeline, one.chunks, one.accumulation) for one in every(plan, space_of(plan, offload=False))}
    chunked = [one for one in seen if one[1] > 1]
    assert chunked
    assert all(pipeline > 1 and 32 % (pipeline * v) == 0 and steps % pipeline == 0 for pipeline, v, steps in chunked)


def test_more_gpus_are_never_slower():
    rates = []
    for gpus in (8, 16, 32, 64):
        plan = resolve({**DENSE, "gpus": gpus})
        rates.append(search(plan, space_of(plan, global_batch_size=256, offload=False)).best[0].rate)
    assert rates == sorted(rates)


def test_progress_and_cancel():
    plan = resolve(EXPERTS)
    space, heard = space_of(plan), []
    whole = search(plan, space, progress=lambda share, scored: heard.append((share, scored)))
    assert heard == sorted(heard)
    assert heard[-1] == (1.0, whole.legal)
    part = search(plan, space, cancelled=lambda: len(heard) % 7 == 6 or heard.append(None))
    assert part.stopped
    assert 0 < part.legal < whole.legal
    assert not whole.stopped


def test_memory_is_bounded():
    plan = resolve({**DENSE, "gpus": 512})
    space = space_of(plan, global_batch_size=1024)
    tracemalloc.start()
    found = search(plan, space)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.legal > 300_000
    assert peak < 128 * 2**20


def test_frontier_keeps_what_nothing_beats():
    random = np.random.default_rng(0)
    rate, spare, gpus = random.integers(1, 40, (3, 600)).astype(float)
    kept = frontier(rate, spare, gpus)
    for i in range(600):
        beats = (rate >= rate[i]) & (spare >= spare[i]) & (gpus <= gpus[i])
        beats &= (rate > rate[i]) | (spare > spare[i]) | (gpus < gpus[i])
        figures = {(rate[k], spare[k], gpus[k]) for k in kept}
        assert ((rate[i], spare[i], gpus[i]) in figures) == (not beats.any())


def test_the_sieve_loses_none_of_the_frontier():
    random = np.random.default_rng(1)
    counts = np.array([8, 4, 2])
    rate, spare = random.lognormal(5, 2, 5000), random.normal(0, 1, 5000)
    gpus = random.choice(counts, 5000)
    sieve = Sieve(counts)
    passed = np.concatenate([start + sieve.passing(*(x[start : start + 500] for x in (rate, spare, gpus)))
                             for start in range(0, 5000, 500)])  # fmt: skip
    assert set(frontier(rate, spare, gpus)) <= set(passed)
    assert len(passed) < 2500


def test_divisors():
    assert divisors(12, 12) == [1, 2, 3, 4, 6, 12]
    assert divisors(16_384, 64) == [1, 2, 4, 8, 16, 32, 64]
