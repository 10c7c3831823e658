"""The report of a comparison."""

from collections.abc import Sequence

from pages.ui import labels
from pages.ui.compare.links import Entry
from pages.ui.compare.view import figures
from pages.ui.report.plan import bar_of, made
from pages.ui.report.report import Block, Heading, Report, Table
from pages.ui.saved.differences import differing, shown
from pages.ui.tables import Column
from pages.ui.text import Text
from planner import __version__
from planner.commands.estimate import as_json
from planner.plan.plan import to_query
from planner.result import Estimate


def report(text: Text, solved: Sequence[tuple[Entry, Estimate]]) -> Report:
    """What differs, the memory bars, the figures, and each plan's link."""
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
    for one, _ in solved:
        blocks += [Heading(one.name), made(text, to_query(one.plan))[-1]]
    blocks += made(text, {})[:1]
    data = {"planner_version": __version__, "plans": [{"name": e.name, **as_json(e.plan, r)} for e, r in solved]}
    return Report("comparison", text.t("Comparison of {count} plans", count=len(solved)), blocks, data)
