"""The Gantt chart and the heat map of use, from the same Plotly descriptions as all charts."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui import charts
from pages.ui.tables import Column
from pages.ui.text import Text, grouped
from pages.ui.theme import COLOURS, SERIES
from planner.capacity.summary import there, use
from planner.capacity.types import WEEK, Placement, Scenario

_ROW = 22  # pixels a workload
_MOST = 60  # workloads drawn; the table has all


def gantt(text: Text, scenario: Scenario, found: Placement) -> None:
    """One bar a run, one line a workload, a colour a pool."""
    dark = charts.is_dark()
    order = list(dict.fromkeys(run.workload for run in sorted(found.runs, key=lambda run: (run.start, run.workload))))[
        :_MOST
    ]
    merged = _merged(found, set(order))
    traces = []
    for place, pool in enumerate(scenario.pools):
        mine = [run for run in merged if run[1] == pool.name]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": pool.name,
                "y": [run[0] for run in mine],
                "x": [(run[3] - run[2]) / WEEK for run in mine],
                "base": [run[2] / WEEK for run in mine],
                "marker": {"color": SERIES[place % len(SERIES)].on(dark)},
                "text": [text.n("{count} GPU", "{count} GPUs", run[4]) for run in mine],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "hovertemplate": "%{y}: %{text}<extra></extra>",
            }
        )
    layout = _layout(text, dark, _ROW * len(order) + 110, text.t("Week"))
    layout |= {"barmode": "overlay", "showlegend": True, "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom"}}
    layout["yaxis"] |= {"categoryorder": "array", "categoryarray": order[::-1], "automargin": True}
    layout["xaxis"] |= {"range": [0, scenario.weeks]}
    columns = [Column(id="w", label=text.t("Workload")), Column(id="p", label=text.t("Where"))]
    columns += [
        Column(id=k, label=v, numeric=True)
        for k, v in (("s", text.t("From week")), ("e", text.t("To week")), ("g", text.t("GPUs")))
    ]
    charts.draw(
        text,
        go.Figure({"data": traces, "layout": layout}, _validate=False),
        title=text.t("Who runs when"),
        alt=text.n(
            "{count} workload over the weeks, by pool.", "{count} workloads over the weeks, by pool.", len(order)
        ),
        columns=columns,
        rows=[[run[0], run[1], run[2] / WEEK, run[3] / WEEK, run[4]] for run in merged],
        key="capacity-gantt",
    )


def _merged(found: Placement, shown: set[str]) -> list[tuple[str, str, float, float, int]]:
    """Runs of a service that follow one another with as many GPUs are one bar."""
    merged: list[tuple[str, str, float, float, int]] = []
    for run in sorted(found.runs, key=lambda run: (run.workload, run.pool, run.start)):
        if run.workload not in shown:
            continue
        last = merged[-1] if merged else None
        if last and last[:2] == (run.workload, run.pool) and last[3] == run.start and last[4] == run.gpus:
            merged[-1] = (*last[:3], run.end, run.gpus)
        else:
            merged.append((run.workload, run.pool, run.start, run.end, run.gpus))
    return merged


def heat(text: Text, scenario: Scenario, found: Placement) -> None:
    """Share of each pool's GPU-hours in use, week by week; then what is missing."""
    dark = charts.is_dark()
    used = use(scenario, found)
    names = [pool.name for pool in scenario.pools]
    shares = []
    for pool in scenario.pools:
        have = there(scenario, pool)
        shares.append([None if h == 0 else round(100 * u / h, 1) for u, h in zip(used[pool.name], have, strict=True)])
    trace = {
        "type": "heatmap",
        "z": shares[::-1],
        "x": list(range(scenario.weeks)),
        "y": names[::-1],
        "zmin": 0,
        "zmax": 100,
        "xgap": 1,
        "ygap": 2,
        "colorscale": [[0, COLOURS["track"].on(dark)], [1, COLOURS["accent"].on(dark)]],
        "colorbar": {"ticksuffix": "%", "thickness": 10, "outlinewidth": 0},
        "hovertemplate": "%{y}, %{x}: %{z}%<extra></extra>",
    }
    layout = _layout(text, dark, 34 * len(names) + 110, text.t("Week"))
    missing = np.sum(list(found.shortfall.values()), axis=0) if found.shortfall else []
    short = (
        text.t("Short of up to {count} GPUs for services.", count=grouped(int(max(missing)))) if len(missing) else ""
    )
    charts.draw(
        text,
        go.Figure({"data": [trace], "layout": layout}, _validate=False),
        title=text.t("In use, by week"),
        alt=text.t("Share of GPU-hours in use, by pool and week."),
        columns=[
            Column(id="week", label=text.t("Week")),
            *(Column(id=n, label=n, unit="%", numeric=True) for n in names),
        ],
        rows=[[week, *(row[week] for row in shares)] for week in range(scenario.weeks)],
        key="capacity-heat",
        source=short,
    )


def _layout(text: Text, dark: bool, height: int, x_label: str) -> dict[str, Any]:
    muted = COLOURS["muted"].on(dark)
    font = {"family": "IBM Plex Sans, IBM Plex Sans Arabic, sans-serif", "size": 13, "color": COLOURS["text"].on(dark)}
    axis = {
        "fixedrange": True,
        "zeroline": False,
        "tickfont": {"color": muted, "size": 12},
        "gridcolor": COLOURS["line"].on(dark),
    }
    return {
        "template": {},
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 34, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": font,
        "xaxis": {**axis, "title": {"text": x_label, "font": {"size": 12, "color": muted}}, "automargin": True},
        "yaxis": {**axis, "showgrid": False, "automargin": True},
    }


def waits(
    text: Text, columns: list[Column], rows: list[list[Any]], *, gpus: list[int], values: dict[str, list[float]]
) -> None:
    """Waiting against the number of GPUs, a line a percentile."""
    charts.draw(
        text,
        charts.line_chart(
            text,
            gpus,
            [charts.Series(label=name, values=line) for name, line in values.items()],
            x_label=text.t("Number of GPUs"),
            unit=text.p("unit", "h"),
            dark=charts.is_dark(),
        ),
        title=text.t("Waiting against the number of GPUs"),
        alt=text.t("Hours of waiting by number of GPUs, at several percentiles."),
        columns=columns,
        rows=rows,
        key="capacity-waits",
    )


def nothing(text: Text) -> None:
    """Where no job is, no waiting is."""
    st.info(text.t("Only jobs wait: this scenario has services alone."), icon=":material/hourglass_empty:")
