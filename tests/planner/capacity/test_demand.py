"""Simulated years: against queueing theory, the same for the same seed wherever computed, and monotone in GPUs."""

import math

import numpy as np
import pytest

from planner.capacity.demand import HOURS_OF_YEAR, JobClass, over_dask, run_years, simulate


def erlang_c_wait(servers: int, per_hour: float, mean_hours: float) -> float:
    """Mean waiting hours of an M/M/c queue."""
    load = per_hour * mean_hours
    waiting = load**servers / math.factorial(servers) / (1 - load / servers)
    p = waiting / (sum(load**k / math.factorial(k) for k in range(servers)) + waiting)
    return p * mean_hours / (servers - load)


class Exponential:
    """A generator whose "log-normal" hours are exponential: what the theory speaks of."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def __getattr__(self, name: str) -> object:
        return getattr(self.random, name)

    def standard_normal(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.log(self.random.exponential(1.0, shape)) + 0.5  # exp(z - 1/2) is then exponential with mean 1


@pytest.mark.parametrize(("servers", "load"), [(1, 0.5), (4, 3.0), (8, 6.8)])
def test_waiting_is_what_erlang_says(servers: int, load: float) -> None:
    hours = 2.0
    per_hour = load / hours
    kind = JobClass(per_hour * HOURS_OF_YEAR, 1, hours)
    waits, used = run_years([kind], servers, 60, Exponential(3))  # type: ignore[arg-type]
    assert waits.mean() == pytest.approx(erlang_c_wait(servers, per_hour, hours), rel=0.06)
    assert used.mean() == pytest.approx(load / servers, rel=0.02)


CLASSES = [JobClass(300, 1, 20.0), JobClass(120, 8, 30.0), JobClass(10, 32, 60.0)]


def test_more_gpus_wait_less_and_are_used_less() -> None:
    found = simulate(CLASSES, [32, 48, 64, 96], years=40, price_per_gpu_hour=2.0)
    waits = [one.mean_wait for one in found]
    assert waits == sorted(waits, reverse=True)
    used = [one.utilisation[0] for one in found]
    assert used == sorted(used, reverse=True)
    assert found[2].cost == 64 * 8760 * 2.0
    wanted = sum(kind.per_year * kind.gpus * kind.mean_hours for kind in CLASSES) / HOURS_OF_YEAR
    assert found[3].utilisation[0] == pytest.approx(wanted / 96, rel=0.1)


def test_the_seed_decides_and_nothing_else() -> None:
    once, again = (simulate(CLASSES, [48], years=120, seed=5) for _ in range(2))
    assert once == again
    assert simulate(CLASSES, [48], years=120, seed=6) != once


def test_a_cluster_gives_equal_numbers() -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as cluster:
        spread = over_dask(cluster.scheduler_address)
        assert simulate(CLASSES, [48], years=120, spread=spread) == simulate(CLASSES, [48], years=120)


def test_it_tells_how_far_it_is_and_can_be_stopped() -> None:
    told: list[float] = []
    simulate(CLASSES, [48, 64], years=100, progress=told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]

    def stop(_: float) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        simulate(CLASSES, [48], years=100, progress=stop)


def test_a_gang_that_never_fits_is_refused() -> None:
    with pytest.raises(ValueError, match="gang"):
        simulate(CLASSES, [16], years=1)
