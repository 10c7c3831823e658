"""Any log as a trace. Files may be glued together and hold several formats: each line says what it belongs to."""

import csv
import re
from dataclasses import dataclass
from typing import Any

from planner.telemetry.logs.cells import cell
from planner.telemetry.logs.columns import Column, column, guessed, header
from planner.telemetry.logs.exposition import Scrapes
from planner.telemetry.logs.query_text import read_query_text
from planner.telemetry.logs.rows import Rows, row_of, trace_from, unknown_columns
from planner.telemetry.sample import Process
from planner.telemetry.trace import Trace

MAXIMUM_CHARACTERS = 200_000_000

_MONITOR_UNITS = re.compile(r"^#\s*(Idx|YYYYMMDD)", re.IGNORECASE)
_PROCESS_COLUMNS = {"pid", "command"}


@dataclass(frozen=True, slots=True)
class Log:
    """A log that was read: the trace, and what a trace does not hold."""

    trace: Trace
    processes: tuple[Process, ...]
    facts: dict[str, str]


def read_log(text: str, name: str = "log") -> Log:
    """Read the text of a log. Nothing recognised gives an empty trace, with the note "nothing-read"."""
    reader = _Reader()
    for line in text[:MAXIMUM_CHARACTERS].lstrip("\ufeff").splitlines():
        reader.take(line)
    reader.end()
    found = reader.found
    if not found.rows and not found.processes:
        found.notes.add("nothing-read")
    return Log(trace_from(found, name), tuple(found.processes.values()), found.facts)


class _Reader:
    """Which format the next line continues."""

    def __init__(self) -> None:
        self.found = Rows()
        self.table: list[Column] | None = None  # of comma-separated values
        self.processes: list[str] | None = None  # headings of --query-compute-apps
        self.monitor: list[str] | None = None  # headings of dmon or pmon
        self.block: list[str] | None = None  # lines of `nvidia-smi -q`
        self.scrapes = Scrapes()

    def take(self, line: str) -> None:
        bare = line.strip()
        if "NVSMI LOG" in bare:
            self.end_block()
            self.block = []
        elif self.block is not None and not bare.startswith(("#", "+-", "$")):
            self.block.append(line)
        elif self.scrapes.take(bare):
            self.monitor = self.table = None
        elif bare.startswith("#"):
            self.end_block()
            self.scrapes.comment(bare)
            self._take_comment(bare)
        elif bare and self.monitor and not _has_commas(bare):
            self._take_monitor(bare.split())
        elif _has_commas(bare):
            self._take_table(bare)

    def end(self) -> None:
        """The file is over."""
        self.end_block()
        self.scrapes.end()
        self.found.rows += self.scrapes.rows

    def end_block(self) -> None:
        if self.block is not None:
            read_query_text(self.block, self.found)
        self.block = None

    def _take_comment(self, bare: str) -> None:
        words = bare.lstrip("#").split()
        if _MONITOR_UNITS.match(bare):
            return
        lower = [word.lower() for word in words]
        self.monitor = lower if "gpu" in lower and len(set(lower) & {"pid", "sm", "pwr", "fb", "mclk"}) else None

    def _take_table(self, bare: str) -> None:
        self.monitor = None
        cells = next(csv.reader([bare], skipinitialspace=True))
        named = header(cells)
        if named:
            self.table, self.processes = named, None
            self.found.unknown.update(dict.fromkeys(unknown_columns(named)))
            return
        if _is_process_header(cells):
            self.table, self.processes = None, [one.split(" ")[0].strip().lower() for one in cells]
            return
        if self.processes is not None:
            self._take_process(dict(zip(self.processes, cells, strict=False)))
            return
        if self.table is None:
            self.table = guessed(cells)
            if self.table is None:
                return
            self.found.notes.add("columns-guessed")
        if len(cells) < min(2, len(self.table)):
            return
        row = row_of(cells, self.table)
        if any(isinstance(value, float) for value in row.values.values()):
            self.found.rows.append(row)

    def _take_monitor(self, cells: list[str]) -> None:
        assert self.monitor is not None
        row: dict[str, Any] = dict(zip(self.monitor, cells, strict=False))
        if _PROCESS_COLUMNS & set(self.monitor):
            self._take_process(row)
            return
        columns = [column(one) for one in self.monitor]
        columns = [Column(one.holds, "mb/s" if one.holds.startswith("pcie_") else "", one.heading) for one in columns]
        found = row_of(cells, columns)
        if found.index is not None and any(isinstance(value, float) for value in found.values.values()):
            self.found.rows.append(found)

    def _take_process(self, row: dict[str, Any]) -> None:
        """One process, of pmon or of --query-compute-apps."""
        if not str(row.get("pid", "")).strip().isdigit():
            return
        uuid = str(row.get("gpu_uuid") or f"index-{row.get('gpu', 0)}").strip()
        kind = "graphics" if row.get("type") == "G" else "compute"
        sm = cell(row.get("sm", ""), "utilization")
        memory = cell(row.get("used_gpu_memory") or row.get("fb") or "", "memory_used")
        path = str(row.get("process_name") or row.get("command") or "").strip().replace("\\", "/")
        name = path.rsplit("/", 1)[-1]  # without its folders, which tell of their owner
        self.found.add_process(Process(uuid=uuid, pid=int(row["pid"]), name=name, sm=sm, memory=memory, kind=kind))


def _has_commas(bare: str) -> bool:
    return bare.count(",") >= 2


def _is_process_header(cells: list[str]) -> bool:
    return {"pid", "process_name"} <= {one.split(" ")[0].strip().lower() for one in cells}
