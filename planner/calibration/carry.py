"""Writes the measured rows that the planner carries: the columns it uses, under its own names, with their source."""

import csv
from collections.abc import Sequence
from pathlib import Path

from planner.validation.run import table_outcomes
from planner.validation.schema import ALIASES, KEPT, remarks
from planner.validation.tables import open_table

DATA = Path(__file__).parent.parent / "data"


def carried() -> tuple[Path, ...]:
    """The carried tables, in a fixed order."""
    return tuple(sorted(DATA.glob("measured_*.csv")))


def carry(paths: Sequence[Path]) -> list[Path]:
    """Copy the rows of tables that can be predicted into the planner's own tables; returns what was written."""
    written = []
    for path in paths:
        table, stream = open_table(path)
        with stream:
            rows = list(table.rows)
        layout = table.layout
        table.rows = iter(rows)
        kept = {outcome.line for outcome in table_outcomes(table) if outcome.skipped is None}
        names = ALIASES[layout]
        columns = [*KEPT[layout], *names]
        target = DATA / f"measured_{layout}.csv"
        with target.open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(columns)
            for row in rows:
                if row.line in kept:
                    cells = [row.text(names.get(column, column)) for column in columns]
                    writer.writerow(_short(columns, cells))
        written.append(target)
    return written


def _short(columns: list[str], cells: list[str]) -> list[str]:
    return [remarks(cell) if column == "remarks" else cell for column, cell in zip(columns, cells, strict=True)]
