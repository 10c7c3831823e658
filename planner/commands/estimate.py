"""`estimate`: a plan from flags, a JSON file or a link -> memory, time, cost."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from planner.advice.advise import advise
from planner.commands.words import notice_line
from planner.estimate import estimate
from planner.models.readers.json_text import parse_json
from planner.plan.checks import problems_of
from planner.plan.fields import Field, Kind
from planner.plan.plan import Plan, choices_of, from_json, to_json
from planner.plan.request import request_of
from planner.plan.table import FIELDS
from planner.result import Estimate, InputError, Memory, Problem, Term
from planner.units import GIB, HOUR, KIB, TERA

LONGEST_FILE = 2 * 2**20
_PAGE_KEYS = ("lang",)  # of a link, but not of a plan


def add_to(commands: Any) -> None:
    """Declare the subcommand; its flags are the plan's fields."""
    parser = commands.add_parser(
        "estimate",
        help="memory, time and cost of a plan; exit status 0 fits, 1 does not fit, 2 bad input",
        description="Estimates a plan. Flags override the values of PLAN; what neither sets has its default.",
    )
    parser.add_argument("plan", nargs="?", metavar="PLAN", help="a plan's JSON file, or the link of a plan")
    parser.add_argument("--json", action="store_true", help="print JSON: bytes, seconds, US dollars")
    add_fields(parser)
    parser.set_defaults(run=run)


def add_fields(parser: argparse.ArgumentParser) -> None:
    """A flag for every field of a plan."""
    for field in FIELDS:
        parser.add_argument(
            f"--{field.id.replace('_', '-')}", dest=field.id, help=_help(field), metavar=_metavar(field)
        )


def _metavar(field: Field) -> str:
    return {Kind.INTEGER: "N", Kind.NUMBER: "X", Kind.FLAG: "true|false", Kind.CONFIG: "FILE"}.get(field.kind, "ID")


def _help(field: Field) -> str:
    parts = []
    if field.kind in (Kind.INTEGER, Kind.NUMBER):
        parts.append(f"{field.low:,} to {field.high:,} {field.unit}".rstrip())
    if choices := choices_of(field):
        parts.append(", ".join(choices))
    if not callable(field.default) and field.default is not None:
        parts.append(f"default {field.default}")
    return "; ".join(parts).replace("%", "%%")


def run(options: argparse.Namespace) -> int:
    """Print the estimate. Raises `InputError` on any problem: the command line never plans half of what was asked."""
    plan = read_plan(options)
    result = estimate(request_of(plan))
    print(json.dumps(as_json(plan, result), indent=2) if options.json else as_text(plan, result))
    return 0 if result.fits else 1


def read_plan(options: argparse.Namespace) -> Plan:
    """The plan of PLAN and the flags together, which must be possible."""
    plan, problems = from_json(read_given(options))
    problems = problems or problems_of(plan)
    if problems:
        raise InputError(problems)
    return plan


def read_given(options: argparse.Namespace) -> dict[str, Any]:
    """The values of PLAN, and over them those of the flags."""
    given: dict[str, Any] = _read_source(options.plan) if options.plan else {}
    for field in FIELDS:
        value = getattr(options, field.id)
        if value is not None:
            given[field.id] = _read_file(value) if field.kind is Kind.CONFIG else value
    return given


def _read_source(source: str) -> dict[str, Any]:
    if "://" in source or source.startswith("?"):
        pairs = dict(parse_qsl(urlsplit(source).query, max_num_fields=200))
        return {key: value for key, value in pairs.items() if key not in _PAGE_KEYS}
    return _read_file(source)


def _read_file(path: str) -> dict[str, Any]:
    try:
        with sys.stdin.buffer if path == "-" else Path(path).open("rb") as file:
            return parse_json(file.read(LONGEST_FILE + 1), limit=LONGEST_FILE, infinite=True)
    except OSError as error:
        raise InputError([Problem("cannot-read-file", "plan", path, {"reason": error.strerror})]) from error


