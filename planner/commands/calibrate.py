"""`calibrate`: measured rows -> the residuals behind every interval."""

import argparse
from pathlib import Path
from typing import Any

from planner.calibration.carry import carry
from planner.calibration.refit import refit


def add_to(commands: Any) -> None:
    """Register the subcommand."""
    parser = commands.add_parser(
        "calibrate",
        help="measure the planner against its own table of measurements",
        description="Predicts every measured row that the planner carries and writes the residuals that its intervals "
        "come from. The same rows give the same files.",
    )
    parser.add_argument("--carry", nargs="*", type=Path, default=(), metavar="FILE.csv", help="carry these rows first")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Refit; returns the exit status."""
    for path in carry(options.carry):
        print(f"wrote {path.name}")
    for name, group in refit().items():
        print(f"{name:<32}{group['rows']:>6} rows  median {group['median']:+.3f}  spread {group['spread']:.3f}")
    return 0
