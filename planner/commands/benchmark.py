"""`benchmark`: how fast are this machine's GPUs and processor, beside what the catalogue says that they reach?"""

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any

from planner.environment.benchmark.compare import compare
from planner.environment.benchmark.run import LIMIT_SECONDS, start
from planner.result import InputError, Problem


def add_to(commands: Any) -> None:
    """Declare the subcommand."""
    about = "measures matrix products and memory copies on this machine, in a process with a time limit"
    parser = commands.add_parser("benchmark", help="measures this machine's GPUs and processor", description=about)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--seconds", type=float, default=LIMIT_SECONDS, help="time limit (default: %(default)g)")
    parser.add_argument("--python", default=sys.executable, help="the interpreter whose libraries measure")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a table or JSON; 1 where nothing could be measured or a rate is far below the catalogue's."""
    if not 1 <= options.seconds <= 3600:
        raise InputError([Problem("out-of-range", "seconds", options.seconds, {"low": 1, "high": 3600})])
    try:
        running = start(options.python, options.seconds)
    except OSError as error:
        why = {"reason": error.strerror or ""}
        raise InputError([Problem("cannot-read-file", "python", options.python, why)]) from None
    try:
        running.wait()
    except KeyboardInterrupt:
        running.cancel()
        running.wait(5)
    rows = compare(running.results)
    if options.json:
        print(json.dumps({
            "results": [asdict(one) for one in running.results],
            "compared": [{"library": row.best.library, "device": row.best.device, "kind": row.best.kind,
                          "dtype": row.best.dtype, "rate": row.best.rate, "known_as": row.known_as,
                          "expected": row.expected, "peak": row.peak, "share": row.share} for row in rows],
            "missing": running.missing, "failures": list(running.failures), "stopped": running.stopped,
        }, indent=2))  # fmt: skip
    else:
        for row in rows:
            print(_line(row.best.device, row))
        for library, reason in running.missing.items():
            print(f"{library}: {_REASONS.get(reason, reason)}", file=sys.stderr)
        if running.stopped:
            print(f"stopped: {running.stopped}", file=sys.stderr)
    return int(not rows or any(row.low for row in rows))


_REASONS = {"not-installed": "not installed, so not measured with", "no-gpu": "sees no GPU"}


def _line(device: str, row: Any) -> str:
    best = row.best
    unit, scale = ("TFLOP/s", 1e12) if best.kind == "matmul" else ("GB/s", 1e9)
    shown = f"{device:<6}{best.kind:<14}{best.dtype:<6}{best.rate / scale:>10.2f} {unit:<8}"
    if row.expected:
        shown += f" expected {row.expected / scale:.1f} ({row.share:.0%})"
    elif row.peak:
        shown += f" peak {row.peak / scale:.1f} ({best.rate / row.peak:.0%})"
    return f"{shown}  {row.known_as or best.name}, {best.library}"
