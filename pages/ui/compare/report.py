"""The report of a comparison: what differs, the bars, the figures; then each plan with its inputs and its accuracy."""

from collections.abc import Sequence

from pages.ui import labels, words
from pages.ui.compare.links import Entry
from pages.ui.compare.view import figures
from pages.ui.report.plan import accuracy_of, bar_of, inputs_of, link_of, made
from pages.ui.report.report import Block, Heading, Paragraph, Report, Table
from pages.ui.saved.differences import differing, shown
from pages.ui.tables import Column
from pages.ui.text import Text
from planner import __version__
from planner.calibration.intervals import interval
from planner.commands.estimate import as_json
from planner.plan.plan import to_query
from planner.plan.request import request_of
from planner.result import Estimate


def report(text: Text, solved: Sequence[tuple[Entry, Estimate]], failed: Sequence[Entry] = ()) -> Report:
    """Everything that the Compare page says, and what it rests on; plans that are impossible with the reason."""
    plans = [one.plan for one, _ in solved]
    names = [Column(id=str(place), label=one.name) for place, (one, _) in enumerate(solved)]
    rows = [[labels.field(text, field), *(shown(text, plan, field) for plan in plans)] for field in differing(plans)]
    columns, values = figures(text, solved)
    blocks: list[Block] = [
        Heading(text.t("What differs")),
        Table(text.t("Inputs that differ"), [Column(id="field", label=text.t("Input")), *names], rows),
        Heading(text.t("Memory of one GPU")),
        *(bar_of(text, result, one.name) for one, result in solved),
        Heading(text.t("Figures")),
        Table(text.t("The plans side by side"), columns, values),
    ]
    for one, result in solved:
        blocks += _of_plan(text, one, result)
    for one in failed:
        blocks += [Heading(one.name), *(Paragraph(words.problem(text, problem)) for problem in one.problems)]
    blocks += made(text, {})
    data = {
        "planner_version": __version__,
        "plans": [{"name": one.name, "note": one.note, **as_json(one.plan, result)} for one, result in solved],
    }
    title = text.n("Comparison of {count} plan", "Comparison of {count} plans", len(solved))
    return Report("comparison", title, blocks, data)


def _of_plan(text: Text, one: Entry, result: Estimate) -> list[Block]:
    return [
        Heading(one.name),
        *([Paragraph(one.note)] if one.note else []),
        *(Paragraph(words.notice(text, notice)) for notice in result.notices),
        inputs_of(text, one.plan, text.t("Inputs of {name}", name=one.name)),
        *accuracy_of(text, result, interval(result, request_of(one.plan))),
        *link_of(text, to_query(one.plan)),
    ]
