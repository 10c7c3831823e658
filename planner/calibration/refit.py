"""Measures the planner against the rows that it carries: residuals, and a summary of them to read."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from statistics import median
from typing import Any

from planner.baselines.compare import baseline
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
    rule = baseline(each.case, each.quantity)
    case = each.case
    return Residual(
        id=case.id,
        source=case.source,
        url=case.url,
        date=case.date,
        domain=case.domain,
        model=case.model,
        gpu=case.gpu,
        gpus=int(case.request.layout.gpus),
        kinds=kinds(case.request),
        family=FAMILY[each.quantity].value,
        quantity=each.quantity.value,
        quality=case.quality,
        measured=_digits(each.measured),
        predicted=_digits(each.predicted),
        low=_digits(each.low),
        high=_digits(each.high),
        status=each.status.value,
        error=round(-error if each.quantity in INVERSE else error, 5),
        rule=rule.rule if rule else "",
        ruled=_digits(rule.value) if rule else 0.0,
        assumed="; ".join(case.assumed),
    )


def _digits(value: float) -> float:
    """Six significant digits: more than any measurement has."""
    return float(f"{value:.6g}")


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
