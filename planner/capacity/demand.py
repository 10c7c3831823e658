"""Uncertain demand: many simulated years of one pool, jobs arriving at random; how long they wait, how full it is.

Jobs arrive in a Poisson process and hold a gang of GPUs for a log-normal time. They start in the order of arrival, none
overtaking: the discipline of a plain queue, and the upper limit of waiting for one that backfills. With the free times
of all GPUs kept in order, a job that needs g of them starts at the g-th (Kiefer and Wolfowitz, Trans. AMS 78, 1955, for
one server a job); all years are stepped together, so that NumPy works on arrays of years by GPUs.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from planner.capacity.types import Scenario

HOURS_OF_YEAR = 8760.0

CHUNK = 50
"""Years simulated together. Each chunk has its own seed, so that the answer does not depend on who computes it."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class JobClass:
    """Jobs of one kind: how many come in a year, their gang, their mean hours and the spread of these (sigma of ln)."""

    per_year: float
    gpus: int
    mean_hours: float
    sigma: float = 1.0


@dataclass(frozen=True, slots=True)
class Demand:
    """What came of one number of GPUs: waiting in hours, and the share of GPU-hours used, over all years."""

    gpus: int
    jobs: int
    mean_wait: float
    waits: tuple[float, ...]  # at PERCENTILES, over jobs
    utilisation: tuple[float, ...]  # at PERCENTILES, over years
    cost: float  # US dollars a year


PERCENTILES = (50, 90, 99)


def classes_of(scenario: Scenario, sigma: float = 1.0) -> tuple[JobClass, ...]:
    """The scenario's jobs as classes: each comes as often a year as it does in the weeks."""
    times = 52 / scenario.weeks
    return tuple(JobClass(times, job.gpus, job.hours, sigma) for job in scenario.workloads if not job.is_service)


def simulate(
    classes: Sequence[JobClass],
    gpus: Sequence[int],
    *,
    years: int = 200,
    seed: int = 1,
    price_per_gpu_hour: float = 0.0,
    spread: Callable[[Callable[..., Any], Iterable[Any]], Iterator[Any]] = map,  # or a Dask client's, see `over_dask`
    progress: Callable[[float], None] | None = None,
) -> tuple[Demand, ...]:
    """`years` simulated years for each number of GPUs. `progress` is told the share done; it may raise to stop.

    The same seed gives the same numbers, however the chunks are spread. Raises `ValueError` where a gang is larger than
    the smallest number of GPUs.
    """
    if any(kind.gpus > min(gpus) for kind in classes):
        raise ValueError("a gang needs more GPUs than there are")
    seeds = np.random.SeedSequence(seed).spawn(-(-years // CHUNK))
    tasks = [
        (tuple(classes), count, min(CHUNK, years - CHUNK * place), child)
        for count in gpus
        for place, child in enumerate(seeds)
    ]
    found: dict[int, list[tuple[Floats, Floats]]] = {count: [] for count in gpus}
    for done, (count, waits, used) in enumerate(spread(_chunk, tasks), start=1):
        found[count].append((waits, used))
        if progress is not None:
            progress(done / len(tasks))
    return tuple(_summary(count, found[count], price_per_gpu_hour) for count in gpus)


def _chunk(task: tuple[tuple[JobClass, ...], int, int, np.random.SeedSequence]) -> tuple[int, Floats, Floats]:
    classes, gpus, years, seed = task
    waits, used = run_years(classes, gpus, years, np.random.default_rng(seed))
    return gpus, waits, used


def run_years(classes: Sequence[JobClass], gpus: int, years: int, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Waiting hours of every job that arrived within the year (all years in one), and each year's utilisation."""
    arrivals, kinds, hours = _jobs(classes, years, random)
    sizes = np.array([kind.gpus for kind in classes])
    free = np.zeros((years, gpus))  # when each GPU is free, in order
    started = np.zeros(years)
    waits = np.zeros_like(arrivals)
    used = np.zeros(years)
    each = np.arange(years)
    places = np.arange(gpus)
    for step in range(arrivals.shape[1]):
        size = sizes[kinds[:, step]]
        begin = np.maximum(np.maximum(arrivals[:, step], started), free[each, size - 1])
        begin = np.where(np.isfinite(arrivals[:, step]), begin, np.inf)
        real = np.isfinite(begin)
        end = begin + hours[:, step]
        taken = (places < size[:, None]) & real[:, None]
        free = np.sort(np.where(taken, end[:, None], free), axis=1)
        started = np.where(real, begin, started)
        np.subtract(begin, arrivals[:, step], out=waits[:, step], where=real)
        within = np.clip(end, 0, HOURS_OF_YEAR) - np.clip(begin, 0, HOURS_OF_YEAR)
        used += np.where(real, size * within, 0.0)
    return waits[np.isfinite(arrivals)], used / (gpus * HOURS_OF_YEAR)


def _jobs(
    classes: Sequence[JobClass], years: int, random: np.random.Generator
) -> tuple[Floats, npt.NDArray[np.int64], Floats]:
    """Arrival, class and hours of each year's jobs, in order; years with fewer end in arrivals at infinity."""
    rates = np.array([kind.per_year for kind in classes])
    total = rates.sum()
    counts = random.poisson(total, years)
    most = int(counts.max(initial=1)) or 1
    arrivals = np.where(np.arange(most) < counts[:, None], random.uniform(0, HOURS_OF_YEAR, (years, most)), np.inf)
    arrivals.sort(axis=1)
    kinds = random.choice(len(classes), size=(years, most), p=rates / total)
    sigma = np.array([kind.sigma for kind in classes])[kinds]
    mean = np.array([kind.mean_hours for kind in classes])[kinds]
    return arrivals, kinds, mean * np.exp(sigma * random.standard_normal((years, most)) - sigma**2 / 2)


def _summary(gpus: int, chunks: list[tuple[Floats, Floats]], price: float) -> Demand:
    waits = np.concatenate([waits for waits, _ in chunks])
    used = np.concatenate([used for _, used in chunks])
    return Demand(
        gpus=gpus,
        jobs=len(waits),
        mean_wait=float(waits.mean()) if len(waits) else 0.0,
        waits=tuple(float(value) for value in np.percentile(waits, PERCENTILES)) if len(waits) else (0.0,) * 3,
        utilisation=tuple(float(value) for value in np.percentile(used, PERCENTILES)),
        cost=gpus * HOURS_OF_YEAR * price,
    )


def over_dask(address: str) -> Callable[[Callable[..., Any], Iterable[Any]], Iterator[Any]]:
    """A way to spread chunks over the workers of a Dask scheduler, such as "tcp://10.0.0.1:8786", in their order."""
    from distributed import Client

    client: Any = Client(address, timeout="10s", set_as_default=False)  # type: ignore[no-untyped-call]

    def spread(function: Callable[..., Any], tasks: Iterable[Any]) -> Iterator[Any]:
        try:
            for future in client.map(function, list(tasks), pure=False):
                yield future.result()
        finally:
            client.close()

    return spread
