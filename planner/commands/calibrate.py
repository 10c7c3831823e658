"""`calibrate`: measured rows -> the residuals behind every interval."""

import argparse
import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from planner.calibration.refit import measured_residuals, summary_of
from planner.calibration.residuals import COLUMNS, Residual, forget
from planner.commands.tables import open_table
from planner.hardware.catalogue import DATA, read_rows
from planner.throughput.constants import FITTED
from planner.throughput.roofline import machine
from planner.validation.run import table_outcomes
from planner.validation.schema import ALIASES, KEPT, remarks


def add_to(commands: Any) -> None:
    """Register the subcommand."""
    parser = commands.add_parser(
        "calibrate",
        help="measure the planner against its own table of measurements",
        description="Predicts every measured row that the planner carries and writes the comparisons that its "
        "intervals come from. The same rows give the same files.",
    )
    parser.add_argument("--carry", nargs="*", type=Path, default=(), metavar="FILE.csv", help="carry these rows first")
    parser.add_argument("--fit", action="store_true", help="fit the constants of training first (minutes)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Refit; returns the exit status."""
    for path in options.carry:
        print(f"wrote {carry(path).name}")
    if options.fit:
        refit()
    _write(measured_residuals())
    forget()  # the limits come from the errors just written
    found = measured_residuals()
    _write(found)
    forget()
    summary = summary_of(found)
    (DATA / "calibration.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    for name, group in summary.items():
        print(f"{name:<32}{group['rows']:>6} rows  median {group['median']:+.3f}  spread {group['spread']:.3f}")
    return 0


def refit() -> None:
    """Fit the constants of the training model, write them with their evidence, and use them from here on.

    A fit that does no better than the published values on sources left out is not taken.
    """
    from planner.calibration import fit

    rows = read_rows(fit.FILE)
    found = fit.fit(fit.constants_of(rows), fit.training_runs())
    used = found.values if found.better else {row["name"]: float(row["prior"]) for row in rows}
    with (DATA / fit.FILE).open("w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            name = row["name"]
            taught = {"rows": found.rows[name], "sources": "; ".join(found.sources[name])}
            writer.writerow({**row, "value": f"{used[name]:.4g}", "spread": f"{found.spread[name]:.2g}", **taught})
    FITTED.update(used)
    machine.cache_clear()
    print("fitted values kept" if found.better else "published values kept: no better on sources left out")
    print(f"{'median error by source':<48}{'before':>8}{'fitted':>8}{'held out':>10}")
    for source, error in found.held_out.items():
        print(f"{source:<48}{found.before[source]:>8.1%}{found.fitted[source]:>8.1%}{error:>10.1%}")


def carry(path: Path) -> Path:
    """Copy the rows of a table that can be predicted into the planner's own; returns the file written."""
    table, stream = open_table(path)
    with stream:
        rows = list(table.rows)
    table.rows = iter(rows)
    kept = {outcome.line for outcome in table_outcomes(table) if outcome.skipped is None}
    names = ALIASES[table.layout]
    columns = [*KEPT[table.layout], *names]
    target = DATA / f"measured_{table.layout}.csv"
    with target.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        for row in rows:
            if row.line in kept:
                writer.writerow(_short(columns, [row.text(names.get(column, column)) for column in columns]))
    return target


def _short(columns: Sequence[str], cells: Sequence[str]) -> list[str]:
    return [remarks(cell) if column == "remarks" else cell for column, cell in zip(columns, cells, strict=True)]


def _write(found: Sequence[Residual]) -> None:
    with (DATA / "comparisons.csv").open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for each in found:
            cells = {name: getattr(each, name) for name in COLUMNS}
            writer.writerow({**cells, "kinds": "|".join(each.kinds)}.values())
