"""Reads a table of measurements: any of three layouts, told apart by their columns; bad lines are named, not fatal."""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import IO, Any

from planner.result import InputError, Problem
from planner.validation.case import Row
from planner.validation.schema import asked_for

LONGEST_CELL = 100_000
LARGEST = 1e18


class Layout(StrEnum):
    TRAINING = "training"
    FINETUNE = "finetune"
    INFERENCE = "inference"


REQUIRED: dict[Layout, frozenset[str]] = {
    Layout.TRAINING: frozenset({"id", "model", "gpu", "n_gpus", "framework", "precision", "method", "seq_len"}),
    Layout.FINETUNE: frozenset({"id", "model", "gpu", "n_gpus", "method", "per_device_batch", "max_seq_len"}),
    Layout.INFERENCE: frozenset({"id", "model", "gpu", "engine", "weight_dtype_or_quant", "tp"}),
}
"""Columns without which no row of a layout can be understood."""

MEASURED: dict[Layout, frozenset[str]] = {
    Layout.TRAINING: frozenset({"peak_mem_gib", "tokens_per_s_per_gpu", "samples_per_s_total", "step_time_s"}),
    Layout.FINETUNE: frozenset({"torch_peak_alloc_bytes", "nvidia_smi_peak_mib", "tokens_per_second_per_gpu"}),
    Layout.INFERENCE: frozenset(
        [
            "weights_gib",
            "kv_tokens",
            "kv_gib",
            "activation_gib",
            "other_gib",
            "graph_gib",
            "peak_mem_gib",
            "prefill_tok_s",
            "decode_tok_s",
            "output_tok_s_total",
            "ttft_ms",
            "tpot_ms",
            "samples_per_s",
        ]
    ),
}
"""Columns that hold what was measured; at least one must be there."""


@dataclass(slots=True)
class Table:
    """A table being read: its layout, its rows one at a time, and the lines that could not be read."""

    layout: Layout
    rows: Iterator[Row]
    problems: list[tuple[int, str]] = field(default_factory=list)


def read_table(stream: IO[str]) -> Table:
    """The table of an open text. Raises `InputError` where its columns fit no layout."""
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(_without_nuls(stream))
    try:
        header = asked_for([name.strip().lower() for name in next(reader)])
    except (StopIteration, csv.Error):
        raise InputError([Problem("empty-table", "file", None)]) from None
    problems: list[tuple[int, str]] = []
    return Table(_layout(header), _rows(reader, header, problems), problems)


def table_of(rows: Sequence[Mapping[str, str]]) -> Table:
    """A table of rows that are in memory already; line 2 is the first."""
    header = list(rows[0]) if rows else []
    names = dict(zip(header, asked_for(header), strict=True))
    found = (Row(line, {names[key]: cell for key, cell in row.items()}) for line, row in enumerate(rows, start=2))
    return Table(_layout(list(names.values())), found)


def _without_nuls(stream: IO[str]) -> Iterator[str]:
    for line in stream:
        yield line.replace("\0", "")


def _layout(header: list[str]) -> Layout:
    columns = set(header)
    nearest = max(Layout, key=lambda kind: len(columns & (REQUIRED[kind] | MEASURED[kind])))
    missing = sorted(REQUIRED[nearest] - columns)
    measured = MEASURED[nearest] & columns
    if missing or not measured:
        absent = missing or sorted(MEASURED[nearest])
        raise InputError([Problem("missing-columns", "file", None, {"layout": nearest.value, "missing": absent})])
    return nearest


def _rows(reader: Any, header: list[str], problems: list[tuple[int, str]]) -> Iterator[Row]:
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.append((reader.line_num, str(error)))
            continue
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(header):
            problems.append((reader.line_num, f"{len(cells)} cells for {len(header)} columns"))
            continue
        yield Row(reader.line_num, dict(zip(header, cells, strict=False)))


class BadCell(ValueError):
    """A cell that should hold a number and doesn't, or one out of all reason."""

    def __init__(self, column: str, text: str) -> None:
        super().__init__(f"{column}: {text[:60]!r}")


def number(row: Row, column: str) -> float | None:
    """A positive number, or None where the cell is empty. Raises `BadCell`."""
    text = row.text(column)
    if not text:
        return None
    try:
        value = float(text.replace(",", "") if text.count(",") and "." in text else text)
    except ValueError:
        raise BadCell(column, text) from None
    if not math.isfinite(value) or value < 0 or value > LARGEST:
        raise BadCell(column, text)
    return value


def whole(row: Row, column: str, default: int) -> int:
    """A whole number of at least 1, or the default where the cell is empty. Raises `BadCell`."""
    value = number(row, column)
    if value is None:
        return default
    if value != int(value) or value < 1 or value > 1e9:
        raise BadCell(column, row.text(column))
    return int(value)
