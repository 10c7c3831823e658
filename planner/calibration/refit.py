"""Measures the planner against the rows that it carries: residuals, and a summary of them to read."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from statistics import median
from typing import Any

from planner.calibration.families import FAMILY, INVERSE, kinds
from planner.calibration.residuals import Residual
from planner.hardware.catalogue import read_rows
from planner.validation.run import Comparison, Outcome, table_outcomes
from planner.validation.tables import table_of

TABLES = ("measured_training.csv", "measured_finetune.csv", "measured_inference.csv")


def carried_outcomes() -> Iterator[Outcome]:
    """Outcomes of every measured row that the planner carries."""
    for name in TABLES:
        yield from table_outcomes(table_of(read_rows(name)))


def measured_residuals() -> list[Residual]:
    """One residual a comparison, in the order of the tables."""
    return [_residual(comparison) for outcome in carried_outcomes() for comparison in outcome.comparisons]


def _residual(each: Comparison) -> Residual:
    error = math.log(each.measured / each.predicted)
    return Residual(
        id=each.case.id,
        source=each.case.source,
        model=each.case.model,
        gpu=each.case.gpu,
        kinds=kinds(each.case.request),
        family=FAMILY[each.quantity].value,
        quality=each.case.quality,
        error=round(-error if each.quantity in INVERSE else error, 5),
    )


def summary_of(found: Iterable[Residual]) -> dict[str, Any]:
    """By family and kind: rows, the median of ln(measured / predicted), its spread, and the sources behind it."""
    groups: dict[tuple[str, str], list[Residual]] = defaultdict(list)
    for each in found:
        if each.quality in ("A", "B"):
            groups[each.family, each.kinds[0]].append(each)
    return {
        f"{family} | {kind}": {
            "rows": len(rows),
            "median": round(median(each.error for each in rows), 4),
            "spread": round(median(abs(each.error) for each in rows), 4),
            "sources": sorted({each.source for each in rows}),
        }
        for (family, kind), rows in sorted(groups.items())
    }
