"""`check-code`: what in a training script costs speed or memory? The code is read, never run."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from planner.code_check.check import check
from planner.code_check.finding import Severity
from planner.code_check.report import as_mapping
from planner.code_check.source import LARGEST_NOTEBOOK
from planner.commands.code_words import RULES
from planner.commands.words import problem_line
from planner.result import InputError, Problem


def add_to(commands: Any) -> None:
    """Declare the subcommand."""
    about = (
        "reads training scripts and notebooks (never runs them) and says what costs speed or memory; exit status 1 "
        "where something costs much"
    )
    parser = commands.add_parser("check-code", help="finds what costs speed in a training script", description=about)
    parser.add_argument("files", nargs="+", metavar="FILE", help="a .py or .ipynb file; - for standard input")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the findings of every file; 2 where one could not be read, 1 where something costs much."""
    reports, status = [], 0
    for name in options.files:
        try:
            report = check(_text(name), name)
        except InputError as error:
            for problem in error.problems:
                print(f"{name}: {problem_line(problem)}", file=sys.stderr)
            status = 2
            continue
        if status == 0 and any(one.severity is Severity.HIGH for one in report.findings):
            status = 1
        if options.json:
            reports.append({"file": name, **as_mapping(report)})
            continue
        for one in report.findings:
            place = f"{name}:{one.line}" if one.cell is None else f"{name}: cell {one.cell}"
            title, reason = RULES[one.id]
            print(f"{place}: {one.severity} {one.id}: {title}")
            print(f"    {reason}")
            print("".join(f"    | {line}\n" for line in one.fix.split("\n")), end="")
        loops = f"{report.loops} training loop{'' if report.loops == 1 else 's'}"
        print(f"{name}: {loops}, {len(report.findings)} finding{'' if len(report.findings) == 1 else 's'}")
    if options.json:
        print(json.dumps(reports, indent=2, ensure_ascii=False))
    return status


def _text(name: str) -> str:
    """A file's text, no more of it than could be read. Raises `InputError`."""
    try:
        if name == "-":
            return sys.stdin.read(LARGEST_NOTEBOOK + 1)
        with Path(name).open(encoding="utf-8", errors="replace") as file:
            return file.read(LARGEST_NOTEBOOK + 1)
    except OSError as error:
        raise InputError([Problem("cannot-read-file", "code", name, {"reason": error.strerror or ""})]) from None
