"""`search`: every layout of a plan's work on its GPUs -> counts, frontier, the best few; or one input solved for."""

import argparse
import json
import sys
from typing import Any

from planner.commands.estimate import add_fields, read_given
from planner.parallel import Offload
from planner.plan.checks import problems_of
from planner.plan.plan import Plan, from_json, to_json
from planner.result import InputError, Problem
from planner.search.explain import Difference, Relaxation, WhyNot, differences, estimated, relaxations, why_not
from planner.search.search import Found, Layout, search
from planner.search.space import Space, base_of, impossible, space_of
from planner.solve import SOLVABLE, Solution, solve
from planner.units import GIB


def add_to(commands: Any) -> None:
    """Declare the subcommand; its flags are the plan's fields and what the search varies."""
    parser = commands.add_parser(
        "search",
        help="the best parallel layouts of a plan; exit status 0 something fits, 1 nothing does, 2 bad input",
        description="Scores every layout of a plan's work on its GPUs. The layout of PLAN is where the search starts "
        "from only for its global batch; with --why-not it is the one that is explained.",
    )
    parser.add_argument("plan", nargs="?", metavar="PLAN", help="a plan's JSON file, or the link of a plan")
    parser.add_argument("--json", action="store_true", help="print JSON: bytes, seconds, tokens per second")
    parser.add_argument("--rows", type=int, default=10, metavar="N", help="layouts to print; default 10")
    parser.add_argument("--global-batch-size", type=int, metavar="N", help="sequences of one step; default: the plan's")
    parser.add_argument("--all-gpus", action="store_true", help="use every GPU; else halves of them are tried as well")
    parser.add_argument("--no-offload", action="store_true", help="leave optimizer states and parameters on the GPU")
    parser.add_argument("--any-precision", action="store_true", help="try every training precision the GPU has")
    parser.add_argument("--why-not", action="store_true", help="say why the plan's own layout is not the best one")
    parser.add_argument("--solve", metavar="FIELD", help="instead, the largest of: " + ", ".join(SOLVABLE))
    parser.add_argument("--progress", action="store_true", help="tell on standard error how far the search is")
    add_fields(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what is found. Raises `InputError` on any problem of the work itself; the layout may be impossible."""
    plan, problems = from_json(read_given(options))
    if problems:
        raise InputError(problems)
    return _solve(plan, options) if options.solve else _search(plan, options)


def _solve(plan: Plan, options: argparse.Namespace) -> int:
    if found := problems_of(plan):
        raise InputError(found)
    solution = solve(plan, options.solve)
    if options.json:
        print(json.dumps(solution_json(solution), indent=2))
    else:
        print(_solution_line(solution))
    return 1 if solution.value is None else 0


def solution_json(solution: Solution) -> dict[str, Any]:
    """A solution in base units."""
    return {
        "field": solution.field,
        "value": solution.value,
        "margin_bytes": round(solution.margin_bytes),
        "next_short_bytes": None if solution.next_short_bytes is None else round(solution.next_short_bytes),
        "plan": to_json(solution.plan),
    }


def _solution_line(solution: Solution) -> str:
    margin = solution.margin_bytes / GIB
    if solution.value is None:
        return f"{solution.field}: nothing fits; {solution.plan.values[solution.field]} is {-margin:.2f} GiB short"
    short = solution.next_short_bytes
    behind = "the limit of the input" if short is None else f"the next is {short / GIB:.2f} GiB short"
    return f"{solution.field}: {solution.value}, {margin:.2f} GiB to spare; {behind}"


def _search(plan: Plan, options: argparse.Namespace) -> int:
    batch = options.global_batch_size
    if batch is not None and batch < 1:
        raise InputError([Problem("out-of-range", "global_batch_size", batch, {"low": 1, "high": 2**31, "unit": ""})])
    base = base_of(plan)
    if reasons := impossible(base):
        raise InputError(reasons)
    space = space_of(
        plan,
        global_batch_size=batch,
        fewer_gpus=not options.all_gpus,
        offload=not options.no_offload,
        any_precision=options.any_precision,
    )
    found = search(base, space, progress=_report if options.progress else None)
    advice = relaxations(base, space, found)
    named = why_not(plan, base, space, found) if options.why_not else None
    if options.json:
        print(json.dumps(as_json(base, space, found, advice, named, options.rows), indent=2))
    else:
        print(as_text(base, space, found, advice, named, options.rows))
    return 0 if found.fits else 1


def _report(share: float, scored: int) -> None:
    print(f"\r{share:5.0%}  {scored:,} layouts", end="\n" if share >= 1 else "", file=sys.stderr, flush=True)


def as_json(
    plan: Plan, space: Space, found: Found, advice: tuple[Relaxation, ...], named: WhyNot | None, rows: int
) -> dict[str, Any]:
    """Everything in base units. `sets` are the fields that make the plan that layout."""
    best = found.leaders(max(0, rows))
    first = estimated(plan, best[0]) if best else None
    return {
        "plan": to_json(plan),
        "global_batch_size": space.global_batch_size,
        "considered": found.considered,
        "legal": found.legal,
        "fits": found.fits,
        "capacity_bytes": round(found.capacity_bytes),
        "best": [
            layout_json(plan, one) | {"loses": _losses(differences(first, estimated(plan, one))) if first else []}
            for one in best
        ],
        "frontier": [layout_json(plan, one) for one in found.frontier],
        "leanest": None if found.leanest is None else layout_json(plan, found.leanest),
        "relaxations": [{"field": one.field, "value": one.value} for one in advice],
        "why_not": None if named is None else why_not_json(named),
    }


def _losses(parts: tuple[Difference, ...]) -> list[dict[str, Any]]:
    return [{"term": one.term, "seconds": one.seconds} for one in parts if one.seconds]


def layout_json(plan: Plan, layout: Layout) -> dict[str, Any]:
    """One layout in base units."""
    return {
        "sets": {key: value for key, value in layout.sets(plan).items() if value is not None},
        "gpus": layout.gpus,
        "data_parallel": layout.data,
        "required_bytes": round(layout.required_bytes),
        "rate_per_second": layout.rate,
    }


def why_not_json(named: WhyNot) -> dict[str, Any]:
    """Why the plan's own layout is not the best."""
    return {
        "reason": named.reason,
        "problems": [{"code": p.code, "field": p.field, "value": p.value} for p in named.problems],
        "short_bytes": round(named.short_bytes),
        "speed_ratio": named.speed_ratio,
        "share_slower": named.share_slower,
        "loses": _losses(named.differences),
        "global_batch_size": named.global_batch_size,
    }


def as_text(
    plan: Plan, space: Space, found: Found, advice: tuple[Relaxation, ...], named: WhyNot | None, rows: int
) -> str:
    """A table for people: the best of each combination of degrees, and why it loses to the first."""
    values = plan.values
    lines = [
        f"{values['task']} {plan.spec.name} on up to {values['gpus']} x {values['gpu']}, "
        f"{space.global_batch_size:,} {'requests at once' if values['task'] == 'serve' else 'samples a step'}",
        f"{found.considered:,} layouts considered, {found.legal:,} legal, {found.fits:,} fit",
    ]
    if found.best:
        lines.append(f"{'layout':<58}{'required':>11}{'per second':>14}   largest loss")
        first = estimated(plan, found.best[0])
        for one in found.leaders(max(0, rows)):
            lost = [part for part in differences(first, estimated(plan, one)) if part.seconds > 0]
            rate = "-" if one.rate is None else f"{one.rate:,.0f}"
            loss = f"{lost[0].term} +{lost[0].seconds:.3g} s" if lost and one is not found.best[0] else ""
            lines.append(f"{layout_words(one):<58}{one.required_bytes / GIB:>7.1f} GiB{rate:>14}   {loss}")
    lines += [f"would work: {one.field} {one.value:,}" for one in advice]
    if named is not None:
        lines.append(_why_not_line(named))
    return "\n".join(lines)


def layout_words(one: Layout) -> str:
    """A layout in the field's short names: "64 GPUs: dp8 tp4 pp2x4 cp1 ep1 mbs2x8 fsdp full"."""
    choice = one.choice
    degrees = f"dp{one.data} tp{one.tensor}{'+sp' if one.sequence_parallel else ''} pp{one.pipeline}"
    parts = [degrees + (f"x{one.chunks}" if one.chunks > 1 else "")]
    parts += [f"{name}{degree}" for name, degree in (("cp", one.context), ("ep", one.expert)) if degree > 1]
    if one.accumulation:
        parts.append(f"mbs{one.micro_batch_size}x{one.accumulation}")
    if choice.sharding.value != "none":
        parts.append(choice.sharding.value + (f"/{choice.shard_group}" if choice.shard_group else ""))
    if choice.recompute.value != "none":
        parts.append(f"recompute {choice.recompute}")
    if choice.offload_optimizer is not Offload.NONE:
        parts.append("offload" + ("+params" if choice.offload_parameters is not Offload.NONE else ""))
    return f"{one.gpus} GPUs: {' '.join(parts)}"


def _why_not_line(named: WhyNot) -> str:
    batch = f" (its global batch is {named.global_batch_size:,})" if named.global_batch_size else ""
    if named.problems:
        return "why not the plan's own layout: impossible, " + "; ".join(f"{p.field}: {p.code}" for p in named.problems)
    if named.short_bytes:
        return f"why not the plan's own layout: {named.short_bytes / GIB:.1f} GiB short{batch}"
    if named.speed_ratio is None:
        return f"why not the plan's own layout: it fits, but no speed is known{batch}"
    lost = ", ".join(f"{one.term} +{one.seconds:.3g} s" for one in named.differences[:3] if one.seconds > 0)
    return (
        f"the plan's own layout: {named.speed_ratio:.2f} x the best one's rate, "
        f"faster than {named.share_slower:.1%} of what fits{batch}" + (f"; it loses by {lost}" if lost else "")
    )
