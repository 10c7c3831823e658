"""Placement: nothing more than there is, gangs whole, urgent first, and what is missing named."""

from datetime import date
from time import process_time

import numpy as np
import pytest

from planner.capacity.assign import Offer, assign
from planner.capacity.place import faults, place
from planner.capacity.summary import additions
from planner.capacity.types import WEEK, Pool, Run, Scenario, Workload

H100 = Pool(name="h100", gpu="h100-sxm5-80gb", nodes=2, price_per_gpu_hour=2.0)


def scenario(*workloads: Workload, pools: tuple[Pool, ...] = (H100,), weeks: int = 8, **more: float) -> Scenario:
    return Scenario(pools=pools, workloads=workloads, start=date(2026, 12, 1), weeks=weeks, **more)


def job(name: str, gpus: int, weeks: float, **more: object) -> Workload:
    return Workload(name=name, gpus=gpus, gpu_hours=gpus * weeks * WEEK, **more)  # type: ignore[arg-type]


def test_what_fits_starts_at_once() -> None:
    found = place(scenario(job("a", 8, 2), job("b", 4, 1), job("c", 4, 1)))
    assert found.waits == {"a": 0, "b": 0, "c": 0}
    assert found.unplaced == ()
    assert found.gap <= 0.005


def test_the_urgent_goes_first() -> None:
    found = place(scenario(job("slow", 16, 2, priority=1), job("urgent", 16, 1, priority=9)))
    assert found.waits == {"urgent": 0, "slow": WEEK}


def test_a_deadline_is_kept_where_it_can_be() -> None:
    found = place(scenario(job("long", 16, 3), job("due", 16, 1, deadline_week=0)))
    assert found.late == ()
    assert found.waits["due"] == 0
    late = place(scenario(job("x", 16, 1, priority=9, deadline_week=0), job("y", 16, 1, deadline_week=0)))
    assert late.late == ("y",)


def test_what_never_fits_is_left_out_and_named() -> None:
    found = place(
        scenario(job("huge", 17, 1), job("long", 8, 9), job("other", 1, 1, gpu_types=("b200",)), job("ok", 8, 1))
    )
    assert set(found.unplaced) == {"huge", "long", "other"}
    assert [run.workload for run in found.runs] == ["ok"]


def test_a_gang_stays_in_a_node() -> None:
    found = place(scenario(job("a", 5, 1), job("b", 5, 1), job("c", 3, 1)))
    assert all(len(run.nodes) == 1 for run in found.runs)
    assert faults(scenario(job("a", 5, 1), job("b", 5, 1), job("c", 3, 1)), found.runs) == []


def test_a_growing_service_runs_short_in_some_week() -> None:
    service = Workload(name="chat", gpus=12)
    found = place(scenario(service, weeks=52, growth_per_year=1.0))
    missing = found.shortfall["chat"]
    assert missing[0] == 0
    assert missing[-1] == 24 - 16 or missing[-1] == round(12 * 2 ** (51 / 52)) - 16
    first = next(week for week, gpus in enumerate(missing) if gpus)
    assert round(12 * 2 ** (first / 52)) > 16 >= round(12 * 2 ** ((first - 1) / 52))


def test_the_cheapest_addition_that_meets_all() -> None:
    base = scenario(job("a", 16, 8, deadline_week=7), job("b", 16, 8, deadline_week=7))
    dear = Offer(Pool(name="dear", gpu="b200-sxm-180gb", nodes=0), 900.0)
    cheap = Offer(Pool(name="cheap", gpu="h100-sxm5-80gb", nodes=0), 500.0)
    roomy = [Offer(Pool(name=o.pool.name, gpu=o.pool.gpu, nodes=100), o.price_per_node) for o in (dear, cheap)]
    found = assign(base, tuple(roomy))
    assert found.added == {"cheap": 2}
    assert found.cost == pytest.approx(1000)


def test_faults_are_found() -> None:
    one = scenario(job("a", 8, 1))
    assert faults(one, [Run("a", "h100", 0, WEEK, {0: 8})]) == []
    bad = [
        Run("a", "h100", -1, WEEK, {0: 8}),
        Run("a", "h100", 0, WEEK, {0: 4, 1: 4}),
        Run("a", "h100", 0, WEEK, {0: 8}),
    ]
    assert {fault.partition(": ")[2] for fault in faults(one, bad)} >= {"too early", "scattered", "more than it has"}


def many(count: int, seed: int = 7) -> Scenario:
    random = np.random.default_rng(seed)
    pools = tuple(
        Pool(name=name, gpu=gpu, nodes=nodes)
        for name, gpu, nodes in (
            ("a", "h100-sxm5-80gb", 125),
            ("b", "a100-sxm4-80gb", 75),
            ("c", "l40s", 25),
            ("d", "h100-sxm5-80gb", 25),
        )
    )
    gpus = ("h100-sxm5-80gb", "a100-sxm4-80gb", "l40s")
    workloads = []
    for number in range(count):
        size = int(2 ** random.integers(0, 9))
        start = int(random.integers(0, 40))
        workloads.append(
            job(
                f"w{number}",
                size,
                float(random.uniform(0.2, 8)),
                start_week=start,
                priority=int(random.integers(1, 10)),
                gpu_types=tuple(random.choice(gpus, int(random.integers(1, 3)), replace=False)),
                deadline_week=start + 12 if random.random() < 0.4 else None,
            )
        )
    return scenario(*workloads, pools=pools, weeks=52)


def test_two_hundred_workloads_on_two_thousand_gpus() -> None:
    one = many(200)
    start = process_time()
    found = place(one, seconds=60)  # of the clock: the machine may be busy
    took = process_time() - start
    assert faults(one, found.runs) == []
    assert len(found.runs) + len(found.unplaced) == 200
    assert found.gap < 0.05
    assert took < 10


def test_the_same_scenario_gives_the_same_placement() -> None:
    assert place(many(40), seconds=60) == place(many(40), seconds=60)


def test_where_nothing_helps_no_addition_is_named() -> None:
    short = scenario(Workload(name="chat", gpus=40))
    assert additions(short, ()) is None
    assert additions(scenario(job("late", 8, 3, deadline_week=0)), ("l40s",)) is None
    found = additions(short, ("l40s",))
    assert found is not None
    assert [(one.gpu, one.nodes) for one in found] == [("l40s", 3)]
