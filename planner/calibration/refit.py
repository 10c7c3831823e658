"""Measures the planner against the rows that it carries, and writes what follows: residuals, and a summary to read."""

import csv
import json
import math
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from planner.calibration.carry import carried
from planner.calibration.families import FAMILY, INVERSE, kinds
from planner.calibration.residuals import DATA as RESIDUALS
from planner.calibration.residuals import Residual
from planner.validation.run import Comparison, outcomes

SUMMARY = RESIDUALS.with_name("calibration.json")
COLUMNS = ("id", "source", "model", "gpu", "kinds", "family", "quality", "error")


def measured_residuals(paths: Iterable[Path]) -> list[Residual]:
    """One residual a comparison, in the order of the tables."""
    return [_residual(comparison) for path in paths for outcome in outcomes(path) for comparison in outcome.comparisons]


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


def refit() -> dict[str, Any]:
    """Write `data/residuals.csv` and `data/calibration.json` from the carried tables; returns the summary."""
    found = measured_residuals(carried())
    with RESIDUALS.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for each in found:
            kind = "|".join(each.kinds)
            writer.writerow((each.id, each.source, each.model, each.gpu, kind, each.family, each.quality, each.error))
    summary = summary_of(found)
    SUMMARY.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    return summary


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
