"""The placement: what it comes to, the Gantt chart, use by week, who waits, what to add."""

from dataclasses import asdict
from typing import Any

import streamlit as st

from pages.ui import labels
from pages.ui.capacity import drawings
from pages.ui.headline import Verdict, headline_html, section_html
from pages.ui.report import downloads
from pages.ui.tables import Column, Tile, table_html, tiles_html
from pages.ui.text import Text
from planner.capacity.place import place
from planner.capacity.summary import Addition, additions, cost, there, use
from planner.capacity.types import WEEK, Placement, Scenario


@st.cache_data(max_entries=16, show_spinner=False, hash_funcs={Scenario: repr})
def placed(scenario: Scenario) -> Placement:
    """The placement of a scenario, once for all visitors."""
    return place(scenario)


@st.cache_data(max_entries=16, show_spinner=False, hash_funcs={Scenario: repr})
def added(scenario: Scenario, gpus: tuple[str, ...]) -> tuple[Addition, ...] | None:
    """The cheapest additions, once for all visitors."""
    return additions(scenario, gpus)


def draw(text: Text, scenario: Scenario) -> None:
    """Everything about the placement."""
    from pages.ui.capacity import report

    with st.spinner(text.t("Placing the workloads…")):
        found = placed(scenario)
    st.html(headline_html(*verdict(text, scenario, found)) + tiles_html(tiles(text, scenario, found)))
    downloads.draw(text, lambda: report.report(text, scenario, found), name="capacity", key="capacity.report")
    drawings.gantt(text, scenario, found)
    drawings.heat(text, scenario, found)
    columns, rows = waiting(text, scenario, found)
    st.html(
        section_html(text.t("Who waits"))
        + table_html(text, columns, rows, caption=text.t("Jobs by waiting, longest first"))
    )
    if found.unplaced or found.late:
        _draw_additions(text, scenario)


def verdict(text: Text, scenario: Scenario, found: Placement) -> tuple[Verdict, str, str]:
    """The headline and what it rests on."""
    gap = text.t("The assignment to weeks is within {share} of the best there is.", share=text.percent(found.gap))
    missing = set(found.unplaced) | set(found.late)
    if not missing:
        return Verdict.FITS, text.t("Everything runs, and in time"), gap
    sentence = text.n(
        "{count} workload is late, short of GPUs or not placed",
        "{count} workloads are late, short of GPUs or not placed",
        len(missing),
    )
    return Verdict.DOES_NOT_FIT, sentence, gap


def tiles(text: Text, scenario: Scenario, found: Placement) -> list[Tile]:
    """The figures that decide."""
    used = sum(float(values.sum()) for values in use(scenario, found).values())
    have = sum(float(there(scenario, pool).sum()) for pool in scenario.pools)
    waits = sorted(found.waits.values())
    weeks = text.n("in {count} week", "in {count} weeks", scenario.weeks)
    return [
        Tile(label=text.t("GPUs"), value=text.number(sum(pool.gpus for pool in scenario.pools))),
        Tile(label=text.t("In use"), value=text.percent(used / have if have else 0.0), note=weeks),
        Tile(label=text.t("Longest wait"), value=text.seconds(3600 * waits[-1]) if waits else "–"),
        Tile(label=text.t("Cost"), value=text.money(sum(cost(scenario, found).values())), note=weeks),
    ]


def waiting(text: Text, scenario: Scenario, found: Placement) -> tuple[list[Column], list[list[Any]]]:
    """Each workload with its start, end and state."""
    columns = [
        Column(id="name", label=text.t("Workload")),
        Column(id="pool", label=text.t("Where")),
        Column(id="start", label=text.t("Start")),
        Column(id="end", label=text.t("End")),
        Column(id="wait", label=text.t("Waits")),
        Column(id="state", label=text.t("State")),
    ]
    runs = {run.workload: run for run in found.runs}
    rows = []
    for workload in sorted(scenario.workloads, key=lambda w: -found.waits.get(w.name, 0.0)):
        run, wait = runs.get(workload.name), found.waits.get(workload.name)
        rows.append(
            [
                workload.name,
                run.pool if run else None,
                text.date(scenario.date_of(run.start / WEEK).isoformat()) if run and wait is not None else None,
                text.date(scenario.date_of(run.end / WEEK).isoformat()) if run and wait is not None else None,
                text.seconds(3600 * wait) if wait else None,
                _state(text, workload.name, found),
            ]
        )
    return columns, rows


def _state(text: Text, name: str, found: Placement) -> str:
    if name in found.shortfall:
        short = max(found.shortfall[name])
        return text.t("short of up to {count} GPUs", count=short)
    if name in found.unplaced:
        return text.t("not placed: no pool has room for it in time")
    return text.t("late") if name in found.late else text.t("in time")


def _draw_additions(text: Text, scenario: Scenario) -> None:
    st.html(
        section_html(
            text.t("What to add"),
            text.t("The cheapest whole nodes to rent for all these weeks, so that everything runs in time."),
        )
    )
    names = labels.gpus(text)
    kinds = sorted({pool.gpu for pool in scenario.pools} | {gpu for w in scenario.workloads for gpu in w.gpu_types})
    chosen = st.multiselect(
        text.t("Of these"), list(names), default=kinds, format_func=names.__getitem__, key="capacity.offers"
    )
    with st.spinner(text.t("Looking for the cheapest…")):
        found = added(scenario, tuple(chosen))
    if found is None:
        st.warning(
            text.t("None of these helps: a job takes longer than its deadline allows, or no price is known."),
            icon=":material/error:",
        )
        return
    columns = [
        Column(id="gpu", label=text.t("GPU")),
        Column(id="nodes", label=text.t("Nodes"), numeric=True),
        Column(id="gpus", label=text.t("GPUs a node"), numeric=True),
        Column(id="price", label=text.t("$ a GPU-hour"), numeric=True),
        Column(id="cost", label=text.t("Cost")),
    ]
    rows = [
        [names.get(a["gpu"], a["gpu"]), a["nodes"], a["gpus_per_node"], a["price_per_gpu_hour"], text.money(a["cost"])]
        for a in map(asdict, found)
    ]
    st.html(table_html(text, columns, rows, caption=text.t("To rent")))
