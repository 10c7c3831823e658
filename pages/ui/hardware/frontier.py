"""The chart of price against time: every option a point, and the line of those that nothing beats in both."""

import math
from html import escape
from typing import Any

import plotly.graph_objects as go

from pages.ui import charts
from pages.ui.hardware import names
from pages.ui.tables import Column
from pages.ui.text import Text
from pages.ui.theme import COLOURS
from planner.recommend.options import Option
from planner.recommend.recommend import Recommendation
from planner.units import HOUR

_MOST_POINTS = 400
_MOST_LABELS = 3


def draw(text: Text, result: Recommendation) -> None:
    """The chart, with its data as a table. Nothing where fewer than two options have a price."""
    priced = [one for one in result.options if one.price and one.seconds]
    if len(priced) < 2:
        return
    columns = (
        Column(id="gpu", label=text.t("GPU")),
        Column(id="gpus", label=text.t("Number of GPUs"), numeric=True),
        Column(id="price", label=text.t("Price"), unit="USD", numeric=True),
        Column(id="time", label=text.t("Time"), unit=text.p("unit", "h"), numeric=True),
    )
    rows = [(one.gpu.name, one.gpus, one.price, (one.seconds or 0.0) / HOUR) for one in result.frontier]
    charts.draw(
        text,
        _figure(text, priced, result.frontier, charts.is_dark()),
        title=text.t("Price against time"),
        alt=text.t("Every option by time and price, and the line of the options that no other beats in both."),
        columns=columns,
        rows=rows,
        key="hardware-frontier",
        source=text.t("Both axes are logarithmic. Towards the lower left is better."),
    )


def _figure(text: Text, priced: list[Option], front: tuple[Option, ...], dark: bool) -> go.Figure:
    accent, muted, words = (COLOURS[name].on(dark) for name in ("mark", "muted", "text"))
    layout = charts.log_layout(text, text.t("Time (h)"), text.t("Price (USD)"), (0.1, 10), dark)
    for axis, values in (
        ("xaxis", [(one.seconds or 0.0) / HOUR for one in priced]),
        ("yaxis", [one.price or 0.0 for one in priced]),
    ):
        layout[axis] |= _axis(values)
    labelled = {one.id for one in _spread(front)}
    others = priced[:_MOST_POINTS]
    traces: list[dict[str, Any]] = [
        {**_points(others), "mode": "markers", "marker": {"color": muted, "size": 5, "opacity": 0.45}},
        {
            **_points(list(front)),
            "mode": "lines+markers+text",
            "line": {"color": accent, "width": 2, "shape": "hv"},
            "marker": {"color": accent, "size": 8},
            "text": [escape(names.option(one)) if one.id in labelled else "" for one in front],
            "textposition": ["top left" if one is front[0] else "top right" for one in front],
            "textfont": {"color": words, "size": 12},
        },
    ]
    layout["height"] = 380
    return go.Figure({"data": traces, "layout": layout}, _validate=False)


def _points(some: list[Option]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": [(one.seconds or 0.0) / HOUR for one in some],
        "y": [one.price for one in some],
        "hovertext": [escape(names.option(one)) for one in some],
        "hovertemplate": "%{hovertext}<br>%{x:.3~g} h, $%{y:.3~g}<extra></extra>",
        "cliponaxis": False,
    }


def _axis(values: list[float]) -> dict[str, Any]:
    """A range around the values, and ticks at decades (or finer where there are few)."""
    low, high = math.log10(min(values)), math.log10(max(values))
    margin = 0.12 * max(high - low, 0.5)
    steps = (1, 2, 5) if high - low < 2 else (1,)
    ticks = [step * 10.0**power for power in range(math.floor(low) - 1, math.ceil(high) + 1) for step in steps]
    return {"range": [low - margin, high + margin], "tickvals": ticks, "ticktext": [f"{tick:,.10g}" for tick in ticks]}


def _spread(front: tuple[Option, ...]) -> list[Option]:
    """The points that carry their name: far enough apart in time that the names do not meet."""
    if not front:
        return []
    span = math.log10((front[0].seconds or 1.0) / (front[-1].seconds or 1.0)) or 1.0
    kept = [front[0]]
    for one in front[1:]:
        if math.log10((kept[-1].seconds or 1.0) / (one.seconds or 1.0)) >= span / _MOST_LABELS:
            kept.append(one)
    return kept
