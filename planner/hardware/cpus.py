"""Typical processors, as hosts and as devices: peaks by SIMD arithmetic, memory bandwidth by channels."""

from functools import lru_cache

from planner.hardware.catalogue import read_rows
from planner.hardware.types import Cpu
from planner.result import InputError, Problem
from planner.units import GIB, GIGA, MEGA

_DTYPES = ("fp32", "bf16", "int8")


def _cpu(row: dict[str, str]) -> Cpu:
    """Peak = cores x all-core clock x operations per cycle (FMA units x lanes x 2, matrix tiles where there are any).

    Memory bandwidth = channels x bus width x transfer rate.
    """
    cycles = float(row["cores"]) * float(row["clock_ghz"]) * GIGA
    bus_bytes = int(row["memory_bus_bits"]) / 8
    return Cpu(
        id=row["id"],
        name=row["name"],
        cores=int(row["cores"]),
        peaks={dtype: cycles * float(row[f"{dtype}_per_cycle"]) for dtype in _DTYPES if row[f"{dtype}_per_cycle"]},
        memory_bandwidth=int(row["memory_channels"]) * bus_bytes * float(row["memory_mts"]) * MEGA,
        memory_bytes=int(row["memory_gib"]) * GIB,
        power_watts=float(row["power_w"]),
        sources=tuple(row["source"].split("|")),
    )


@lru_cache(maxsize=1)
def cpus() -> tuple[Cpu, ...]:
    """Every processor of the catalogue."""
    return tuple(_cpu(row) for row in read_rows("cpus.csv"))


def cpu(cpu_id: str) -> Cpu:
    """The processor with this id. Raises `InputError` "unknown-cpu" with the known ids."""
    for found in cpus():
        if found.id == cpu_id:
            return found
    raise InputError([Problem("unknown-cpu", "cpu", cpu_id, {"known": tuple(c.id for c in cpus())})])
