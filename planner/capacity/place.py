"""Exact runs from an assignment: node by node, hour by hour, and a check that trusts none of it."""

from collections.abc import Iterable

from planner.capacity.assign import Assignment, assign
from planner.capacity.types import WEEK, Placement, Pool, Run, Scenario, Workload


def place(scenario: Scenario, *, seconds: float | None = None) -> Placement:
    """Who runs where and when. Jobs take their nodes in the assignment's order: week, then priority, then size.

    A job starts in its week or, where no node is free for all its hours, at the first later moment one is; never before
    its earliest start. Gangs within a node stay in one; larger ones take whole nodes.
    """
    found = assign(scenario) if seconds is None else assign(scenario, seconds=seconds)
    pools = {pool.name: _Nodes(pool, scenario) for pool in scenario.pools}
    runs: list[Run] = []
    shortfall = {
        service.name: _serve(scenario, service, found, pools, runs)
        for service in sorted(scenario.workloads, key=lambda w: -w.priority)
        if service.is_service
    }
    jobs = [w for w in scenario.workloads if not w.is_service and w.name in found.jobs]
    for job in sorted(jobs, key=lambda j: (found.jobs[j.name][1], -j.priority, -j.gpus, j.name)):
        pool, week = found.jobs[job.name]
        run = pools[pool].take(job, max(week, job.start_week) * WEEK)
        if run is not None:
            runs.append(run)
    started = {run.workload: run for run in runs}
    ended = {w.name: started[w.name].end for w in jobs if w.name in started}
    return Placement(
        runs=tuple(runs),
        waits={j.name: started[j.name].start - j.start_week * WEEK for j in jobs if j.name in started},
        late=tuple(j.name for j in jobs if j.name in ended and _is_late(j, ended[j.name])),
        unplaced=tuple(w.name for w in scenario.workloads if w.name not in started or any(shortfall.get(w.name, ()))),
        gap=found.gap,
        shortfall={name: missing for name, missing in shortfall.items() if any(missing)},
    )


def _is_late(job: Workload, end: float) -> bool:
    return job.deadline_week is not None and end > (job.deadline_week + 1) * WEEK + 1e-6


def _serve(
    scenario: Scenario, service: Workload, found: Assignment, pools: dict[str, "_Nodes"], runs: list[Run]
) -> tuple[int, ...]:
    """Place a service's GPUs week by week; what is missing in each."""
    missing = []
    for week in range(scenario.weeks):
        left = scenario.demand(service, week) if week >= service.start_week else 0
        for pool, share in found.services.get((service.name, week), {}).items():
            run = pools[pool].take_some(service.name, min(left, share), week * WEEK, (week + 1) * WEEK)
            if run is not None:
                runs.append(run)
                left -= run.gpus
        missing.append(left)
    return tuple(missing)


class _Nodes:
    """Free GPUs of a pool's nodes over time, as the runs that hold them."""

    def __init__(self, pool: Pool, scenario: Scenario) -> None:
        self.pool = pool
        self.held: list[list[tuple[float, float, int]]] = [[] for _ in range(pool.nodes)]
        self.first, self.last = pool.first_week * WEEK, min(pool.last_week, scenario.weeks) * WEEK

    def free(self, node: int, start: float, end: float) -> int:
        """GPUs of a node that nobody holds at any moment between start and end."""
        overlapping = [run for run in self.held[node] if run[0] < end and run[1] > start]
        moments = {start, *(begin for begin, _, _ in overlapping if begin > start)}
        busiest = max(sum(gpus for begin, stop, gpus in overlapping if begin <= at < stop) for at in moments)
        return self.pool.gpus_per_node - busiest

    def take(self, job: Workload, earliest: float) -> Run | None:
        """The job at the first moment from `earliest` when its GPUs are free until it is done."""
        ends = {stop for node in self.held for _, stop, _ in node if stop > earliest}
        for start in sorted({max(earliest, self.first), *ends}):
            end = start + job.hours
            if end > self.last + 1e-6:
                return None
            if nodes := self._fit(job, start, end):
                return self._hold(job.name, start, end, nodes)
        return None

    def _fit(self, job: Workload, start: float, end: float) -> dict[int, int]:
        """Nodes for a gang: the fullest one that has room, or whole empty ones."""
        size, held = self.pool.gpus_per_node, job.held(self.pool)
        free = {node: self.free(node, start, end) for node in range(self.pool.nodes)}
        if held <= size:
            fitting = [node for node, gpus in free.items() if gpus >= job.gpus]
            return {min(fitting, key=lambda node: (free[node], node)): job.gpus} if fitting else {}
        empty = [node for node, gpus in free.items() if gpus == size][: held // size]
        if len(empty) < held // size:
            return {}
        return {node: min(size, job.gpus - place * size) for place, node in enumerate(empty)}

    def take_some(self, name: str, gpus: int, start: float, end: float) -> Run | None:
        """As many of `gpus` as are free, wherever: replicas need no common node."""
        if start < self.first or end > self.last:
            return None
        nodes: dict[int, int] = {}
        for node in range(self.pool.nodes):
            taken = min(gpus - sum(nodes.values()), self.free(node, start, end))
            if taken > 0:
                nodes[node] = taken
        return self._hold(name, start, end, nodes) if nodes else None

    def _hold(self, name: str, start: float, end: float, nodes: dict[int, int]) -> Run:
        for node, gpus in nodes.items():
            self.held[node].append((start, end, gpus))
        return Run(name, self.pool.name, start, end, nodes)


def faults(scenario: Scenario, runs: Iterable[Run]) -> list[str]:
    """What is wrong with runs, found from the scenario alone: none for a placement that can be carried out."""
    pools = {pool.name: pool for pool in scenario.pools}
    jobs = {workload.name: workload for workload in scenario.workloads}
    found = []
    held: dict[tuple[str, int], list[tuple[float, int]]] = {}
    for run in runs:
        pool, job = pools[run.pool], jobs[run.workload]
        if job.gpu_types and pool.gpu not in job.gpu_types:
            found.append(f"{run.workload}: wrong GPU")
        if run.start < max(job.start_week, pool.first_week) * WEEK - 1e-6:
            found.append(f"{run.workload}: too early")
        if run.end > min(pool.last_week, scenario.weeks) * WEEK + 1e-6:
            found.append(f"{run.workload}: beyond the pool")
        if not job.is_service:
            if run.gpus != job.gpus or abs(run.end - run.start - job.hours) > 1e-6:
                found.append(f"{run.workload}: not its size")
            if len(run.nodes) != max(1, -(-job.gpus // pool.gpus_per_node)):
                found.append(f"{run.workload}: scattered")
        for node, gpus in run.nodes.items():
            held.setdefault((run.pool, node), []).extend([(run.start, gpus), (run.end, -gpus)])
    for (name, node), changes in held.items():
        used = 0
        for _, change in sorted(changes):  # at one moment, what ends comes first
            used += change
            if used > pools[name].gpus_per_node:
                found.append(f"{name} node {node}: more than it has")
                break
    return found
