"""Every value that is known of an accelerator, each with its source, how sure it is, and when it was read."""

from collections.abc import Iterator
from dataclasses import dataclass

from planner.hardware.attainable import attainable_bandwidth, attainable_flops
from planner.hardware.types import Gpu
from planner.result import InputError, Status

DRIVER = "driver"
"""Basis of a memory size that a driver has reported."""
PUBLISHED = "published"
"""Basis of what is not a rate of arithmetic, where the row's basis tells how rates were derived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One value in base units. `basis` says how it is known: a phrase, or a status of `planner.result`."""

    id: str  # memory, bandwidth, link, power, peak, reached, reached-bandwidth
    value: float
    unit: str
    dtype: str = ""
    basis: str
    confidence: str  # high | medium | low | user; of what is reached, the status
    sources: tuple[str, ...]
    as_of: str | None


def facts(gpu: Gpu) -> tuple[Fact, ...]:
    """The data sheet of a card, then what kernels reach of it."""
    return (*_sheet(gpu), *_reached(gpu))


def _sheet(gpu: Gpu) -> Iterator[Fact]:
    numbers: tuple[tuple[str, str, float | None, str], ...] = (
        ("memory", "", gpu.memory_bytes or None, "B"),
        ("bandwidth", "", gpu.memory_bandwidth, "B/s"),
        *(("peak", dtype, peak, "FLOP/s") for dtype, peak in gpu.peaks.items()),
        ("link", "", gpu.nvlink_bandwidth, "B/s"),
        ("power", "", gpu.power_watts, "W"),
    )
    for id, dtype, value, unit in numbers:
        if value is None:
            continue
        reported = id == "memory" and gpu.memory_is_reported and gpu.confidence != "user"
        yield Fact(
            id=id,
            dtype=dtype,
            value=float(value),
            unit=unit,
            basis=DRIVER if reported else _basis(gpu, id),
            confidence="high" if reported else gpu.confidence,
            sources=gpu.sources,
            as_of=gpu.as_of,
        )


def _basis(gpu: Gpu, id: str) -> str:
    about_rates = gpu.value_basis.startswith(("derived", "vendor headline"))
    return PUBLISHED if about_rates and id != "peak" else gpu.value_basis


def _reached(gpu: Gpu) -> Iterator[Fact]:
    for dtype in gpu.peaks:
        if dtype in ("fp64", "int4"):  # nothing is planned in them
            continue
        rate, status, source = attainable_flops(gpu, dtype)
        yield _fact("reached", dtype, rate, "FLOP/s", status, source, gpu)
    try:
        rate, status, source = attainable_bandwidth(gpu)
    except InputError:
        return
    yield _fact("reached-bandwidth", "", rate, "B/s", status, source, gpu)


def _fact(id: str, dtype: str, rate: float, unit: str, status: Status, source: str, gpu: Gpu) -> Fact:
    return Fact(
        id=id, dtype=dtype, value=rate, unit=unit, basis=status, confidence=status, sources=(source,), as_of=gpu.as_of
    )
