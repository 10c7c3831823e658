"""The report of a plan: the answer, every input, how the figures come about, what to change, how sure it is."""

from datetime import date
from typing import Any
from urllib.parse import urlencode

from pages.ui import labels, words
from pages.ui.plan import advice
from pages.ui.plan.answer import crumb, detail_of, if_it_fitted, tiles_of, verdict_of
from pages.ui.report.report import Bar, Block, Figures, Heading, Paragraph, Report, Table
from pages.ui.saved.differences import shown
from pages.ui.tables import Column
from pages.ui.text import Text
from planner import __version__
from planner.calibration.intervals import Interval, Intervals, interval
from planner.commands.estimate import as_json
from planner.plan.plan import Plan, to_query
from planner.plan.table import FIELDS
from planner.result import Estimate, Term
from planner.units import GIB
from planner.workload import Request


def report(text: Text, plan: Plan, request: Request, result: Estimate, *, title: str = "", notes: str = "") -> Report:
    """Everything that the Plan page says of a plan."""
    bands = interval(result, request)
    _, verdict = verdict_of(text, plan, result)
    blocks: list[Block] = [
        Paragraph(crumb(text, plan)),
        Paragraph(verdict, strong=True),
        Paragraph(detail_of(text, request, result, bands)),
        bar_of(text, result),
        *(Paragraph(caution) for caution in [if_it_fitted(text, result)] if caution),
        Figures(tiles_of(text, plan, result, bands)),
        *(Paragraph(words.notice(text, notice)) for notice in result.notices),
    ]
    if notes:
        blocks += [Heading(text.t("Notes")), Paragraph(notes)]
    blocks += [Heading(text.t("Inputs")), inputs_of(text, plan)]
    blocks += [Heading(text.t("How the figures come about")), *_working(text, result)]
    blocks += [Heading(text.t("What to change")), _changes(text, plan)]
    blocks += [Heading(text.t("How accurate this is")), *accuracy_of(text, result, bands)]
    blocks += made(text, to_query(plan))
    return Report("plan", title or crumb(text, plan), blocks, {**as_json(plan, result), "planner_version": __version__})


def bar_of(text: Text, result: Estimate, label: str = "") -> Bar:
    """The memory bar of an estimate."""
    memory = result.memory
    parts = [(term.id, words.term(text, term.id), float(term.value)) for term in _positive(memory.parts)]
    return Bar(parts, float(memory.capacity), label)


def inputs_of(text: Text, plan: Plan, caption: str = "") -> Table:
    """Every input that applies, and whether it was chosen or is our default."""
    columns = [
        Column(id="input", label=text.t("Input")),
        Column(id="value", label=text.t("Value")),
        Column(id="origin", label=text.t("Origin")),
    ]
    chosen, default = text.t("chosen"), text.t("default")
    rows = [
        [labels.field(text, field), value, chosen if field.id in plan.chosen else default]
        for field in FIELDS
        if (value := shown(text, plan, field)) is not None and not isinstance(value, dict)
    ]
    return Table(caption or text.t("Every input that applies"), columns, rows)


def _working(text: Text, result: Estimate) -> list[Block]:
    memory = result.memory
    name, source = Column(id="part", label=text.t("Part")), Column(id="source", label=text.t("Source"))
    size = Column(id="size", label=text.t("Size"), unit="GiB", numeric=True)
    seconds = Column(id="seconds", label=text.t("Time"), unit=text.p("unit", "s"), numeric=True)
    parts = [
        [words.term(text, term.id), float(term.value) / GIB, term.formula.source] for term in _positive(memory.parts)
    ]
    phases = [[words.phase(text, phase.id), float(phase.total) / GIB] for phase in memory.phases]
    found: list[Block] = [
        Table(text.t("Memory of one GPU at its peak"), [name, size, source], parts),
        Table(
            text.t("Tensors at each moment; the largest is the peak"),
            [Column(id="phase", label=text.t("Moment")), size],
            phases,
        ),
    ]
    if result.speed is not None:
        timed = [
            [words.term(text, term.id), float(term.value), term.formula.source]
            for term in _positive(result.speed.parts)
        ]
        found.append(Table(text.t("Time of one step"), [name, seconds, source], timed))
    return found


def _positive(terms: tuple[Term, ...]) -> list[Term]:
    return [term for term in terms if term.value > 0]


def _changes(text: Text, plan: Plan) -> Block:
    changes = advice.changes_of(text, plan)
    if not changes:
        return Paragraph(text.t("No single change makes this plan clearly faster or cheaper."))
    columns = [
        Column(id="change", label=text.t("Change")),
        Column(id="memory", label=text.t("Memory")),
        Column(id="verdict", label=text.t("Verdict")),
        Column(id="speed", label=text.t("Effect")),
    ]
    rows = [[change.sentence, change.result, change.verdict_words, change.speed] for change in changes]
    return Table(text.t("Each computed as a plan of its own"), columns, rows)


def accuracy_of(text: Text, result: Estimate, bands: Intervals) -> list[Block]:
    """The status, and each figure's range."""
    status = text.t("Status of the estimate: {status}", status=words.status(text, result.status))
    columns = [
        Column(id="figure", label=text.t("Figure")),
        Column(id="low", label=text.t("From")),
        Column(id="high", label=text.t("To")),
        Column(id="rows", label=text.t("Measurements"), numeric=True),
        Column(id="sources", label=text.t("Sources"), numeric=True),
    ]
    named: list[tuple[str, Interval | None, Any]] = [
        (text.t("Peak memory"), bands.required, text.bytes),
        (text.t("Step time"), bands.seconds, text.seconds),
        (text.t("Throughput"), bands.tokens_per_second, text.tokens_per_second),
        (text.t("Time to first token"), bands.time_to_first_token, text.seconds),
        (text.t("Time per output token"), bands.time_per_output_token, text.seconds),
    ]
    rows = [
        [name, said(one.low), said(one.high), one.rows, one.sources] for name, one, said in named if one is not None
    ]
    caption = text.t("Ranges that hold nine of ten measurements of other sources")
    return [Paragraph(status), Table(caption, columns, rows)]


def made(text: Text, query: dict[str, str]) -> list[Block]:
    """With what, when, and how to get it back."""
    return [
        Paragraph(
            text.t(
                "Made with GPU Planner {version} on {date}. An estimate, not a promise.",
                version=text.isolate(__version__),
                date=text.date(date.today().isoformat()),
            ),
            quiet=True,
        ),
        *link_of(text, query),
    ]


_LONGEST_LINK = 2000
"""Characters; a longer one carries a configuration, which nobody types from paper. The JSON file has it."""


def link_of(text: Text, query: dict[str, str]) -> list[Block]:
    """The plan's own link, to be put behind the address of any GPU Planner."""
    link = f"?{urlencode(query, safe='/')}"
    return [Paragraph(text.isolate(link), quiet=True)] if query and len(link) <= _LONGEST_LINK else []
