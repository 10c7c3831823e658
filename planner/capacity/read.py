"""Scenarios from tables and JSON: every bad cell is named with its row, and the good rows are kept."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from planner.capacity.types import LONGEST_WEEKS, Pool, Scenario, Workload
from planner.hardware import catalogue as hardware
from planner.models.readers.json_text import parse_json
from planner.result import InputError, Problem
from planner.store.names import clean_name

FORMAT = "gpu-planner-capacity"
VERSION = 1
MOST_ROWS = 2000
LARGEST_FILE = 4 * 1024 * 1024

POOL_COLUMNS = ("name", "gpu", "nodes", "gpus_per_node", "site", "price_per_gpu_hour", "on_demand", "from", "until")
WORKLOAD_COLUMNS = ("name", "gpus", "gpu_hours", "gpu_types", "start", "deadline", "priority")

Row = Mapping[str, Any]


def rows_of_text(data: bytes | str, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a pasted or uploaded table: comma, semicolon or tab between cells, columns named in its first line.

    Text is UTF-8 or UTF-16 with a mark, else taken for Windows-1252. Raises `InputError`: "too-large", "empty-table",
    "missing-columns".
    """
    if len(data) > LARGEST_FILE:
        raise InputError([Problem("too-large", "file", None, {"limit": LARGEST_FILE})])
    text = data if isinstance(data, str) else _decoded(data)
    lines = text.replace("\0", "").splitlines()
    head = next((line for line in lines if line.strip()), "")
    if not head:
        raise InputError([Problem("empty-table", "file")])
    mark = max("\t;,", key=head.count)
    reader = csv.reader(io.StringIO("\n".join(lines)), delimiter=mark)
    try:
        found = [[cell.strip() for cell in cells] for cells in reader]
    except csv.Error as error:
        raise InputError([Problem("empty-table", "file", str(error)[:80])]) from error
    filled = [cells for cells in found if any(cells)]
    names = [name.lower().replace(" ", "_") for name in filled[0]]
    if missing := [name for name in columns[:2] if name not in names]:
        raise InputError([Problem("missing-columns", "file", None, {"layout": "capacity", "missing": missing})])
    return [{name: cell for name, cell in zip(names, cells, strict=False) if name in columns} for cells in filled[1:]]


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def scenario_of(
    pools: Iterable[Row], workloads: Iterable[Row], *, start: date, weeks: int, growth_per_year: float
) -> tuple[Scenario, tuple[Problem, ...]]:
    """A scenario from rows of plain values. A row with a bad cell is left out and named: "workloads[2].gpus".

    Rows are counted from 1, as they stand in a table without its head.
    """
    problems: list[Problem] = []
    clock = _Clock(start, weeks)
    read_pools = _rows(pools, "pools", lambda row: _pool(row, clock), problems)
    read_workloads = _rows(workloads, "workloads", lambda row: _workload(row, clock), problems)
    made = Scenario(
        pools=_named_once(read_pools, "pools", problems),
        workloads=_named_once(read_workloads, "workloads", problems),
        start=start,
        weeks=weeks,
        growth_per_year=growth_per_year,
    )
    return made, tuple(problems)


def from_json(data: bytes | str) -> tuple[Scenario, dict[str, Any], tuple[Problem, ...]]:
    """A scenario, its rows as they were, and what was wrong. Raises `InputError` for what is no scenario at all."""
    file = parse_json(data, limit=LARGEST_FILE)
    if file.get("format") != FORMAT:
        raise InputError([Problem("not-a-scenario", "file")])
    if file.get("version") != VERSION:
        raise InputError([Problem("archive-from-future", "file", str(file.get("version"))[:20], {"known": VERSION})])
    problems: list[Problem] = []
    start = _value(problems, "start", lambda: _date(file.get("start"), "start")) or date(2026, 1, 5)
    weeks = _value(problems, "weeks", lambda: _number(file, "weeks", 1, LONGEST_WEEKS, whole=True)) or 52
    growth = _value(problems, "growth_per_year", lambda: _number(file, "growth_per_year", -0.9, 10, default=0.0)) or 0.0
    rows = {name: _rows_in(file, name, problems) for name in ("pools", "workloads")}
    made, found = scenario_of(
        rows["pools"], rows["workloads"], start=start, weeks=int(weeks), growth_per_year=float(growth)
    )
    settings = {"start": start.isoformat(), "weeks": int(weeks), "growth_per_year": float(growth)}
    return made, {**settings, **rows}, (*problems, *found)


def _rows_in(file: Mapping[str, Any], name: str, problems: list[Problem]) -> list[Row]:
    found = file.get(name, [])
    if not isinstance(found, list) or not all(isinstance(row, Mapping) for row in found):
        problems.append(Problem("not-a-list", name, type(found).__name__, {"longest": MOST_ROWS}))
        return []
    return found


