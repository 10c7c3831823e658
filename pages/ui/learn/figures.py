"""Pieces that several lessons' figures share: bars of memory, and curves of the planner's sweeps."""

import math
from collections.abc import Iterable, Sequence
from html import escape

import plotly.graph_objects as go

from pages.ui import charts, words
from pages.ui.charts import Limit, Mark, Series
from pages.ui.headline import fits_sentence
from pages.ui.learn.lesson import Chart
from pages.ui.memory_bar import Part, memory_bar_html
from pages.ui.tables import Column
from pages.ui.text import Text, grouped
from planner.result import Estimate, Term
from planner.sweep import Curve
from planner.units import GIB


def parts_of(text: Text, terms: Iterable[Term]) -> list[Part]:
    """Terms as parts of a memory bar."""
    return [(term.id, words.term(text, term.id), float(term.value)) for term in terms]


def memory_html(text: Text, result: Estimate) -> str:
    """The verdict as a line of text, and the memory bar at the peak."""
    memory = result.memory
    verdict, sentence = fits_sentence(text, memory.spare, tight=bool(result.tight))
    bar = memory_bar_html(parts_of(text, memory.parts), memory.capacity, text)
    return f'<p class="gp-verdict gp-{verdict}">{escape(sentence)}</p>{bar}'


def rows_html(text: Text, rows: Iterable[tuple[str, Sequence[Part], float, str]]) -> str:
    """Thin bars under each other to compare: what each row is, its parts, the capacity, and a word on it."""
    lines = "".join(
        f'<div class="gp-row"><span>{escape(label)}</span>'
        f"{memory_bar_html(parts, capacity, text, compact=True)}<span>{escape(note)}</span></div>"
        for label, parts, capacity, note in rows
    )
    return f'<div class="gp-rows-of-bars">{lines}</div>'


def moments_html(text: Text, result: Estimate) -> str:
    """The moments of a run as thin bars, so that the peak is seen to be one of them."""
    memory = result.memory
    held = (memory.reserve, *memory.outside)
    top = max(float(memory.capacity), float(memory.required))
    rows = []
    for phase in memory.phases:
        parts = parts_of(text, (*phase.terms, *held))
        note = text.bytes(sum(size for _, _, size in parts))
        rows.append((words.phase(text, phase.id), parts, top, str(note)))
    return rows_html(text, rows)


def memory_chart(text: Text, curve: Curve, *, id: str, axis: str) -> Chart:
    """Required memory over a varied quantity, against the card."""
    size = [used / GIB for used in curve.required_bytes]
    limit = text.t("{size} usable", size=text.bytes(curve.capacity))
    title = text.t("Memory of one GPU")
    figure = charts.line_chart(
        text,
        curve.x,
        [Series(label=title, values=size)],
        x_label=axis,
        unit="GiB",
        limit=Limit(y=curve.capacity / GIB, label=limit),
        marks=[Mark(x=curve.present, y=size[curve.x.index(curve.present)])],
        decimals=1,
        dark=charts.is_dark(),
    )
    return Chart(
        id=f"{id}-memory",
        title=title,
        alt=f"{title}: {limit}.",
        figure=figure,
        columns=[_number(axis), _number(title, "GiB")],
        rows=list(zip(curve.x, size, strict=True)),
    )


def rate_chart(text: Text, curve: Curve, *, id: str, axis: str, unit: str, knee: bool = False) -> Chart:
    """Work per second of all GPUs over a varied quantity, with the knee where it is wanted."""
    title = text.t("Throughput of all GPUs")
    rates = [rate or 0.0 for rate in curve.rates]
    marks = [Mark(x=curve.present, y=rates[curve.x.index(curve.present)])]
    if knee and curve.knee not in (None, curve.x[-1]):
        label = text.t("knee: {value}", value=grouped(curve.knee))
        marks.append(Mark(x=curve.knee, y=rates[curve.x.index(curve.knee)], label=label))
    figure = charts.line_chart(
        text, curve.x, [Series(label=title, values=rates)], x_label=axis, unit=unit, marks=marks, dark=charts.is_dark()
    )
    return Chart(
        id=f"{id}-rate",
        title=title,
        alt=title,
        figure=figure,
        columns=[_number(axis), _number(title, unit)],
        rows=list(zip(curve.x, rates, strict=True)),
    )


def _number(label: str, unit: str = "") -> Column:
    return Column(id=label, label=label, unit=unit, numeric=True)


def logarithmic(figure: go.Figure) -> None:
    """Both axes in powers of ten; labels and marks stay at their curves."""
    values = [value for trace in figure.data if trace.mode != "markers+text" for value in trace.y if value]
    low, high = math.log10(min(values)), math.log10(max(values))
    figure.layout.xaxis.type = figure.layout.yaxis.type = "log"
    figure.layout.xaxis.dtick = 1
    figure.layout.yaxis.update(range=[low - 0.2, high + 0.35], dtick=1, tickformat="~r")
    for note in figure.layout.annotations:
        if note.yref != "paper":
            note.update(x=math.log10(note.x), y=math.log10(note.y))


def enlarge(figure: go.Figure) -> None:
    """Type for the far end of a classroom."""
    size = 19
    figure.layout.font.size = size
    figure.layout.xaxis.tickfont.size = figure.layout.yaxis.tickfont.size = size
    figure.layout.update(height=420, margin={"l": 8, "r": 16, "t": 40, "b": 70})
    for note in figure.layout.annotations:
        note.font.size = size
    for trace in figure.data:
        trace.textfont.size = size
