"""`launch`: a plan as a framework's files and command. `read`: a configuration, a command or a memory log as a plan."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from planner.commands import estimate
from planner.estimate import estimate as estimated
from planner.launch.compare import onto
from planner.launch.frameworks import FRAMEWORKS, export, read
from planner.launch.types import Launch, Reading
from planner.launch.wrappers import WRAPPERS
from planner.oom import compare as oom
from planner.oom import read as logs
from planner.plan.checks import problems_of
from planner.plan.plan import Plan, parse, to_json
from planner.plan.request import request_of
from planner.plan.table import FIELDS
from planner.result import InputError, Problem
from planner.units import GIB

LONGEST_FILE = 2 * 2**20


def add_to(commands: Any) -> None:
    """Declare both subcommands."""
    launch = commands.add_parser(
        "launch",
        help="a plan as ready-to-run files and a command",
        description="Writes a plan in a framework's words. Flags override the values of PLAN.",
    )
    launch.add_argument("plan", nargs="?", metavar="PLAN", help="a plan's JSON file, or the link of a plan")
    launch.add_argument("--framework", required=True, metavar="NAME", help=", ".join(FRAMEWORKS))
    launch.add_argument("--wrapper", choices=WRAPPERS, help="a scheduler's job around it")
    launch.add_argument("--output", metavar="FOLDER", help="write the files there instead of printing them")
    launch.add_argument("--json", action="store_true", help="print JSON")
    estimate.add_fields(launch)
    launch.set_defaults(run=run_launch)
    reader = commands.add_parser(
        "read",
        help="what a framework's configuration, a command, or an out-of-memory log means",
        description="Reads one or several files of one run; - is standard input. Nothing in them is executed.",
    )
    reader.add_argument("files", nargs="+", metavar="FILE")
    reader.add_argument("--gpu", default=None, help="the GPU that it is to run on")
    reader.add_argument("--json", action="store_true", help="print JSON")
    reader.set_defaults(run=run_read)


def run_launch(options: argparse.Namespace) -> int:
    """Print or write the files and the command. Raises `InputError`."""
    launch = export(estimate.read_plan(options), options.framework, options.wrapper)
    if options.json:
        print(json.dumps(_launch_json(launch), indent=2))
        return 0
    if options.output:
        folder = Path(options.output)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file in launch.files:
                (folder / file.name).write_text(file.text, encoding="utf-8")
        except OSError as error:
            raise InputError(
                [Problem("cannot-read-file", "output", str(folder), {"reason": error.strerror})]
            ) from error
        print(f"wrote {', '.join(str(folder / file.name) for file in launch.files)}")
    else:
        for file in launch.files:
            print(f"# --- {file.name}\n{file.text}")
    print(f"# --- run with {launch.version}\n{launch.command}")
    for notice in launch.notes:
        print(f"note: {notice.code} {dict(notice.parameters)}", file=sys.stderr)
    return 0


def run_read(options: argparse.Namespace) -> int:
    """Print what was read and whether it fits: exit status 0 fits, 1 does not. Raises `InputError`."""
    texts = [_text(path) for path in options.files]
    present, problems = parse({"gpu": options.gpu} if options.gpu else {})
    if problems:
        raise InputError(problems)
    try:
        reading = read(*texts)
    except InputError as unread:
        return _read_log(texts, present, unread)
    plan = onto(present, reading)
    if impossible := problems_of(plan):
        raise InputError(impossible)
    result = estimated(request_of(plan))
    if options.json:
        print(json.dumps({**_reading_json(reading), **estimate.as_json(plan, result)}, indent=2))
    else:
        print(_reading_text(reading))
        print(estimate.as_text(plan, result))
    return 0 if result.fits else 1


def _read_log(texts: list[str], present: Plan, unread: InputError) -> int:
    """A log of memory, where the text is no configuration; otherwise the first problem stands."""
    try:
        report = logs.read("\n".join(texts))
    except InputError:
        raise unread from None
    comparison = oom.compare(report, present, estimated(request_of(present)))
    print(f"{report.source} log; failed: {'yes' if report.failed else 'no'}")
    for row in comparison.rows:
        print(f"  {row.id:<14}{(row.seen or 0) / GIB:>10.2f} GiB")
    for notice in comparison.findings:
        if not notice.code.startswith(("oom-plan", "oom-more", "oom-another")):  # no plan was given
            print(f"  note: {notice.code} {dict(notice.parameters)}")
    return 1 if report.failed else 0


def _text(path: str) -> str:
    try:
        with sys.stdin.buffer if path == "-" else Path(path).open("rb") as file:
            return file.read(LONGEST_FILE).decode("utf-8", errors="replace")
    except OSError as error:
        raise InputError([Problem("cannot-read-file", "file", path, {"reason": error.strerror})]) from error


def _launch_json(launch: Launch) -> dict[str, Any]:
    return {
        "framework": launch.framework,
        "version": launch.version,
        "files": {file.name: file.text for file in launch.files},
        "command": launch.command,
        "notes": [{"code": notice.code, **notice.parameters} for notice in launch.notes],
    }


def _reading_json(reading: Reading) -> dict[str, Any]:
    return {
        "frameworks": list(reading.frameworks),
        "read": to_json(Plan(reading.chosen, {})),
        "unread": [{"option": one.option, "value": one.value, "code": one.code} for one in reading.unread],
        "assumptions": [{"code": notice.code, **notice.parameters} for notice in reading.assumptions],
    }


def _reading_text(reading: Reading) -> str:
    lines = [f"read as {', '.join(reading.frameworks)}:"]
    for field in FIELDS:
        if field.id in reading.chosen:
            value = reading.chosen[field.id]
            lines.append(f"  {field.id:<30}{'an object' if isinstance(value, dict) else value}")
    lines += [f"  not read: {one.option} = {one.value} ({one.code})" for one in reading.unread]
    lines += [f"  assumed: {notice.code} {dict(notice.parameters)}" for notice in reading.assumptions]
    return "\n".join(lines)
