"""Capacity: 200 workloads on 2,000 GPUs, and 1,000 simulated years of a team's 64."""

import time

from planner.capacity.demand import JobClass, simulate
from planner.capacity.place import faults, place
from tests.planner.capacity.test_place import many

CLASSES = [JobClass(2000, 1, 20.0), JobClass(800, 8, 30.0), JobClass(200, 32, 15.0)]


def main() -> None:
    """Print seconds against the targets."""
    scenario = many(200)
    start = time.perf_counter()
    found = place(scenario)
    took = time.perf_counter() - start
    gpus = sum(pool.gpus for pool in scenario.pools)
    placed = len({run.workload for run in found.runs})
    print(f"placed {placed} of 200 workloads on {gpus:,} GPUs in {took:.1f} s (target 10)")
    print(f"assignment within {found.gap:.1%} of the best, {len(faults(scenario, found.runs))} faults")
    start = time.perf_counter()
    (demand,) = simulate(CLASSES, [64], years=1000)
    took = time.perf_counter() - start
    print(f"1,000 years of 64 GPUs, {demand.jobs / 1000:,.0f} jobs a year, in {took:.1f} s (target 60)")


if __name__ == "__main__":
    main()
