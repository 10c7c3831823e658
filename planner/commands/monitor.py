"""`monitor`: the GPUs here, of a server, or of a log; and what the figures say about how well they work."""

import argparse
import io
import json
import sys
import time
from pathlib import Path
from typing import Any

from planner.telemetry.diagnosis.diagnose import assume, diagnose
from planner.telemetry.diagnosis.verdict import Diagnosis, Outcome, Verdict
from planner.telemetry.diagnosis.view import busy_part
from planner.telemetry.logs.read import read_log
from planner.telemetry.nvml import NvmlSource
from planner.telemetry.poller import Poller
from planner.telemetry.prometheus import PrometheusSource, checked_address
from planner.telemetry.recording import MAGIC, read_recording
from planner.telemetry.sample import Reading
from planner.telemetry.trace import Trace
from planner.units import GIB

NO_GPU = 1
BAD_INPUT = 2


def add_to(commands: Any) -> None:
    """Declare the subcommand."""
    about = "shows GPUs live, or judges a log: nvidia-smi's CSV, -q, dmon and pmon, or a recording"
    parser = commands.add_parser("monitor", help=about, description=about)
    parser.add_argument("file", nargs="?", type=Path, help="a log or a recording; without one, this machine")
    parser.add_argument("--server", help="a Prometheus server that scrapes dcgm-exporter")
    parser.add_argument("--seconds", type=float, default=0.0, help="watch so long, then judge")
    parser.add_argument("--power-limit", type=float, help="watts, where the log does not tell")
    parser.add_argument("--json", action="store_true", help="print JSON in base units")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the GPUs, or the diagnosis of a log."""
    if options.file is not None:
        return _judge_file(options)
    address = checked_address(options.server) if options.server else None
    if options.server and address is None:
        print(f"no http or https address: {options.server}", file=sys.stderr)
        return BAD_INPUT
    poller = Poller(PrometheusSource(address) if address else NvmlSource())
    reading = poller.poll()
    deadline = time.monotonic() + options.seconds
    while time.monotonic() < deadline:
        time.sleep(1.0)
        reading = poller.poll()
    if reading.absent is not None:
        print(f"no GPU to read: {reading.absent}", file=sys.stderr)
        return NO_GPU
    if options.json:
        print(json.dumps(_plain_reading(reading), indent=2))
        return 0
    _print_reading(reading)
    if options.seconds:
        _print_diagnosis(diagnose(poller.ring.trace()))
    return 0


def _judge_file(options: argparse.Namespace) -> int:
    try:
        data = options.file.read_bytes()
    except OSError as error:
        print(f"{options.file}: {error.strerror}", file=sys.stderr)
        return BAD_INPUT
    if data.startswith(MAGIC):
        trace = read_recording(io.BytesIO(data))
    else:
        trace = read_log(data.decode("utf-8", "replace"), options.file.name).trace
    if not len(trace.times):
        print(f"{options.file}: nothing in it was recognised as a log of GPUs", file=sys.stderr)
        return BAD_INPUT
    if options.power_limit:
        trace = assume(trace, {"power_limit": options.power_limit})
    found = diagnose(trace, end=busy_part(trace)[1])
    if options.json:
        print(json.dumps(_plain_diagnosis(trace, found), indent=2))
        return 0
    print(f"{len(trace.times)} readings of {len(trace.gpus)} GPUs over {trace.times[-1] - trace.times[0]:.0f} s")
    _print_diagnosis(found)
    return 0


def _print_reading(reading: Reading) -> None:
    for sample in reading.gpus:

        def value(name: str, scale: float, unit: str, sample: Any = sample) -> str:
            found = sample.metric(name)
            return f"{found * scale:.0f} {unit}" if isinstance(found, float) else str(found)

        index = "-" if sample.device.index is None else str(sample.device.index)
        print(
            f"{index:>3} {sample.device.host:<12} {sample.device.name:<28} busy {value('utilization', 100, '%'):>14}"
            f"  memory {value('memory_used', 1 / GIB, 'GiB'):>14}  power {value('power', 1, 'W'):>14}"
            f"  {value('temperature', 1, 'C')}"
        )


def _print_diagnosis(found: Diagnosis) -> None:
    told = found.with_outcome(Outcome.FOUND, Outcome.UNDECIDED)
    for one in told:
        print(f"{one.rule} ({one.outcome}, confidence {one.confidence}): {', '.join(one.uuids)}")
        for each in one.evidence:
            limit = "" if each.limit is None else f" (limit {each.limit:g})"
            print(f"    {each.metric} = {each.value:.4g}{limit}")
        if one.between:
            print(f"    undecided between {', '.join(one.between)}; would be settled by {', '.join(one.missing)}")
        if one.advice:
            print(f"    try: {', '.join(one.advice)}")
    if not told:
        print("nothing stands out in the figures that there are")
    skipped = found.with_outcome(Outcome.NOT_EVALUATED)
    if skipped:
        print("not evaluated: " + "; ".join(f"{one.rule} (needs {', '.join(one.missing)})" for one in skipped))


def _plain_reading(reading: Reading) -> dict[str, Any]:
    return {
        "time": reading.time,
        "facts": dict(reading.facts),
        "gpus": [
            {"uuid": one.device.uuid, "name": one.device.name, "index": one.device.index, "values": dict(one.values)}
            for one in reading.gpus
        ],
    }


def _plain_diagnosis(trace: Trace, found: Diagnosis) -> dict[str, Any]:
    def plain(one: Verdict) -> dict[str, Any]:
        evidence = [{"metric": e.metric, "value": e.value, "limit": e.limit} for e in one.evidence]
        return {
            "rule": one.rule,
            "outcome": one.outcome,
            "confidence": one.confidence,
            "gpus": one.uuids,
            "evidence": evidence,
            "seconds": one.seconds,
            "between": one.between,
            "missing": one.missing,
            "advice": one.advice,
        }

    return {
        "source": trace.source,
        "notes": trace.notes,
        "start": found.start,
        "end": found.end,
        "verdicts": [plain(one) for one in found.verdicts],
    }
