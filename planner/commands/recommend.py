"""`recommend`: a plan's work on every GPU, in several numbers, from every offer -> what fits, what is best."""

import argparse
import datetime
import json
from typing import Any

from planner.commands.estimate import add_fields, read_plan
from planner.hardware.prices import Age, age
from planner.plan.fields import Field, Kind
from planner.plan.plan import Plan
from planner.recommend.options import Option
from planner.recommend.recommend import Recommendation, recommend
from planner.recommend.wishes import FIELDS, Wishes, parse_wishes
from planner.result import InputError
from planner.units import GIB, HOUR, KILO, KILOWATT_HOUR

_PREFIX = "hw_"  # of the wishes among the options, whose names are else the plan's


def add_to(commands: Any) -> None:
    """Declare the subcommand; its flags are the plan's fields and the wishes about hardware."""
    parser = commands.add_parser(
        "recommend",
        help="which hardware for a plan; exit status 0 something fits, 1 nothing does, 2 bad input",
        description="Tries a plan's work on every GPU. Of PLAN and its flags, GPU and price are not used.",
    )
    parser.add_argument("plan", nargs="?", metavar="PLAN", help="a plan's JSON file, or the link of a plan")
    parser.add_argument("--json", action="store_true", help="print JSON: bytes, seconds, US dollars, joules, grams")
    parser.add_argument("--rows", type=int, default=20, metavar="N", help="options to print; default 20")
    wishes = parser.add_argument_group("hardware")
    for field in FIELDS:
        wishes.add_argument(_flag(field.id), dest=_PREFIX + field.id, metavar="X", help=_help(field))
    wishes.add_argument("--owned", dest=_PREFIX + "owned", metavar="LIST", help="GPU:count:price of one, ...")
    wishes.add_argument("--custom", dest=_PREFIX + "custom", metavar="JSON", help='{"gpus": [{"name": ..., ...}]}')
    add_fields(parser)
    parser.set_defaults(run=run)


def _flag(id: str) -> str:
    return f"--{id.replace('_', '-')}"


def _help(field: Field) -> str:
    if field.kind is Kind.CHOICE:
        allowed = ", ".join(field.choices) or "a country's three letters, US-CA, gcp:europe-west4, ..."
    else:
        allowed = f"{field.low:,} to {field.high:,} {field.unit}".rstrip()
    return f"{allowed}; default {field.default}" if field.default is not None else allowed


def run(options: argparse.Namespace) -> int:
    """Print what is recommended. Raises `InputError` on any problem."""
    plan = read_plan(options)
    given = {key.removeprefix(_PREFIX): value for key, value in vars(options).items() if key.startswith(_PREFIX)}
    wishes, problems = parse_wishes({key: value for key, value in given.items() if value is not None})
    if problems:
        raise InputError(problems)
    result = recommend(plan, wishes)
    today = datetime.date.today()
    print(json.dumps(as_json(result, today), indent=2) if options.json else as_text(plan, wishes, result, options.rows))
    return 0 if result.options else 1


def as_json(result: Recommendation, today: datetime.date) -> dict[str, Any]:
    """Everything in base units."""
    return {
        "work": {"unit": result.work.unit, "amount": result.work.amount, "asked": result.work.asked},
        "considered": result.considered,
        "refused": dict(result.refused),
        "options": [option_json(one, today) for one in result.options],
        "frontier": [one.id for one in result.frontier],
        "smallest": [option_json(one, today) for one in result.smallest],
        "relaxed": [{"limit": one.limit, "value": one.value, "option": one.option.id} for one in result.relaxed],
    }


def option_json(one: Option, today: datetime.date) -> dict[str, Any]:
    """One option in base units, and the fields that make a plan of it."""
    charge, offer = one.charge, one.charge.offer if one.charge else None
    return {
        "id": one.id,
        "sets": {"gpu": one.gpu.id, **one.sets},
        "fits": one.fits,
        "required_bytes": round(one.required_bytes),
        "capacity_bytes": one.gpu.memory_bytes,
        "rate_per_second": one.rate,
        "seconds": one.seconds,
        "price_usd": one.price,
        "price_per_hour_usd": charge.per_hour if charge else None,
        "charge": charge.kind if charge else None,
        "offer": offer and f"{offer.provider} {offer.instance}",
        "region": offer and offer.region,
        "price_date": offer and offer.as_of,
        "price_age": age(offer.as_of, today) if offer else None,
        "price_source": offer and offer.source,
        "joules": one.joules,
        "grams_co2e": one.grams,
        "grid": one.grid.id if one.grid else None,
        "global_batch_size": one.global_batch_size,
        "status": one.status,
    }


def as_text(plan: Plan, wishes: Wishes, result: Recommendation, rows: int) -> str:
    """A table for people: the price/performance frontier first, then the cheapest others."""
    work = result.work
    amount = f"{work.amount:,.0f} {work.unit}" + ("" if work.asked else " (not asked for: to compare by)")
    refused = ", ".join(f"{count} {reason}" for reason, count in result.refused.items() if count)
    lines = [
        f"{plan.values['task']} {plan.spec.name}: {amount}",
        f"{result.considered} pairs of GPU and number; {len(result.options)} options"
        + (f"; not: {refused}" if refused else ""),
    ]
    if result.options:
        lines.append(f"{'':2}{'option':<38}{'price':>12}{'time':>12}{'per hour':>11}{'kWh':>10}{'kg CO2e':>10}   from")
        front = {one.id for one in result.frontier}
        ranked = sorted(result.options, key=lambda one: one.id not in front)
        today = datetime.date.today()
        lines += [_row(one, "*" if one.id in front else "", today) for one in ranked[: max(0, rows)]]
        lines.append("* nothing else is both cheaper and faster")
    for one in result.relaxed:
        lines.append(f"with {_relaxed(one.limit, one.value)}: {one.option.id}")
    if not result.options and result.smallest:
        lines.append("smallest numbers that fit: " + ", ".join(one.id for one in result.smallest[:8]))
    if result.closest is not None:
        lines.append(f"nearest: {result.closest.id}, {-result.closest.spare_bytes / GIB:.1f} GiB short on each GPU")
    return "\n".join(lines)


def _relaxed(limit: str, value: float | None) -> str:
    if value is None:
        return f"any {limit}"
    shown = {"budget": f"{value:,.2f} USD", "deadline": f"{value / HOUR:,.2f} h"}.get(limit, f"{value:,.0f} GPUs")
    return f"{limit} {shown}"


def _row(one: Option, mark: str, today: datetime.date) -> str:
    charge = one.charge
    source = "no price known"
    if charge and charge.offer:
        stamp = {Age.UNDATED: "undated", Age.STALE: f"{charge.as_of}, stale"}.get(
            age(charge.as_of, today), str(charge.as_of)
        )
        source = f"{charge.offer.provider} {charge.offer.instance} ({stamp})"
    elif charge:
        source = charge.kind
    hours = f"{one.seconds / HOUR:,.2f} h" if one.seconds else "-"
    figures = (
        f"{one.price:,.2f} USD" if one.price is not None else "-",
        hours,
        f"{charge.per_hour:,.2f}" if charge else "-",
        f"{one.joules / KILOWATT_HOUR:,.2f}" if one.joules else "-",
        f"{one.grams / KILO:,.3f}" if one.grams is not None else "-",
    )
    widths = (12, 12, 11, 10, 10)
    cells = "".join(f"{figure:>{width}}" for figure, width in zip(figures, widths, strict=True))
    return f"{mark:2}{one.id:<38}{cells}   {source}"
