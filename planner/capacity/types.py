"""What a capacity scenario says: pools of GPUs, workloads, and the weeks that are looked at. Times are hours from 0."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta

WEEK = 168.0
"""Hours of a week."""

LONGEST_WEEKS = 156


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Equal nodes in one place. Rented pools cost by the GPU-hour used where `on_demand`, else for all their hours."""

    name: str
    gpu: str  # id of the GPU catalogue
    nodes: int
    gpus_per_node: int = 8
    site: str = ""
    price_per_gpu_hour: float = 0.0  # US dollars; of owned ones what they cost an hour with power
    on_demand: bool = False
    first_week: int = 0
    last_week: int = LONGEST_WEEKS  # the first one without it

    @property
    def gpus(self) -> int:
        return self.nodes * self.gpus_per_node


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Work that holds `gpus` at once: a job of so many GPU-hours, or a service that runs from its start to the end."""

    name: str
    gpus: int
    gpu_hours: float = 0.0  # 0: a service
    gpu_types: tuple[str, ...] = ()  # acceptable ids; none: any
    start_week: int = 0  # earliest
    deadline_week: int | None = None  # done before the end of this week
    priority: int = 1  # 1 to 10: what a week of waiting weighs

    @property
    def is_service(self) -> bool:
        return not self.gpu_hours

    @property
    def hours(self) -> float:
        """Hours that a job takes."""
        return self.gpu_hours / self.gpus

    def runs_on(self, pool: Pool) -> bool:
        """Whether the pool has the right GPUs, and enough of them at once."""
        return (not self.gpu_types or pool.gpu in self.gpu_types) and self.held(pool) <= pool.gpus

    def held(self, pool: Pool) -> int:
        """GPUs that are taken: inside a node the next power of two, so that gangs pack; beyond it whole nodes."""
        size = pool.gpus_per_node
        if self.gpus > size:
            return -(-self.gpus // size) * size
        return min(size, 1 << (self.gpus - 1).bit_length())


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """Everything that a placement needs."""

    pools: tuple[Pool, ...]
    workloads: tuple[Workload, ...]
    start: date
    weeks: int = 52
    growth_per_year: float = 0.0  # share by which services grow in a year: 0.5 is half as much again

    def date_of(self, week: float) -> date:
        """The day on which a week starts."""
        return self.start + timedelta(days=7 * week)

    def demand(self, service: Workload, week: int) -> int:
        """GPUs of a service in a week, grown."""
        return round(service.gpus * (1 + self.growth_per_year) ** (week / 52))


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of a workload in one place: hours from the scenario's start, and how many GPUs of which nodes."""

    workload: str
    pool: str
    start: float
    end: float
    nodes: Mapping[int, int]  # GPUs by node

    @property
    def gpus(self) -> int:
        return sum(self.nodes.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The answer: every run, what waits or is missing, and how far from the best it may be."""

    runs: tuple[Run, ...]
    waits: Mapping[str, float]  # hours from the earliest start to the start
    late: tuple[str, ...]  # done after their deadline
    unplaced: tuple[str, ...]  # not started, or a service short of GPUs, within the weeks
    gap: float  # of the assignment to weeks: share by which it may be from the best
    shortfall: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # GPUs missing by service and week
