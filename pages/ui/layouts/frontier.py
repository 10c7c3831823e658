"""The chart of the frontier: speed against memory to spare, one line for each number of GPUs."""

from html import escape
from typing import Any

import plotly.graph_objects as go

from pages.ui import charts
from pages.ui.layouts import answer, names
from pages.ui.text import Text, grouped, plain
from pages.ui.theme import COLOURS, SERIES
from planner.plan.plan import Plan
from planner.search.search import Found, Layout
from planner.units import GIB

_MOST_LINES = 5


def draw(text: Text, plan: Plan, found: Found) -> None:
    """The chart, with its data as a table and a file. Nothing where no speed is known."""
    front = [one for one in found.frontier if one.rate]
    if len(front) < 2:
        return
    unit = text.p("unit", "tokens/s") if plan.spec.stacks else text.p("unit", "samples/s")
    charts.draw(
        text,
        _figure(text, found, front, unit, charts.is_dark()),
        title=text.t("Speed against memory"),
        alt=text.t("The layouts that no other beats in speed, memory to spare and number of GPUs at once."),
        columns=answer.columns(text, plan),
        rows=answer.table_rows(text, plan, found, front),
        key="layouts-frontier",
        source=text.t("Each point is a layout that no other beats. Towards the upper right is better."),
    )


def _figure(text: Text, found: Found, front: list[Layout], unit: str, dark: bool) -> go.Figure:
    counts = sorted({one.gpus for one in front}, reverse=True)[:_MOST_LINES]
    layout = charts.log_layout(text, text.t("Speed ({unit})", unit=unit), text.t("To spare (GiB)"), (0.1, 10), dark)
    fastest = max(one.rate or 0.0 for one in front)
    most = max(_spare(found, one) for one in front)
    for axis, top, layered in (("xaxis", fastest, ".2~s"), ("yaxis", most, ",~r")):
        layout[axis] |= {"type": "linear", "range": [0, 1.08 * top], "tickformat": layered, "nticks": 6}
        layout[axis].pop("tickvals")
    traces = [
        _line(text, found, [one for one in front if one.gpus == count], place, dark)
        for place, count in enumerate(counts)
    ]
    layout["annotations"] += [
        _label(text, found, [one for one in front if one.gpus == count], place, most * (place + 1) / 7, dark)
        for place, count in enumerate(counts)
    ]
    layout["height"] = 340
    return go.Figure({"data": traces, "layout": layout}, _validate=False)


def _spare(found: Found, one: Layout) -> float:
    return (found.capacity_bytes - one.required_bytes) / GIB


def _label(text: Text, found: Found, some: list[Layout], place: int, height: float, dark: bool) -> dict[str, Any]:
    """The name of a line, beside it near `height`: another height for each line, and the first within the chart."""
    nearest = min(some, key=lambda one: abs(_spare(found, one) - height))
    return {
        "x": nearest.rate,
        "y": _spare(found, nearest),
        "text": escape(text.embed(text.n("{count} GPU", "{count} GPUs", nearest.gpus))),
        "showarrow": False,
        "xanchor": "left" if place else "right",
        "xshift": 8 if place else -8,
        "bgcolor": COLOURS["surface"].on(dark),
        "borderpad": 1,
        "font": {"color": SERIES[place % len(SERIES)].on(dark), "size": 12},
    }


def _line(text: Text, found: Found, some: list[Layout], place: int, dark: bool) -> dict[str, Any]:
    """One number of GPUs."""
    some = sorted(some, key=lambda one: one.rate or 0.0)
    colour = SERIES[place % len(SERIES)].on(dark)
    hover = [f"{plain(names.degrees(text, one))}<br>{plain(names.rest(text, one, 0))}" for one in some]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [one.rate for one in some],
        "y": [_spare(found, one) for one in some],
        "line": {"color": colour, "width": 2, "shape": "vh"},
        "marker": {"color": colour, "size": 7},
        "customdata": [grouped(one.rate or 0.0) for one in some],
        "hovertext": [escape(line).replace("&lt;br&gt;", "<br>") for line in hover],
        "hovertemplate": "%{hovertext}<br>%{customdata}, %{y:.1f} GiB<extra></extra>",
        "cliponaxis": False,
    }
