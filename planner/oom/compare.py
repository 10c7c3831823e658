"""A report beside a plan's estimate: what differs, what it means, and what to change first."""

from collections.abc import Mapping
from dataclasses import dataclass

from planner.advice.advise import Suggestion, advise
from planner.oom.report import Report
from planner.plan.plan import Plan
from planner.result import Estimate, Notice, Severity, Term, total

FRAGMENTED_SHARE = 0.05
"""Cached blocks beyond this share of the GPU, and large enough for the request, mean that memory is there in pieces."""

OTHERS_SHARE = 0.02
"""Other processes that hold more than this share of the GPU are worth naming; a desktop holds about as much."""

DIFFERS = 0.15
"""A measured total further than this from the plan's means that the run is not the one planned."""

_GROUPS: Mapping[str, tuple[str, ...]] = {
    "weights": ("mem.weights", "mem.serving.weights"),
    "kv-cache": ("mem.serving.kv_cache", "mem.serving.state"),
    "activations": ("mem.activations", "mem.serving.activations", "mem.serving.logits", "mem.logits"),
    "graphs": ("mem.serving.graphs",),
}
"""Which of the plan's terms a log's part is, by the start of their ids."""


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity: id, bytes as the log says (None: not said), bytes as planned (None: no counterpart)."""

    id: str
    seen: float | None
    planned: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Rows to show, findings as codes (what matters most first), and the changes that would help, best first."""

    rows: tuple[Row, ...]
    findings: tuple[Notice, ...]
    changes: tuple[Suggestion, ...]


def compare(report: Report, plan: Plan, result: Estimate) -> Comparison:
    """The whole comparison. `result` is the plan's estimate."""
    return Comparison(_rows(report, result), tuple(_findings(report, plan, result)), _changes(report, plan, result))


def _rows(report: Report, result: Estimate) -> tuple[Row, ...]:
    memory = result.memory
    parts = {part.id: part.bytes for part in report.parts if part.device == report.fullest}
    rows = [
        Row("capacity", report.capacity, float(memory.capacity)),
        Row("held", report.held_by_us, float(memory.device)),
        Row("allocated", report.allocated, float(memory.allocated)),
        Row("cached", report.cached, float(memory.reserved - memory.allocated)),
        Row("others", report.held_by_others, None),
        Row("free", report.free, float(memory.spare)),
        Row("asked", report.asked, None),
        *(Row(id, size, _planned(result, id)) for id, size in parts.items()),
    ]
    return tuple(row for row in rows if row.seen is not None)


def _planned(result: Estimate, part: str) -> float | None:
    """The plan's largest value of a log's part over the phases."""
    starts = _GROUPS.get(part)
    if starts is None:
        return None
    sums = [total(_of(phase.terms, starts)) for phase in result.memory.phases]
    return float(max(*sums, total(_of(result.memory.outside, starts))))


def _of(terms: tuple[Term, ...], starts: tuple[str, ...]) -> list[Term]:
    return [term for term in terms if term.id.startswith(starts)]


def shortfall(report: Report) -> float | None:
    """Bytes that were lacking, at least: the request less what was free."""
    if report.asked is None or report.free is None:
        return None
    return max(0.0, report.asked - report.free)


def _findings(report: Report, plan: Plan, result: Estimate) -> list[Notice]:
    capacity = report.capacity or float(result.memory.capacity)
    out = [_notice("not-failed")] if not report.failed else []
    lacking = shortfall(report)
    if report.asked is not None and report.asked > capacity:
        out.append(_notice("asked-more-than-gpu", asked=report.asked, capacity=capacity))
    elif lacking is not None and lacking > 0:
        out.append(_notice("short-by", size=lacking))
    elif lacking is not None and report.failed:
        out.append(_notice("free-yet-failed", asked=report.asked or 0.0, free=report.free or 0.0))
    if report.wanted_tokens and report.longest_tokens and report.wanted_tokens > report.longest_tokens:
        out.append(_notice("cache-too-small", wanted=report.wanted_tokens, longest=report.longest_tokens))
    if report.where:
        out.append(_notice(f"where-{report.where}"))
    cached = report.cached or 0
    if report.failed and cached > FRAGMENTED_SHARE * capacity and cached >= (report.asked or 0):
        out.append(_notice("fragmented", cached=cached, asked=report.asked or 0.0))
    others = report.held_by_others or 0
    if others > OTHERS_SHARE * capacity:
        out.append(_notice("others-hold", size=others, processes=len(report.others) or 1))
    return [*out, *_against_plan(report, plan, result)]


def _against_plan(report: Report, plan: Plan, result: Estimate) -> list[Notice]:
    out = []
    planned = float(result.memory.capacity)
    if report.capacity and abs(report.capacity - planned) > 0.1 * planned:
        name = plan.card.name
        out.append(_notice("another-gpu", gpu=name, capacity=report.capacity, planned=planned))
    expected, seen = float(result.memory.allocated), report.allocated
    wanted = (seen or 0) + (report.asked or 0)
    if report.failed and result.fits and seen is not None and wanted > expected * (1 + DIFFERS):
        out.append(_notice("more-than-planned", seen=wanted, planned=expected))
    elif report.failed and not result.fits:
        out.append(_notice("planned-so", short=-float(result.memory.spare)))
    elif report.failed:
        out.append(_notice("plan-fits", spare=float(result.memory.spare)))
    return out


def _notice(code: str, **parameters: float | int | str) -> Notice:
    return Notice(f"oom-{code}", Severity.INFO, parameters)


def _changes(report: Report, plan: Plan, result: Estimate) -> tuple[Suggestion, ...]:
    """Changes that save memory: those that save what was lacking first, then by speed kept."""
    lacking = max(shortfall(report) or 0.0, -float(result.memory.spare))
    required = float(result.memory.required)
    savers = [change for change in advise(plan, result) if change.memory_ratio < 1]
    enough = {change.id: (1 - change.memory_ratio) * required >= lacking for change in savers}
    hardware_last = {change.id: change.trade == "hardware" for change in savers}
    return tuple(sorted(savers, key=lambda one: (hardware_last[one.id], not enough[one.id], -(one.speed_ratio or 0))))
