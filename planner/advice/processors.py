"""The same plan on processors instead of its GPUs: why parallel hardware wins, and when it does not."""

from dataclasses import dataclass

from planner.estimate import estimate
from planner.hardware.cpus import cpus
from planner.hardware.types import Cpu
from planner.result import Estimate
from planner.throughput.cpu import on_cpu
from planner.workload import Request


@dataclass(frozen=True, slots=True)
class Row:
    """One processor: the plan's work on it alone, and its rate as a share of the GPUs' (None: not known)."""

    cpu: Cpu
    estimate: Estimate
    ratio: float | None


def compare(request: Request, present: Estimate) -> tuple[Row, ...]:
    """Every processor of the catalogue, fastest first. Speeds are a roofline, not checked against measurements."""
    rows = []
    for cpu in cpus():
        result = estimate(on_cpu(request, cpu))
        rows.append(Row(cpu, result, result.relative_rate(present)))
    return tuple(sorted(rows, key=lambda row: -(row.ratio or 0.0)))
