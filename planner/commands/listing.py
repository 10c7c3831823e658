"""`gpus` and `models`: the catalogues."""

import argparse
import dataclasses
import json
import sys
from typing import Any

from planner.hardware.catalogue import gpus
from planner.models import catalogue
from planner.units import GIB, GIGA, TERA


def add_to(commands: Any) -> None:
    """Declare both subcommands."""
    about = "the accelerators: memory in GiB, dense peaks in TFLOP/s, bandwidth in GB/s"
    cards = commands.add_parser("gpus", help=about, description=about)
    cards.add_argument("text", nargs="?", default="", help="part of a name, vendor or architecture")
    cards.add_argument("--json", action="store_true", help="print JSON: bytes, FLOP/s, bytes/s")
    cards.set_defaults(run=run_gpus)
    about = "the model catalogue: parameters in billions"
    models = commands.add_parser("models", help=about, description=about)
    models.add_argument("text", nargs="?", default="", help="part of a name or family")
    models.add_argument("--task", help="only models of this task")
    models.add_argument("--json", action="store_true", help="print JSON")
    models.set_defaults(run=run_models)


def run_gpus(options: argparse.Namespace) -> int:
    """Print the accelerators whose name, vendor or architecture holds the text."""
    wanted = options.text.lower()
    found = [g for g in gpus() if wanted in f"{g.id} {g.name} {g.vendor} {g.architecture}".lower()]
    if options.json:
        print(json.dumps([dataclasses.asdict(gpu) for gpu in found], indent=2))
        return 0
    if not found:
        print(f"no GPU has {options.text!r} in its name, vendor or architecture", file=sys.stderr)
        return 0
    print(f"{'id':<34}{'memory':>12}{'bandwidth':>12}{'bf16':>10}{'fp8':>10}   name")
    for gpu in found:
        bandwidth = f"{gpu.memory_bandwidth / GIGA:,.0f} GB/s" if gpu.memory_bandwidth else "unknown"
        peaks = [f"{gpu.peaks[d] / TERA:,.0f}" if d in gpu.peaks else "-" for d in ("bf16", "fp8")]
        print(f"{gpu.id:<34}{gpu.memory_bytes / GIB:>8.1f} GiB{bandwidth:>12}{peaks[0]:>10}{peaks[1]:>10}   {gpu.name}")
    return 0


def run_models(options: argparse.Namespace) -> int:
    """Print the models whose name or family holds the text."""
    found = catalogue.search(options.text, task=options.task)
    if options.json:
        print(json.dumps([_entry(entry) for entry in found], indent=2))
        return 0
    if not found:
        print(f"no model has {options.text!r} in its name or family", file=sys.stderr)
        return 0
    print(f"{'id':<52}{'parameters':>14}  {'task':<14}license")
    for entry in found:
        count = f"{entry.parameters / GIGA:,.3f} B" if entry.parameters else "unknown"
        print(f"{entry.id:<52}{count:>14}  {entry.task:<14}{entry.license}")
    return 0


def _entry(entry: Any) -> dict[str, Any]:
    kept = ("id", "name", "family", "task", "released", "license", "parameters")
    return {key: getattr(entry, key) for key in kept}
