"""Charts: Plotly figures in our own slim style, labelled directly, with their data one click away.

Axes stay left-to-right in both languages; words around them follow the reader. A figure is built only from what it
shows, so that Streamlit leaves an unchanged chart alone when something else on the page changes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

import plotly.graph_objects as go
import streamlit as st

from pages.ui import export
from pages.ui.tables import Column, table_html
from pages.ui.text import Text, grouped, plain
from pages.ui.theme import COLOURS, PART_KINDS, SERIES, part_kind

Spec: TypeAlias = dict[str, Any]
"""A trace or a layout, as Plotly's JSON has it."""

_FONT = "IBM Plex Sans, IBM Plex Sans Arabic, sans-serif"
_LABELLED_POINTS = 8  # up to this many points carry their own figure, and the value axis is not drawn
_PATTERNS = {"plain": "", "dots": ".", "rows": "-", "columns": "|", "grid": "+", "hatched": "/"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One curve. A missing value (None) leaves a gap."""

    label: str
    values: Sequence[float | None]
    key: str = ""  # bars: the term id, for its colour


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A point to point at: where it is, and a word about it."""

    x: float
    y: float
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A horizontal line such as the capacity of a GPU."""

    y: float
    label: str


def is_dark() -> bool:
    """Whether the reader's theme is dark, as far as the browser has told."""
    return bool(st.context.theme.type == "dark")


def line_chart(
    text: Text,
    x: Sequence[float],
    series: Sequence[Series],
    *,
    x_label: str,
    unit: str,
    limit: Limit | None = None,
    marks: Sequence[Mark] = (),
    steps: bool = True,
    decimals: int | None = None,
    dark: bool = False,
) -> go.Figure:
    """Curves over `x`. With `steps` the values of `x` (1, 2, 4, 8 ...) stand at equal distances."""
    labelled = len(series) == 1 and len(x) <= _LABELLED_POINTS
    places: list[Any] = [grouped(value) for value in x] if steps else list(x)
    layout = _layout(text, x_label, unit, dark, value_axis=not labelled, steps=steps)
    traces = []
    for index, one in enumerate(series):
        curve = _curve(places, one, SERIES[index % len(SERIES)].on(dark), unit, labelled, decimals, dark)
        if labelled:
            curve["textposition"] = _beside(one.values, limit)
        traces.append(curve)
        if len(series) > 1:
            _label_curve(text, layout, range(len(x)) if steps else x, one, SERIES[index % len(SERIES)].on(dark))
    if limit:
        ends = [value for value in series[0].values if value is not None]
        _draw_limit(text, layout, limit, dark, left=False, above=bool(ends) and ends[-1] < limit.y)
    if marks:
        traces.append(_marks(text, marks, x, steps, dark))
    _set_range(layout, [value for one in series for value in one.values if value is not None], limit)
    return _figure(traces, layout)


def stacked_bar_chart(
    text: Text,
    x: Sequence[float],
    parts: Sequence[Series],
    *,
    x_label: str,
    unit: str,
    limit: Limit | None = None,
    decimals: int | None = 1,
    dark: bool = False,
) -> go.Figure:
    """Parts that add up, one bar for each value of `x`, in the memory bar's colours; totals stand on the bars."""
    places = [grouped(value) for value in x]
    layout = _layout(text, x_label, unit, dark, value_axis=False, steps=True)
    traces = [_bars(places, part, unit, dark) for part in parts]
    totals = [sum(part.values[i] or 0 for part in parts) for i in range(len(places))]
    layout["annotations"] += [  # an annotation names a category by its position
        {
            "x": place,
            "y": value,
            "text": grouped(value, decimals),
            "showarrow": False,
            "yshift": 10,
            "bgcolor": COLOURS["surface"].on(dark),
            "borderpad": 0,
        }
        for place, value in enumerate(totals)
    ]
    if limit:
        _draw_limit(text, layout, limit, dark, left=True, above=True)
    layout |= {"barmode": "stack", "bargap": 0.45}
    _set_range(layout, totals, limit)
    return _figure(traces, layout)


def log_layout(text: Text, x_label: str, unit: str, ends: Sequence[float], dark: bool) -> Spec:
    """The layout of a chart with logarithmic axes over the same range: `ends` are its least and largest values."""
    layout = _layout(text, x_label, unit, dark, value_axis=True, steps=False)
    margin = 0.06
    low, high = math.log10(ends[0]) - margin, math.log10(ends[1]) + margin
    layout["margin"] = {**layout["margin"], "l": 48}
    steps = (1, 2, 5) if high - low < 2.5 else (1,)
    ticks = [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    for axis in ("xaxis", "yaxis"):
        layout[axis] |= {"type": "log", "range": [low, high], "tickvals": ticks, "tickformat": "~s", "showgrid": True}
        layout[axis]["gridcolor"] = COLOURS["line"].on(dark)
    return layout


def count_chart(text: Text, labels: Sequence[str], counts: Sequence[int], *, dark: bool) -> go.Figure:
    """Bars of how often each class was seen, with their figures on them."""
    layout = _layout(text, "", text.t("Measurements"), dark, value_axis=False, steps=True)
    bars = {
        "type": "bar",
        "x": list(labels),
        "y": list(counts),
        "text": [grouped(count) if count else "" for count in counts],
        "textposition": "outside",
        "cliponaxis": False,
        "marker": {"color": COLOURS["accent"].on(dark)},
        "hovertemplate": "%{x}: %{y}<extra></extra>",
    }
    layout["xaxis"] |= {"tickfont": {**layout["xaxis"]["tickfont"], "size": 11}, "tickangle": -40}
    layout["margin"] = {**layout["margin"], "b": 70}
    layout["bargap"] = 0.2
    return _figure([bars], layout)


def _figure(traces: list[Spec], layout: Spec) -> go.Figure:
    """The figure of a finished description.

    Plotly checks each property as it is set, which takes ten times as long as all the rest of a chart; our descriptions
    are checked once, by the tests.
    """
    return go.Figure({"data": traces, "layout": layout}, _validate=False)


def _bars(places: Sequence[str], part: Series, unit: str, dark: bool) -> Spec:
    colour, texture = PART_KINDS[part_kind(part.key)]
    return {
        "type": "bar",
        "x": places,
        "y": list(part.values),
        "name": part.label,
        "marker": {
            "color": colour,
            "line": {"width": 1, "color": COLOURS["surface"].on(dark)},
            "pattern": {"shape": _PATTERNS[texture], "fgcolor": "rgba(255,255,255,.45)", "size": 5},
        },
        "hovertemplate": f"{escape(part.label)}: %{{y:,.2f}} {escape(unit)}<extra></extra>",
    }


def draw(
    text: Text,
    figure: go.Figure,
    *,
    title: str,
    alt: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[Any]],
    key: str,
    source: str = "",
) -> None:
    """The chart under its title, with a text alternative, and its data as a table and a file behind a button."""
    with st.container(key=f"gp-chart-{key}", gap=None):
        st.html(f'<h3 class="gp-section">{escape(title)}</h3>')
        st.plotly_chart(
            figure, key=key, alt=alt, theme=None, config={"displaylogo": False, "modeBarButtons": [["toImage"]]}
        )
        if source:
            st.html(f'<p class="gp-note">{escape(source)}</p>')
        data = st.popover(text.t("Data"), key=f"{key}-data", type="tertiary", on_change="rerun")
        if data.open:
            with data:
                st.html(table_html(text, columns, rows, caption=title))
                export.download_csv(text, columns, rows, name=key, key=f"{key}-csv")


def _layout(text: Text, x_label: str, unit: str, dark: bool, *, value_axis: bool, steps: bool) -> Spec:
    muted, line = COLOURS["muted"].on(dark), COLOURS["line"].on(dark)
    font = {"family": _FONT, "size": 13, "color": COLOURS["text"].on(dark)}
    corner = {"xref": "paper", "yref": "paper", "showarrow": False, "font": {"color": muted, "size": 13}}
    return {
        "template": {},
        "height": 300,
        "margin": {"l": 8, "r": 16, "t": 30, "b": 52},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": font,
        "showlegend": False,
        "hoverlabel": {"font": {"family": _FONT, "size": 13}},
        "dragmode": False,
        "xaxis": {
            "type": "category" if steps else "linear",
            "fixedrange": True,
            "showgrid": False,
            "zeroline": False,
            "showline": True,
            "linecolor": line,
            "ticks": "",
            "tickfont": {"color": muted, "size": 13},
            "automargin": True,
        },
        "yaxis": {
            "fixedrange": True,
            "showgrid": value_axis,
            "gridcolor": line,
            "zeroline": False,
            "showticklabels": value_axis,
            "tickfont": {"color": muted, "size": 13},
            "tickformat": ",~r",
            "nticks": 5,
            "automargin": True,
        },
        "shapes": [],
        "annotations": [
            {
                **corner,
                "x": 0,
                "y": 1,
                "xanchor": "left",
                "yanchor": "bottom",
                "yshift": 8,
                "text": escape(text.embed(unit)),
            },
            {
                **corner,
                "x": 1,
                "y": 0,
                "xanchor": "right",
                "yanchor": "top",
                "yshift": -28,
                "text": escape(text.embed(x_label)),
            },
        ],
    }


def _curve(
    places: Sequence[Any], one: Series, colour: str, unit: str, labelled: bool, decimals: int | None, dark: bool
) -> Spec:
    few = len(places) <= 4 * _LABELLED_POINTS
    shown = [None if value is None else grouped(value, decimals) for value in one.values]
    return {
        "type": "scatter",
        "x": places,
        "y": list(one.values),
        "name": plain(one.label),
        "mode": "lines+markers+text" if labelled else "lines+markers" if few else "lines",
        "text": shown,
        "textposition": "top center",
        "textfont": {"color": COLOURS["text"].on(dark)},
        "line": {"color": colour, "width": 2.2},
        "marker": {"color": colour, "size": 7},
        "cliponaxis": False,
        "hovertemplate": f"{escape(plain(one.label))}<br>%{{x}}: %{{text}} {escape(unit)}<extra></extra>",
    }


def _beside(values: Sequence[float | None], limit: Limit | None) -> list[str]:
    """Where each figure stands, so that neither the limit's line nor a steep curve runs through it."""
    top = max([limit.y if limit else 0.0, *(value for value in values if value is not None)])
    places = []
    for index, value in enumerate(values):
        after = values[index + 1] if index + 1 < len(values) else None
        if value is None:
            places.append("top center")
        elif limit and limit.y - 0.12 * top < value < limit.y:
            places.append("bottom center")
        elif index and after is not None and after - value > 0.15 * top:
            places.append("top left")
        else:
            places.append("top center")
    return places


def _label_curve(text: Text, layout: Spec, places: Sequence[Any], one: Series, colour: str) -> None:
    """The curve's name at its last point, in its colour: no legend to decode."""
    last = max((i for i, value in enumerate(one.values) if value is not None), default=None)
    if last is not None:
        layout["annotations"].append(
            {
                "x": places[last],
                "y": one.values[last],
                "text": escape(text.embed(one.label)),
                "showarrow": False,
                "xanchor": "right",
                "yanchor": "bottom",
                "yshift": 6,
                "font": {"color": colour},
            }
        )


def _draw_limit(text: Text, layout: Spec, limit: Limit, dark: bool, *, left: bool, above: bool) -> None:
    """The limit's line, and its label on the side where the chart leaves room."""
    colour = COLOURS["bad"].on(dark)
    layout["shapes"].append(
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": limit.y,
            "y1": limit.y,
            "line": {"color": colour, "width": 1.4, "dash": "dash"},
        }
    )
    layout["annotations"].append(
        {
            "xref": "paper",
            "x": 0 if left else 1,
            "y": limit.y,
            "text": escape(text.embed(limit.label)),
            "showarrow": False,
            "xanchor": "left" if left else "right",
            "yanchor": "bottom" if above else "top",
            "font": {"color": colour},
        }
    )


def _marks(text: Text, marks: Sequence[Mark], x: Sequence[float], steps: bool, dark: bool) -> Spec:
    colour = COLOURS["mark"].on(dark)
    return {
        "type": "scatter",
        "x": [grouped(mark.x) if steps else mark.x for mark in marks],
        "y": [mark.y for mark in marks],
        "mode": "markers+text",
        "text": [escape(text.embed(mark.label)) for mark in marks],
        "textposition": [  # towards the middle of the chart, or the edge would cut the word off
            "bottom right" if mark.x == x[0] else "bottom left" if mark.x == x[-1] else "bottom center"
            for mark in marks
        ],
        "textfont": {"color": colour},
        "marker": {"color": colour, "size": 11},
        "cliponaxis": False,
        "hoverinfo": "skip",
    }


def _set_range(layout: Spec, values: Sequence[float], limit: Limit | None) -> None:
    """The value axis starts at zero: a bar or a curve cut off below would show a larger effect than there is."""
    top = max([*values, limit.y if limit else 0.0, 0.0]) or 1.0
    layout["yaxis"]["range"] = [0, 1.12 * top]