def to_json(rows: Mapping[str, Any]) -> dict[str, Any]:
    """Rows and settings as the file holds them."""
    return {"format": FORMAT, "version": VERSION, **rows}


class _Clock:
    """Dates as weeks of the scenario."""

    def __init__(self, start: date, weeks: int) -> None:
        self.start, self.weeks = start, weeks

    def week(self, row: Row, name: str, default: int | None, *, up: bool = False) -> int | None:
        raw = row.get(name)
        if raw is None or raw == "":
            return default
        days = (_date(raw, name) - self.start).days
        week = -(-days // 7) if up else days // 7
        return max(0, min(week, LONGEST_WEEKS))


def _pool(row: Row, clock: _Clock) -> Pool:
    until = clock.week(row, "until", clock.weeks)
    return Pool(
        name=clean_name(row.get("name")),
        gpu=_gpu(row.get("gpu"), "gpu"),
        nodes=int(_number(row, "nodes", 0, 10_000, whole=True, default=1)),
        gpus_per_node=int(_number(row, "gpus_per_node", 1, 72, whole=True, default=8)),
        site=str(row.get("site") or "")[:120],
        price_per_gpu_hour=float(_number(row, "price_per_gpu_hour", 0, 1000, default=0.0)),
        on_demand=_flag(row.get("on_demand")),
        first_week=clock.week(row, "from", 0, up=True) or 0,
        last_week=clock.weeks if until is None else until,
    )


def _workload(row: Row, clock: _Clock) -> Workload:
    kinds = [
        part for part in str(row.get("gpu_types") or "").replace(";", "|").replace(",", "|").split("|") if part.strip()
    ]
    deadline = clock.week(row, "deadline", None)
    return Workload(
        name=clean_name(row.get("name")),
        gpus=int(_number(row, "gpus", 1, 100_000, whole=True)),
        gpu_hours=float(_number(row, "gpu_hours", 0, 1e9, default=0.0)),
        gpu_types=tuple(_gpu(kind.strip(), "gpu_types") for kind in kinds),
        start_week=clock.week(row, "start", 0, up=True) or 0,
        deadline_week=deadline,
        priority=int(_number(row, "priority", 1, 10, whole=True, default=1)),
    )


def _rows(rows: Iterable[Row], name: str, read: Callable[[Row], Any], problems: list[Problem]) -> list[Any]:
    found = []
    for place, row in enumerate(rows, start=1):
        if place > MOST_ROWS:
            problems.append(Problem("not-a-list", name, place, {"longest": MOST_ROWS}))
            break
        if not any(value not in (None, "", False) for value in row.values()):
            continue  # an empty line of the table
        try:
            found.append(read(row))
        except InputError as error:
            problems += [Problem(p.code, f"{name}[{place}].{p.field}", p.value, p.parameters) for p in error.problems]
    return found


def _named_once(items: list[Any], name: str, problems: list[Problem]) -> tuple[Any, ...]:
    """The items without those whose name an earlier one has, which are named."""
    seen: dict[str, Any] = {}
    for item in items:
        if item.name in seen:
            problems.append(Problem("name-taken", f"{name}.name", item.name))
        else:
            seen[item.name] = item
    return tuple(seen.values())


def _value(problems: list[Problem], name: str, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except InputError as error:
        problems.extend(error.problems)
        return None


def _number(
    row: Row, name: str, low: float, high: float, *, whole: bool = False, default: float | None = None
) -> float:
    raw = row.get(name)
    if raw is None or raw == "":
        if default is None:
            raise InputError([Problem("missing-value", name)])
        return default
    limits = {"low": low, "high": high, "unit": ""}
    try:
        if isinstance(raw, bool):
            raise ValueError
        value = float(str(raw).replace("\u202f", "").replace(" ", ""))
        if value != value or value in (float("inf"), float("-inf")) or (whole and value != int(value)):
            raise ValueError
    except ValueError as error:
        raise InputError(
            [Problem("not-an-integer" if whole else "not-a-number", name, str(raw)[:60], limits)]
        ) from error
    if not low <= value <= high:
        raise InputError([Problem("out-of-range", name, value, limits)])
    return value


def _flag(raw: Any) -> bool:
    return raw is True or str(raw).strip().lower() in ("1", "true", "yes", "نعم")


def _date(raw: Any, name: str) -> date:
    try:
        return raw if isinstance(raw, date) else date.fromisoformat(str(raw).strip()[:10])
    except ValueError as error:
        raise InputError([Problem("not-a-date", name, str(raw)[:40])]) from error


def _gpu(raw: Any, name: str) -> str:
    try:
        return hardware.gpu(str(raw or "")[:120]).id
    except InputError as error:
        raise InputError([Problem(p.code, name, p.value, p.parameters) for p in error.problems]) from error
