"""`capacity`: a team's GPUs against its workloads, from a scenario's JSON file."""

import argparse
import json
from pathlib import Path
from typing import Any

from planner.commands.words import problem_line
from planner.result import InputError


def add_to(commands: Any) -> None:
    """Declare the subcommand."""
    parser = commands.add_parser(
        "capacity",
        help="place workloads on a team's GPUs; exit status 0 all run in time, 1 not all, 2 bad input",
        description="Reads a scenario as the Capacity page saves it. Hours, GPU-hours and US dollars.",
    )
    parser.add_argument("scenario", metavar="SCENARIO.json")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Place, and print."""
    from planner.capacity.place import place
    from planner.capacity.read import from_json
    from planner.capacity.summary import cost, use
    from planner.capacity.types import WEEK

    try:
        scenario, _, problems = from_json(Path(options.scenario).read_bytes())
    except OSError as error:
        print(f"{options.scenario}: {error.strerror}")
        return 2
    except InputError as error:
        print("\n".join(problem_line(problem) for problem in error.problems))
        return 2
    found = place(scenario)
    bad = bool(problems or found.unplaced or found.late)
    if options.json:
        runs = [
            {"workload": r.workload, "pool": r.pool, "start_hour": r.start, "end_hour": r.end, "gpus": r.gpus}
            for r in found.runs
        ]
        hours = {name: float(values.sum()) for name, values in use(scenario, found).items()}
        print(
            json.dumps(
                {
                    "runs": runs,
                    "waits_hours": dict(found.waits),
                    "late": list(found.late),
                    "unplaced": list(found.unplaced),
                    "gap": found.gap,
                    "gpu_hours_used": hours,
                    "cost_usd": cost(scenario, found),
                    "problems": [problem_line(problem) for problem in problems],
                },
                indent=2,
            )
        )
        return 1 if bad else 0
    for problem in problems:
        print(problem_line(problem))
    for one in found.runs:
        lasts = f"{one.end - one.start:>8,.0f} h {one.gpus:>6} GPUs"
        print(f"{one.workload:<24} {one.pool:<16} {scenario.date_of(one.start / WEEK)} {lasts}")
    for name in found.late:
        print(f"late: {name}")
    for name in found.unplaced:
        print(f"not placed, or short of GPUs: {name}")
    print(f"cost: ${sum(cost(scenario, found).values()):,.0f}; assignment within {found.gap:.1%} of the best")
    return 1 if bad else 0
