"""Measured rates beside what the catalogue says that this hardware reaches."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from planner.environment.benchmark.run import Result
from planner.hardware import catalogue
from planner.hardware.attainable import Attained, attainable_bandwidth, attainable_flops, executed_dtype
from planner.hardware.cpus import cpus
from planner.hardware.types import Cpu, Gpu
from planner.result import InputError

LOW = 0.8
"""Below this share of the attainable rate something is wrong: power limit, heat, another program, a slow link."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The best of a device, kind and dtype over the sizes. `expected` and `peak` in the rate's unit; None: unknown."""

    best: Result
    known_as: str
    expected: float | None
    peak: float | None
    source: str

    @property
    def share(self) -> float | None:
        """Measured over expected."""
        return self.best.rate / self.expected if self.expected else None

    @property
    def low(self) -> bool:
        return self.share is not None and self.share < LOW


def compare(results: Sequence[Result]) -> tuple[Row, ...]:
    """One row for each device, kind and dtype, in the order of measuring."""
    best: dict[tuple[str, str, str, str], Result] = {}
    for one in results:
        key = (one.library, one.device, one.kind, one.dtype)
        if key not in best or one.rate > best[key].rate:
            best[key] = one
    return tuple(_row(one) for one in best.values())


def _row(best: Result) -> Row:
    if best.device == "cpu":
        found = processor_named(best.name)
        peak = _peak_of(found, best) if found else None
        return Row(best=best, known_as=found.name if found else "", expected=None, peak=peak, source="")
    gpu = catalogue.resolve_reported(best.name, best.memory)
    reached = _attained(gpu, best) if gpu else None
    return Row(
        best=best,
        known_as=gpu.name if gpu else "",
        expected=reached.rate if reached else None,
        peak=_peak(gpu, best) if gpu else None,
        source=reached.source if reached else "",
    )


def _attained(gpu: Gpu, best: Result) -> Attained | None:
    try:
        if best.kind == "matmul":
            return attainable_flops(gpu, best.dtype)
        return attainable_bandwidth(gpu) if best.kind == "copy" else None
    except InputError:
        return None


def _peak(gpu: Gpu, best: Result) -> float | None:
    if best.kind == "copy":
        return gpu.memory_bandwidth
    if best.kind != "matmul":
        return None
    try:
        return gpu.peaks[executed_dtype(gpu, best.dtype)]
    except InputError:
        return None


def processor_named(name: str) -> Cpu | None:
    """The catalogue's processor of this name as the system gives it ("AMD EPYC 9654 96-Core Processor")."""
    words = set(_words(name))
    return next((one for one in cpus() if set(_words(one.name)) <= words and _words(one.name)), None)


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9+]+", re.sub(r"\((?:r|tm)\)", " ", name.lower()))


def _peak_of(cpu: Cpu, best: Result) -> float | None:
    return cpu.peaks.get(best.dtype) if best.kind == "matmul" else cpu.memory_bandwidth or None
