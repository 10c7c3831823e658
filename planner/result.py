"""What an estimate is made of: named terms that know their formula, notices that are codes, and a status.

Nothing here is prose: the user interface and the command line turn ids and codes into sentences of the reader's
language. A value may be a Python number or a NumPy array over many layouts (see `planner.numeric`).
"""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from planner.numeric import Number, maximum


@dataclass(frozen=True, slots=True, kw_only=True)
class Formula:
    """One formula of the planner: stable id, unit of its value, LaTeX, and where it comes from.

    Declared once as a module constant beside the function that computes it; `FORMULAS` finds it by id.
    """

    id: str
    unit: str
    latex: str
    source: str

    def __post_init__(self) -> None:
        if FORMULAS.setdefault(self.id, self) is not self:
            raise ValueError(f"two formulas share the id {self.id!r}")

    def term(self, value: Number, **inputs: Any) -> "Term":
        """The term that this formula gave: `value` in `unit`, and the numbers that were put in."""
        return Term(self, value, inputs)


FORMULAS: dict[str, Formula] = {}
"""Every declared formula by id; filled at import and never changed afterwards."""


@dataclass(frozen=True, slots=True)
class Term:
    """A named quantity of a result, with the formula it came from and the numbers put in."""

    formula: Formula
    value: Number
    inputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.formula.id

    @property
    def unit(self) -> str:
        return self.formula.unit

    def with_value(self, value: Number) -> "Term":
        return Term(self.formula, value, self.inputs)


def total(terms: Iterable[Term]) -> Number:
    """Sum of the terms' values (they must share a unit)."""
    return sum(term.value for term in terms)


class Status(StrEnum):
    """How well measurements cover a result, best first."""

    MEASURED = "measured"
    INTERPOLATED = "interpolated"
    EXTRAPOLATED = "extrapolated"
    UNSUPPORTED = "unsupported"

    @property
    def rank(self) -> int:
        return tuple(Status).index(self)


def worst(statuses: Iterable[Status]) -> Status:
    """The least certain of several statuses; `MEASURED` for none."""
    return max(statuses, key=lambda status: status.rank, default=Status.MEASURED)


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the reader must know, as a stable code and its parameters: never a sentence."""

    code: str
    severity: Severity = Severity.INFO
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an input: which field, what it was, what is allowed. Collected, never raised one by one."""

    code: str
    field: str
    value: Any = None
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)


class InputError(ValueError):
    """Input that cannot be planned. Carries every problem found, for the interface to put into words."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{p.field}: {p.code} ({p.value!r})" for p in self.problems))


@dataclass(frozen=True)
class Phase:
    """A moment of a run with its memory, as terms that sum to what is allocated then."""

    id: str  # forward, backward, optimizer; load, prefill, decode
    terms: tuple[Term, ...]

    @cached_property
    def total(self) -> Number:
        return total(self.terms)


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Memory of the fullest GPU, in bytes. The peak is the maximum over phases, not one big sum.

    Three counters: `allocated` (tensors, as torch.cuda.max_memory_allocated counts), `reserved` (what the allocator
    holds) and `device` (what nvidia-smi shows). What decides is `required`: of the allocator's blocks, those cached for
    another phase are given back before a run fails, those lost to fragmentation are not.
    """

    phases: tuple[Phase, ...]
    reserve: Term  # held by the allocator beyond tensors, and not to be had back
    cached: Term | None = None  # held too, but given back when memory runs short
    outside: tuple[Term, ...]  # beyond the allocator: context, libraries, communication buffers, graphs
    capacity: Number  # usable bytes of the GPU

    @cached_property
    def allocated(self) -> Number:
        return maximum(*(phase.total for phase in self.phases))

    @cached_property
    def reserved(self) -> Number:
        return self.allocated + self.reserve.value + (self.cached.value if self.cached else 0)

    @cached_property
    def device(self) -> Number:
        return self.reserved + total(self.outside)

    @cached_property
    def required(self) -> Number:
        """What the device must have for the run to succeed."""
        return self.allocated + self.reserve.value + total(self.outside)

    @property
    def spare(self) -> Number:
        """Bytes of the device beyond what is required; negative where it does not fit."""
        return self.capacity - self.required

    @property
    def peak(self) -> Phase:
        """The phase that sets the peak. For one plan only, not for arrays."""
        return max(self.phases, key=lambda phase: phase.total)

    @property
    def parts(self) -> tuple[Term, ...]:
        """What is required at the peak: the terms of the memory bar. For one plan only."""
        return (*(term for term in self.peak.terms if term.value > 0), self.reserve, *self.outside)


