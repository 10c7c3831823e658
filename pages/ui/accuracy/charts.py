"""Predicted against measured on logarithmic axes, and how errors are distributed."""

import math
from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go
import streamlit as st

from pages.ui import charts
from pages.ui.accuracy import rows
from pages.ui.accuracy.overview import names
from pages.ui.charts import Spec, is_dark
from pages.ui.tables import Column
from pages.ui.text import Text, plain
from pages.ui.theme import COLOURS, SERIES
from planner.calibration.residuals import Residual
from planner.units import GIB

STATUSES = ("measured", "interpolated", "extrapolated")
SYMBOLS = {"measured": "circle", "interpolated": "diamond", "extrapolated": "x"}
EDGES = (-0.5, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.5)
"""Limits of the classes of errors, as shares."""


def draw(text: Text, target_id: str, shown: Sequence[Residual]) -> None:
    """The two charts side by side."""
    left, right = st.columns(2)
    with left:
        _scatter(text, target_id, shown)
    with right:
        _errors(text, target_id, shown)


def _unit(text: Text, shown: Sequence[Residual]) -> tuple[str, float]:
    if shown[0].family in rows.BYTES:
        return "GiB", GIB
    if shown[0].family in ("first-token", "decode"):
        return text.p("unit", "s"), 1.0
    if shown[0].family == "cache":
        return text.t("bytes or tokens"), 1.0
    return text.t("tokens/s, samples/s or s"), 1.0


def _scatter(text: Text, target_id: str, shown: Sequence[Residual]) -> None:
    dark = is_dark()
    unit, scale = _unit(text, shown)
    ends = [
        min(min(r.measured, r.predicted) for r in shown) / scale,
        max(max(r.measured, r.predicted) for r in shown) / scale,
    ]
    layout = charts.log_layout(text, text.t("measured"), text.t("predicted ({unit})", unit=unit), ends, dark)
    traces: list[Spec] = [_diagonal(ends, dark)]
    for index, status in enumerate(STATUSES):
        found = [each for each in shown if each.status == status]
        if found:
            traces.append(_points(text, found, status, scale, SERIES[index].on(dark)))
    kinds = [rows.status(text, status) for status in STATUSES if any(r.status == status for r in shown)]
    charts.draw(
        text,
        go.Figure({"data": traces, "layout": layout}, _validate=False),
        title=text.t("Predicted against measured"),
        alt=text.t(
            "{count} points around the line where prediction equals measurement; {title}.",
            count=len(shown),
            title=names(text)[target_id],
        ),
        columns=[
            Column(id="evidence", label=text.t("Evidence")),
            Column(id="count", label=text.t("Measurements"), numeric=True),
        ],
        rows=[(rows.status(text, s), sum(r.status == s for r in shown)) for s in STATUSES],
        key=f"scatter-{target_id}",
        source=text.t("Circle, diamond, cross: {kinds}.", kinds=text.join(kinds)),
    )


def _place(each: Residual, value: float, scale: float) -> float:
    """Where a value stands: decoding rates as times, so that all of them share an axis."""
    return 1 / value if each.quantity == "decode_tokens_per_second" else value / scale


def _points(text: Text, found: Sequence[Residual], status: str, scale: float, colour: str) -> Spec:
    return {
        "type": "scattergl",
        "mode": "markers",
        "x": [_place(each, each.measured, scale) for each in found],
        "y": [_place(each, each.predicted, scale) for each in found],
        "name": rows.status(text, status),
        "text": [escape(f"{r.id} {r.model}, {plain(text.change(r.predicted / r.measured))}") for r in found],
        "marker": {"color": colour, "symbol": SYMBOLS[status], "size": 6, "opacity": 0.7},
        "hovertemplate": "%{text}<extra></extra>",
    }


def _diagonal(ends: Sequence[float], dark: bool) -> Spec:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": list(ends),
        "y": list(ends),
        "line": {"color": COLOURS["muted"].on(dark), "width": 1, "dash": "dash"},
        "hoverinfo": "skip",
    }


def _errors(text: Text, target_id: str, shown: Sequence[Residual]) -> None:
    """How many rows fall into each class of error."""
    dark = is_dark()
    counts = [0] * (len(EDGES) + 1)
    for each in shown:
        counts[sum(each.relative > edge for edge in EDGES)] += 1
    labels = [_between(text, index) for index in range(len(counts))]
    figure = charts.count_chart(text, labels, counts, dark=dark)
    inside = sum(each.covered for each in shown) / len(shown)
    charts.draw(
        text,
        figure,
        title=text.t("Errors of the predictions"),
        alt=text.t("Number of measurements by the error of their prediction."),
        columns=[
            Column(id="error", label=text.t("Error")),
            Column(id="count", label=text.t("Measurements"), numeric=True),
        ],
        rows=list(zip(labels, counts, strict=True)),
        key=f"errors-{target_id}",
        source=text.t(
            "Below zero: predicted too low. {share} of them lie inside their interval.", share=text.percent(inside)
        ),
    )


def _between(text: Text, index: int) -> str:
    low = EDGES[index - 1] if index else -math.inf
    high = EDGES[index] if index < len(EDGES) else math.inf
    if low == -math.inf:
        return f"< {plain(text.change(1 + high))}"
    if high == math.inf:
        return f"> {plain(text.change(1 + low))}"
    return f"{plain(text.change(1 + low)).rstrip('%')}…{plain(text.change(1 + high))}"
