"""From rows of a log to a trace: who each row is about, and which rows were measured together."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from planner.telemetry.logs.cells import cell, moment
from planner.telemetry.logs.columns import FREE, INDEX, NAME, SKIP, TIME, UUID, Column
from planner.telemetry.sample import METRICS, Device, Kind, Metric, Process, Reading, Sample
from planner.telemetry.trace import Trace, trace_of

TOGETHER_SECONDS = 0.5
"""Rows of different GPUs that are at most this far apart belong to one reading."""


@dataclass
class Row:
    """One device at one moment; `time` is None in formats that carry none."""

    time: float | None
    values: dict[str, Metric]
    uuid: str = ""
    index: int | None = None
    name: str = ""
    parent: str = ""
    mig: bool = False


@dataclass
class Rows:
    """Everything found in a file."""

    rows: list[Row] = field(default_factory=list)
    processes: dict[tuple[str, int], Process] = field(default_factory=dict)
    notes: set[str] = field(default_factory=set)
    unknown: dict[str, None] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)

    def add_process(self, process: Process) -> None:
        """Keep a process; what one format leaves out another may have told."""
        before = self.processes.get((process.uuid, process.pid))
        if before is not None:
            memory = process.memory if isinstance(process.memory, float) else before.memory
            sm = process.sm if isinstance(process.sm, float) else before.sm
            process = replace(process, memory=memory, sm=sm, name=process.name or before.name)
        self.processes[(process.uuid, process.pid)] = process


def row_of(cells: Sequence[str], columns: Sequence[Column]) -> Row:
    """One row of a table."""
    row = Row(None, {})
    free: Metric | None = None
    for one, text in zip(columns, cells, strict=False):
        if one.holds == TIME:
            row.time = moment(text)
        elif one.holds == INDEX:
            row.index = int(text) if text.strip().isdigit() else row.index
        elif one.holds == UUID:
            row.uuid = text.strip()
        elif one.holds == NAME:
            row.name = text.strip()
        elif one.holds == FREE:
            free = cell(text, "memory_used", one.unit)
        elif one.holds in METRICS and not isinstance(row.values.get(one.holds), float):
            row.values[one.holds] = cell(text, one.holds, one.unit)
    used, reserved = row.values.get("memory_used"), row.values.get("memory_reserved")
    if "memory_total" not in row.values and isinstance(free, float) and isinstance(used, float):
        row.values["memory_total"] = used + free + (reserved if isinstance(reserved, float) else 0.0)
    return row


def unknown_columns(columns: Sequence[Column]) -> list[str]:
    """Headings that we do not read: kept and listed, not dropped in silence."""
    return [one.heading for one in columns if one.heading and not one.holds and one.holds != SKIP]


def trace_from(found: Rows, source: str) -> Trace:
    """The rows as a trace, in order of time."""
    _identify(found)
    _give_times(found.rows, found.notes)
    devices: dict[str, Device] = {}
    for row in found.rows:
        known = devices.get(row.uuid)
        if known is None or (row.name and not known.name) or (row.mig and not known.mig):
            devices[row.uuid] = _device(row, known)
    readings: list[Reading] = []
    group: dict[str, Sample] = {}
    start = 0.0
    for row in sorted(found.rows, key=lambda one: one.time or 0.0):
        time = row.time or 0.0
        if row.uuid in group or (group and time - start > TOGETHER_SECONDS):
            readings.append(Reading(time=start, samples=tuple(group.values())))
            group = {}
        start = start if group else time
        group[row.uuid] = Sample(device=_named(devices[row.uuid]), values=row.values)
    if group:
        readings.append(Reading(time=start, samples=tuple(group.values())))
    return trace_of(readings, source, notes=tuple(sorted(found.notes)), unknown_columns=tuple(found.unknown))


def _device(row: Row, known: Device | None) -> Device:
    return Device(
        uuid=row.uuid,
        name=row.name or (known.name if known else ""),
        kind=Kind.MIG if row.parent else Kind.GPU,
        index=row.index if row.index is not None else (known.index if known else None),
        parent=row.parent,
        mig=row.mig or bool(known and known.mig),
    )


def _named(device: Device) -> Device:
    if device.name:
        return device
    label = f"GPU {device.index}" if device.index is not None else "GPU"
    return replace(device, name=label)


def _identify(found: Rows) -> None:
    """A UUID for every row: its own, that of its index elsewhere in the file, or the index itself.

    Where neither is told, rows that share a moment are different GPUs in order.
    """
    rows = found.rows
    by_index = {row.index: row.uuid for row in rows if row.uuid and row.index is not None and not row.parent}
    uuids = list(dict.fromkeys(row.uuid for row in rows if row.uuid and not row.parent))
    if len(uuids) == 1:
        by_index.setdefault(0, uuids[0])
    place, last = 0, None
    for row in rows:
        if row.uuid:
            continue
        if row.index is None:
            place = place + 1 if last is not None and row.time == last else 0
            last = row.time
            row.index = place
            if place:
                found.notes.add("gpus-by-order")
        row.uuid = by_index.get(row.index, f"index-{row.index}")
    for process in list(found.processes.values()):
        known = by_index.get(int(process.uuid.removeprefix("index-"))) if process.uuid.startswith("index-") else None
        if known:
            del found.processes[(process.uuid, process.pid)]
            found.add_process(replace(process, uuid=known))


def _give_times(rows: list[Row], notes: set[str]) -> None:
    """Rows without a time follow the row before them, one second a round (the default of dmon)."""
    now, seen = 0.0, set[str]()
    for row in rows:
        if row.time is not None:
            now, seen = row.time, set()
            continue
        notes.add("no-times")
        if row.uuid in seen:
            now, seen = now + 1.0, set()
        elif not seen:
            now += 1.0
        seen.add(row.uuid)
        row.time = now