TIGHT_SHARE = 0.05
"""Less than this share of the device to spare is a close call: allocator behaviour alone moves more than that."""


class Bound(StrEnum):
    """What a run spends most of its time on."""

    COMPUTE = "compute"
    MEMORY_BANDWIDTH = "memory-bandwidth"
    NETWORK = "network"
    BUBBLE = "bubble"
    INPUT = "input"
    LAUNCH = "launch"


@dataclass(frozen=True, kw_only=True)
class Speed:
    """Time of a run. For training one optimizer step; for serving one round of the batch (prefill, then decoding).

    `parts` are exposed seconds that sum to `seconds`; hidden (overlapped) time is in `hidden`. All may be arrays.
    """

    parts: tuple[Term, ...]
    hidden: tuple[Term, ...] = ()
    samples_per_second: Number = 0.0  # all GPUs together: sequences, images or requests
    tokens_per_second: Number = 0.0  # all GPUs together: tokens trained on; output tokens when serving
    mfu: Number | None = None  # model FLOPs / (time x peak); PaLM's definition, attention counted in full
    hfu: Number | None = None  # as mfu, recomputation counted
    model_flops: Number = 0.0  # per step, all GPUs
    time_to_first_token: Number | None = None  # serving: seconds from request to first token, in a closed loop
    time_per_output_token: Number | None = None  # serving: other requests' prompts between tokens included
    decode_step: Number | None = None  # serving: seconds of one decode step, nothing between
    prefill_tokens_per_second: Number | None = None  # serving, all GPUs
    status: Status = Status.INTERPOLATED

    @cached_property
    def seconds(self) -> Number:
        return total(self.parts)

    @cached_property
    def bound(self) -> Any:
        """What most of the time is spent on: a `Bound`, or an array of them. Told only when asked for."""
        from planner.throughput.bound import bound_of  # built on this module

        return bound_of(self.parts)

    @property
    def rate(self) -> float:
        """Work per second, all GPUs: tokens where they are counted, else samples. For one plan only."""
        return float(self.tokens_per_second or self.samples_per_second)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Money and energy of a run, in US dollars, seconds and joules. None: not asked, or no price is known."""

    price_per_hour: Number | None = None  # all GPUs
    seconds_to_finish: Number | None = None
    price_to_finish: Number | None = None
    price_per_million_tokens: Number | None = None
    energy_joules: Number | None = None
    price_source: str = ""
    price_date: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The answer to one request (or, with arrays, to many at once)."""

    memory: Memory
    speed: Speed | None  # None where speed cannot be told; a notice says why
    cost: Cost
    status: Status
    notices: tuple[Notice, ...] = ()

    @property
    def fits(self) -> Number:
        return self.memory.required <= self.memory.capacity

    @property
    def tight(self) -> Number:
        """Whether it fits, but closely."""
        return self.fits & (self.memory.spare < TIGHT_SHARE * self.memory.capacity)

    def relative_rate(self, other: "Estimate") -> float | None:
        """Work per second over another estimate's: by tokens where both count them, else by samples. For one plan."""
        if self.speed is None or other.speed is None:
            return None
        if other.speed.tokens_per_second:
            return float(self.speed.tokens_per_second / other.speed.tokens_per_second)
        if other.speed.samples_per_second:
            return float(self.speed.samples_per_second / other.speed.samples_per_second)
        return None
