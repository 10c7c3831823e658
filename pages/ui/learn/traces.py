"""The four recordings of the lesson on watching: three real ones, thinned out, and one that was made up.

a, c: one GPU of eight, nanoGPT (github.com/karpathy/nanoGPT, branch of pull request 643, gpu_metrics.csv, MIT licence).
b: a workstation card, plato (github.com/TL-System/plato, fork beam11221, gpu_log.csv, Apache-2.0 licence).
d: made up, to look like a loader that is too slow.
"""

import csv
import statistics
from dataclasses import dataclass
from functools import lru_cache

from pages.ui.learn.prose import FOLDER
from planner.units import MIB

MADE_UP = frozenset({"d"})


@dataclass(frozen=True, slots=True)
class Recording:
    """Readings over time: seconds from the start, percent of time busy, watts, and bytes where they are known."""

    seconds: tuple[float, ...]
    utilisation: tuple[float, ...]
    power: tuple[float, ...]
    memory: float | None

    @property
    def mean_utilisation(self) -> float:
        """As a fraction."""
        return statistics.fmean(self.utilisation) / 100

    @property
    def median_power(self) -> float:
        """In watts."""
        return statistics.median(self.power)


@lru_cache
def recordings() -> dict[str, Recording]:
    """Every recording by its letter."""
    rows: dict[str, list[dict[str, str]]] = {}
    with (FOLDER / "traces.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rows.setdefault(row["trace"], []).append(row)
    return {name: _recording(found) for name, found in rows.items()}


def _recording(rows: list[dict[str, str]]) -> Recording:
    memory = [float(row["memory_mib"]) * MIB for row in rows if row["memory_mib"]]
    return Recording(
        seconds=tuple(float(row["second"]) for row in rows),
        utilisation=tuple(float(row["utilisation_percent"]) for row in rows),
        power=tuple(float(row["power_watts"]) for row in rows),
        memory=max(memory) if memory else None,
    )
