"""The report of a capacity scenario."""

from dataclasses import asdict

from pages.ui.capacity.result import tiles, verdict, waiting
from pages.ui.report.plan import made
from pages.ui.report.report import Block, Figures, Heading, Paragraph, Report, Table
from pages.ui.tables import Column
from pages.ui.text import Text
from planner import __version__
from planner.capacity.summary import cost, there, use
from planner.capacity.types import Placement, Scenario


def report(text: Text, scenario: Scenario, found: Placement) -> Report:
    """The verdict, the inventory with its use and cost, and every workload."""
    _, sentence, gap = verdict(text, scenario, found)
    columns, rows = waiting(text, scenario, found)
    used, costs = use(scenario, found), cost(scenario, found)
    pools = [
        [
            pool.name,
            pool.gpu,
            pool.gpus,
            text.percent(float(used[pool.name].sum()) / max(float(there(scenario, pool).sum()), 1.0)),
            text.money(costs[pool.name]),
        ]
        for pool in scenario.pools
    ]
    heads = [
        Column(id="name", label=text.t("Name")),
        Column(id="gpu", label=text.t("GPU")),
        Column(id="gpus", label=text.t("GPUs"), numeric=True),
        Column(id="use", label=text.t("In use")),
        Column(id="cost", label=text.t("Cost")),
    ]
    blocks: list[Block] = [
        Paragraph(sentence, strong=True),
        Paragraph(gap),
        Figures(tiles(text, scenario, found)),
        Heading(text.t("GPUs")),
        Table(text.t("What there is, how much of it is used, what it costs"), heads, pools),
        Heading(text.t("Workloads")),
        Table(text.t("Jobs by waiting, longest first"), columns, rows),
        *made(text, {})[:1],
    ]
    data = {"planner_version": __version__, "scenario": asdict(scenario), "placement": asdict(found)}
    return Report("capacity", text.t("Capacity: who runs where and when"), blocks, data)