def as_json(plan: Plan, result: Estimate) -> dict[str, Any]:
    """The whole result in base units, with the formula and the source of every term."""
    memory, speed, cost = result.memory, result.speed, result.cost
    return {
        "plan": to_json(plan),
        "values": {
            key: value for key, value in plan.values.items() if key not in ("spec", "card") and value is not None
        },
        "fits": bool(result.fits),
        "status": result.status,
        "memory": {
            "allocated_bytes": round(memory.allocated),
            "reserved_bytes": round(memory.reserved),
            "device_bytes": None if plan.values["task"] == "serve" else round(memory.device),
            "required_bytes": round(memory.required),
            "capacity_bytes": round(memory.capacity),
            "spare_bytes": round(memory.spare),
            "peak_phase": memory.peak.id,
            "parts": [_term(term) for term in memory.parts],
            "phases": {phase.id: round(phase.total) for phase in memory.phases},
        },
        "speed": None
        if speed is None
        else {
            "seconds": float(speed.seconds),
            "parts": [_term(term) for term in speed.parts],
            "bound": str(speed.bound),
            "samples_per_second": float(speed.samples_per_second),
            "tokens_per_second": float(speed.tokens_per_second) or None,  # image networks have none
            "mfu": _plain(speed.mfu),
            "hfu": _plain(speed.hfu),
            "time_to_first_token_seconds": _plain(speed.time_to_first_token),
            "time_per_output_token_seconds": _plain(speed.time_per_output_token),
        },
        "cost": {
            "price_per_hour_usd": _plain(cost.price_per_hour),
            "seconds_to_finish": _plain(cost.seconds_to_finish),
            "price_to_finish_usd": _plain(cost.price_to_finish),
            "price_per_million_tokens_usd": _plain(cost.price_per_million_tokens),
            "energy_joules": _plain(cost.energy_joules),
            "price_source": cost.price_source,
            "price_date": cost.price_date,
        },
        "notices": [{"code": n.code, "severity": n.severity, "parameters": dict(n.parameters)} for n in result.notices],
    }


def _plain(value: Any) -> float | None:
    return None if value is None else float(value)


def _term(term: Term) -> dict[str, Any]:
    return {
        "id": term.id,
        "value": float(term.value),
        "unit": term.unit,
        "formula": term.formula.latex,
        "inputs": {key: _jsonable(value) for key, value in term.inputs.items()},
        "source": term.formula.source,
    }


def _jsonable(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def as_text(plan: Plan, result: Estimate) -> str:
    """A short table for people."""
    memory, speed, cost = result.memory, result.speed, result.cost
    values = plan.values
    verdict = (
        f"fits, {memory.spare / GIB:.1f} GiB to spare"
        if result.fits
        else (f"does not fit: {-memory.spare / GIB:.1f} GiB short")
    )
    lines = [
        f"{values['task']} {plan.spec.name} on {values['gpus']} x {values['gpu']}: {verdict}",
        f"  peak in phase {memory.peak.id}: allocated {memory.allocated / GIB:.2f} GiB, "
        f"reserved {memory.reserved / GIB:.2f} GiB{_driver_view(plan, memory)}",
        f"  required {memory.required / GIB:.2f} of {memory.capacity / GIB:.2f} GiB:",
        *(f"    {term.id:<32}{_size(term.value):>12}" for term in memory.parts if term.value > 0),
    ]
    if not result.fits:
        lines.extend(_ways_out(plan, result))
    if speed is not None:
        if not result.fits:
            lines.append("  with enough memory it would run so:")
        lines.append(f"  {speed.seconds:.4g} s, bound by {speed.bound}; {_rate(speed)}{_mfu(speed)}")
        lines.extend(f"    {term.id:<28}{term.value:>10.4g} s" for term in speed.parts if term.value > 0)
    if cost.seconds_to_finish is not None:
        price = f", {cost.price_to_finish:,.2f} USD" if cost.price_to_finish is not None else ""
        lines.append(f"  to finish: {cost.seconds_to_finish / HOUR:,.4g} h{price}")
    lines.extend(f"  note: {notice_line(notice)}" for notice in result.notices)
    lines.append(f"  status of the estimate: {result.status}")
    return "\n".join(lines)


def _ways_out(plan: Plan, result: Estimate) -> Iterator[str]:
    """The first changes that help, as the flags that make them."""
    for one in advise(plan, result)[:3]:
        flags = " ".join(_flag(field, value) for change in one.changes for field, value in change.sets.items())
        spare = one.estimate.memory.spare / GIB
        verdict = f"fits, {spare:.1f} GiB to spare" if one.fits else f"still {-spare:.1f} GiB short"
        yield f"  try {flags}: {one.estimate.memory.required / GIB:.1f} GiB, {verdict}"


def _flag(field: str, value: Any) -> str:
    name = f"--{field.replace('_', '-')}"
    return f"no {name}" if value is None else f"{name} {value}"


def _driver_view(plan: Plan, memory: Memory) -> str:
    """What nvidia-smi would show while training; a server takes its share of the card whatever it needs."""
    return "" if plan.values["task"] == "serve" else f", nvidia-smi {memory.device / GIB:.2f} GiB"


def _size(value: float) -> str:
    """Bytes in the unit that shows them: GiB, or KiB where that would read zero."""
    return f"{value / GIB:.3f} GiB" if value >= GIB / 1000 else f"{value / KIB:,.0f} KiB"


def _rate(speed: Any) -> str:
    if speed.tokens_per_second:
        return f"{speed.tokens_per_second:,.4g} tokens/s"
    return f"{speed.samples_per_second:,.1f} samples/s"


def _mfu(speed: Any) -> str:
    if speed.mfu is None:
        return ""
    return f"; MFU {speed.mfu:.1%} ({speed.model_flops / speed.seconds / TERA:,.0f} TFLOP/s in all)"
