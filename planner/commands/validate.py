"""`validate`: a table of measurements -> how far the planner's figures are from them."""

import argparse
import csv
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from planner.calibration.targets import reached
from planner.commands.tables import outcomes
from planner.result import InputError, Problem
from planner.validation.run import Outcome
from planner.validation.summary import Summary

COLUMNS = ("id", "quantity", "measured", "predicted", "low", "high", "error", "status", "assumptions", "reason")


def add_to(commands: Any) -> None:
    """Register the subcommand."""
    parser = commands.add_parser(
        "validate",
        help="compare predictions with a table of measurements",
        description="Predicts every row of a table of measurements (training, fine-tuning or inference: told apart by "
        "its columns) from the row's own settings, and says how far off the predictions are.",
    )
    parser.add_argument("file", type=Path, nargs="?", help="a CSV file")
    parser.add_argument("--targets", action="store_true", help="print what was aimed at and reached on carried rows")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--rows", type=Path, metavar="OUT.csv", help="write every row's comparisons here")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Validate a file; returns the exit status."""
    if options.targets:
        print(targets_text())
        return 0
    if options.file is None:
        raise InputError([Problem("missing-key", "file", None, {"accepted": "FILE.csv or --targets"})])
    summary = Summary()
    found = _counted(outcomes(options.file), summary)
    if options.rows:
        with options.rows.open("w", newline="", encoding="utf-8") as out:
            write_rows(out, found)
    else:
        for _ in found:
            pass
    print(json.dumps(summary.as_json(), indent=1) if options.json else as_text(summary))
    return 0


def _counted(found: Iterable[Outcome], summary: Summary) -> Iterator[Outcome]:
    for outcome in found:
        summary.add(outcome)
        yield outcome


def write_rows(out: Any, found: Iterable[Outcome]) -> None:
    """One line a comparison; rows without any get one line with the reason."""
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for outcome in found:
        writer.writerows(lines(outcome))


def lines(outcome: Outcome) -> Iterator[tuple[Any, ...]]:
    """The lines of one row of the table."""
    if outcome.skipped is not None:
        reason = f"line {outcome.line}: {outcome.skipped.reason} ({outcome.skipped.detail})"
        yield (outcome.id, "", "", "", "", "", "", "unsupported", "", reason)
        return
    assert outcome.case is not None
    assumed, left_out = "; ".join(outcome.case.assumed), "; ".join(outcome.case.left_out)
    for each in outcome.comparisons:
        figures = (each.measured, each.predicted, each.low, each.high)
        yield (
            outcome.id,
            each.quantity.value,
            *(f"{value:.8g}" for value in figures),
            f"{each.error:.5f}",
            each.status.value,
            assumed,
            left_out,
        )
    if outcome.fits is not None and outcome.case.ran is not None:
        ran, fits = ("fits" if value else "does not fit" for value in (outcome.case.ran, outcome.fits))
        yield (outcome.id, "verdict", ran, fits, "", "", "", "", assumed, "")


def targets_text() -> str:
    """The targets and what was reached, as a table; the evidence is of other sources or models than each row's."""
    lines = [f"{'quantity':<34}{'rows':>6}{'sources':>9}{'median':>9}{'aim':>6}{'p90':>9}{'aim':>6}{'in 90 %':>9}"]
    for each in reached():
        aim = each.target
        middle, tail = f"{each.middle:>9.1%}{aim.middle:>6.0%}", f"{each.tail:>9.1%}{aim.tail:>6.0%}"
        mark = "met" if each.met else "missed"
        lines.append(f"{aim.label:<34}{each.rows:>6}{each.sources:>9}{middle}{tail}{each.coverage:>9.0%}  {mark}")
    return "\n".join(lines)


def as_text(summary: Summary) -> str:
    """The summary as a table for people."""
    rows = [
        f"{summary.predicted} of {summary.rows} rows predicted",
        "",
        f"{'domain':<18}{'quantity':<28}{'rows':>6}{'median':>9}{'p90':>9}{'bias':>9}{'in 90 %':>9}",
    ]
    for g in summary.groups:
        figures = f"{g.median_abs_pct:>8.1f}%{g.p90_abs_pct:>8.1f}%{g.bias_pct:>+8.1f}%{g.coverage_90 * 100:>8.0f}%"
        rows.append(f"{g.domain:<18}{g.quantity:<28}{g.n:>6}{figures}")
    v = summary.verdicts
    if v.n:
        rows += ["", f"fits or not: {v.correct} of {v.n} right, {v.false_fits} false fits, {v.false_no_fits} false no"]
    if summary.unsupported:
        rows += ["", "not predicted:", *(f"  {n:>6}  {reason}" for reason, n in summary.unsupported.most_common())]
    return "\n".join(rows)
