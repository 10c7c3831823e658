"""Which pool and which week: a mixed-integer program, solved by HiGHS.

Each job starts in one week of one pool or stays out at a price; its GPUs are held for as many weeks as it takes, the
last one in part. Services are spread over pools. No pool holds more than it has. HiGHS (MIT licence) is the open solver
behind SciPy's and others' mixed-integer programs; it alone is a tenth of OR-tools' size, and the model here is a plain
time-indexed one, which a MIP solver bounds well.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from planner.capacity.types import WEEK, Pool, Scenario, Workload

SECONDS = 20.0
"""Longest search; 200 workloads on 2,000 GPUs take three. The best found by then is taken, with its gap."""

UNPLACED = 1000.0
"""What leaving a workload out weighs, in weeks of waiting."""

LATE = 20.0
"""What a week beyond a deadline weighs, in weeks of waiting."""


_FEASIBLE = 2
"""HiGHS's status of a primal solution that satisfies every row."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """Pool and week by job; GPUs by service and week, then pool; nodes to add by pool; and how good that is."""

    jobs: Mapping[str, tuple[str, int]]
    services: Mapping[tuple[str, int], Mapping[str, int]]
    added: Mapping[str, int]
    gap: float
    cost: float
    solved: bool = True  # False: nothing satisfies all, or nothing was found in time


@dataclass(frozen=True, slots=True)
class Offer:
    """GPUs that could be added, a node at a time, at so many dollars for the whole time."""

    pool: Pool
    price_per_node: float


def assign(scenario: Scenario, offers: tuple[Offer, ...] = (), *, seconds: float = SECONDS) -> Assignment:
    """The assignment with the least weighted waiting; with `offers`, the cheapest additions that leave nothing late."""
    model = _Model(scenario, offers)
    return model.solve(seconds)


class _Model:
    """The program, column by column."""

    def __init__(self, scenario: Scenario, offers: tuple[Offer, ...]) -> None:
        from highspy import _core  # 3 MB that only this needs; the class around it prints a banner when it is made

        self.scenario, self.offers = scenario, offers
        self.pools = [*scenario.pools, *(offer.pool for offer in offers)]
        self.cost: list[float] = []
        self.upper: list[float] = []
        self.integer: list[int] = []
        self.use: dict[tuple[int, int], list[tuple[int, float]]] = {}  # (pool, week) -> columns and GPUs
        self.rows: list[tuple[float, float, list[tuple[int, float]]]] = []
        self.starts: dict[int, tuple[str, str, int]] = {}
        self.shares: dict[int, tuple[str, str, int]] = {}
        self.solver: Any = _core._Highs()
        for workload in scenario.workloads:
            self._service(workload) if workload.is_service else self._job(workload)
        first = len(scenario.pools)
        self.added = {first + place: self._column(offer.price_per_node, 10_000) for place, offer in enumerate(offers)}
        for place, pool in enumerate(self.pools):
            self._capacity(place, pool)

    def _column(self, cost: float, upper: float = 1.0) -> int:
        self.cost.append(cost)
        self.upper.append(upper)
        self.integer.append(len(self.cost) - 1)
        return len(self.cost) - 1

    def _job(self, job: Workload) -> None:
        choices = [] if self.offers else [(self._column(UNPLACED * job.priority), 1.0)]
        weeks = job.hours / WEEK
        for place, pool in enumerate(self.pools):
            if not job.runs_on(pool):
                continue
            for week in range(max(job.start_week, pool.first_week), min(self.scenario.weeks, pool.last_week)):
                end = week + weeks
                late = 0.0 if job.deadline_week is None else max(0.0, end - job.deadline_week - 1)
                if end > min(self.scenario.weeks, pool.last_week) + 1e-9 or (self.offers and late > 0):
                    continue
                waiting = job.priority * (week - job.start_week + LATE * late)
                column = self._column(0.0 if self.offers else waiting)
                choices.append((column, 1.0))
                self.starts[column] = (job.name, pool.name, week)
                for step in range(int(np.ceil(weeks - 1e-9))):
                    self._hold(place, week + step, column, job.held(pool) * min(1.0, weeks - step))
        self.rows.append((1.0, 1.0, choices))

    def _service(self, service: Workload) -> None:
        """GPUs of each pool in each week; what is missing weighs as an unplaced job of that size and time would."""
        for week in range(service.start_week, self.scenario.weeks):
            wanted = self.scenario.demand(service, week)
            weight = UNPLACED * service.priority / max(1, wanted) / self.scenario.weeks
            choices = [] if self.offers else [(self._column(weight, wanted), 1.0)]
            for place, pool in enumerate(self.pools):
                if service.gpu_types and pool.gpu not in service.gpu_types:
                    continue
                if pool.first_week <= week < pool.last_week:
                    column = self._column(0.0, wanted)
                    choices.append((column, 1.0))
                    self.shares[column] = (service.name, pool.name, week)
                    self._hold(place, week, column, 1.0)
            self.rows.append((float(wanted), float(wanted), choices))

    def _hold(self, place: int, week: int, column: int, gpus: float) -> None:
        self.use.setdefault((place, week), []).append((column, gpus))

    def _capacity(self, place: int, pool: Pool) -> None:
        for week in range(self.scenario.weeks):
            held = self.use.get((place, week), [])
            if not held:
                continue
            if place in self.added:
                self.rows.append((-np.inf, 0.0, [*held, (self.added[place], -float(pool.gpus_per_node))]))
            else:
                self.rows.append((-np.inf, float(pool.gpus), held))

    def solve(self, seconds: float) -> Assignment:
        solver = self.solver
        for name, value in (("output_flag", False), ("time_limit", seconds), ("random_seed", 1), ("threads", 1)):
            solver.setOptionValue(name, value)
        solver.setOptionValue("mip_rel_gap", 0.005)
        count = len(self.cost)
        solver.addVars(count, np.zeros(count), np.array(self.upper))
        solver.changeColsCost(count, np.arange(count, dtype=np.int32), np.array(self.cost))
        kinds = np.full(count, 1, dtype=np.uint8)  # integer
        solver.changeColsIntegrality(count, np.arange(count, dtype=np.int32), kinds)
        for low, high, entries in self.rows:
            columns = np.array([column for column, _ in entries], dtype=np.int32)
            solver.addRow(low, high, len(entries), columns, np.array([value for _, value in entries]))
        solver.run()
        info = solver.getInfo()
        solved = info.primal_solution_status == _FEASIBLE
        values = np.rint(np.array(solver.getSolution().col_value)) if solved else np.zeros(count)
        found = self._read(values, float(info.mip_gap), float(info.objective_function_value))
        return replace(found, solved=solved)

    def _read(self, values: np.ndarray, gap: float, cost: float) -> Assignment:
        jobs = {name: (pool, week) for column, (name, pool, week) in self.starts.items() if values[column] > 0.5}
        services: dict[tuple[str, int], dict[str, int]] = {}
        for column, (name, pool, week) in self.shares.items():
            if values[column] > 0.5:
                services.setdefault((name, week), {})[pool] = int(values[column])
        added = {
            self.pools[place].name: int(values[column]) for place, column in self.added.items() if values[column] > 0.5
        }
        return Assignment(jobs, services, added, gap if np.isfinite(gap) else 1.0, cost)
