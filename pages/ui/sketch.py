"""A chart as plain SVG for paper: the curves, marks and words of the figure on the page, without its program."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import plotly.graph_objects as go

from pages.ui.text import grouped
from pages.ui.theme import COLOURS, SERIES

_WIDTH, _HEIGHT = 640, 250
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 20, 26, 44


@dataclass(frozen=True, slots=True)
class _Axis:
    """Where values of one axis lie between two ends of the drawing."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool

    def at(self, value: float) -> float:
        return self.start + (self._scaled(value) - self.low) / (self.high - self.low or 1) * (self.end - self.start)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.logarithmic else value

    @property
    def ticks(self) -> list[float]:
        if self.logarithmic:
            return [10.0**power for power in range(math.ceil(self.low), math.floor(self.high) + 1)]
        rough = (self.high - self.low) / 4 or 1
        size = 10 ** math.floor(math.log10(rough))
        step = next(size * times for times in (1, 2, 5, 10) if size * times >= rough)
        first = math.ceil(self.low / step)
        return [step * count for count in range(first, math.floor(self.high / step + 1e-9) + 1)]


def svg(figure: go.Figure, label: str) -> str:
    """The figure as an SVG element with a text alternative."""
    curves = [trace for trace in figure.data if trace.type == "bar" or "lines" in trace.mode]
    places = [str(value) for value in curves[0].x] if figure.layout.xaxis.type == "category" else None
    across = _x_axis(figure, curves, places)
    low, high = figure.layout.yaxis.range
    up = _Axis(low, high, _HEIGHT - _BOTTOM, _TOP, figure.layout.yaxis.type == "log")
    bare = not figure.layout.yaxis.showticklabels  # each point carries its own figure
    pieces = [_frame(figure, across, up, places, bare), _bars(figure, across, up)]
    for index, trace in enumerate(figure.data):
        if trace.type != "bar":
            pieces.append(_trace(trace, across, up, places, SERIES[index % len(SERIES)].light))
    pieces.append(_notes(figure, across, up))
    return svg_of("".join(pieces), _WIDTH, _HEIGHT, label)


def svg_of(pieces: str, width: float, height: float, label: str) -> str:
    """An SVG element that is read aloud as `label`; its units are pixels of a page 640 wide."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="gp-sketch" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'direction="ltr" aria-label="{escape(label, quote=True)}">{pieces}</svg>'
    )


def _x_axis(figure: go.Figure, curves: Sequence[Any], places: Sequence[str] | None) -> _Axis:
    if places:
        return _Axis(-0.4, len(places) - 0.6, _LEFT, _WIDTH - _RIGHT, False)
    logarithmic = figure.layout.xaxis.type == "log"
    values = [float(value) for value in curves[0].x]
    ends = [math.log10(value) for value in values] if logarithmic else values
    return _Axis(min(ends), max(ends), _LEFT, _WIDTH - _RIGHT, logarithmic)


def _place(value: Any, places: Sequence[str] | None) -> float:
    return float(places.index(str(value))) if places else float(value)


def _text(x: float, y: float, words: str, anchor: str = "middle", colour: str = COLOURS["muted"].light) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'


def _frame(figure: go.Figure, across: _Axis, up: _Axis, places: Sequence[str] | None, bare: bool) -> str:
    line, base = COLOURS["line"].light, _HEIGHT - _BOTTOM
    pieces = [f'<path d="M{_LEFT} {base}H{_WIDTH - _RIGHT}" stroke="{line}"/>']
    ticks = list(enumerate(places)) if places else [(tick, grouped(tick)) for tick in across.ticks]
    pieces += [_text(across.at(place), base + 15, said) for place, said in ticks]
    for value in [] if bare else up.ticks:
        y = up.at(value)
        pieces.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="{line}"/>')
        pieces.append(_text(_LEFT - 6, y + 4, grouped(value), "end"))
    unit, axis = (note.text for note in figure.layout.annotations[:2])
    pieces += [_text(_LEFT, 14, unit, "start"), _text(_WIDTH - _RIGHT, _HEIGHT - 8, axis, "end")]
    return "".join(pieces)


def _trace(trace: Any, across: _Axis, up: _Axis, places: Sequence[str] | None, colour: str) -> str:
    points = [
        (across.at(_place(x, places)), up.at(float(y)))
        for x, y in zip(trace.x, trace.y, strict=True)
        if y is not None and not math.isnan(float(y))
    ]
    if "lines" not in trace.mode:
        mark = COLOURS["mark"].light
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{mark}"/>' for x, y in points)
        words = zip(points, trace.text or [], strict=False)
        return dots + "".join(_text(x, y + 18, said, colour=mark) for (x, y), said in words if said)
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    drawn = f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
    if "text" in trace.mode:
        said = [text for text in trace.text if text is not None]
        drawn += "".join(
            _text(x, y - 8, text, colour=COLOURS["text"].light) for (x, y), text in zip(points, said, strict=False)
        )
    return drawn


def _bars(figure: go.Figure, across: _Axis, up: _Axis) -> str:
    """Bars that stand on each other, at equal distances."""
    bars = [trace for trace in figure.data if trace.type == "bar"]
    if not bars:
        return ""
    width = (1 - (figure.layout.bargap or 0.2)) * (across.at(1) - across.at(0))
    ground = [0.0] * len(bars[0].x)
    pieces = []
    for trace in bars:
        for place, value in enumerate(trace.y):
            top, bottom = up.at(ground[place] + (value or 0)), up.at(ground[place])
            ground[place] += value or 0
            x, height = across.at(place) - width / 2, bottom - top
            colour = trace.marker.color
            pieces.append(
                f'<rect x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'
            )
    return "".join(pieces)


def _notes(figure: go.Figure, across: _Axis, up: _Axis) -> str:
    """The names of curves at their ends, totals on bars, and the limit's name at its line."""
    pieces = []
    for shape in figure.layout.shapes:
        y = up.at(shape.y0)
        dashes = f'stroke="{COLOURS["bad"].light}" stroke-dasharray="5 4"'
        pieces.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" {dashes}/>')
    names = 0
    for note in figure.layout.annotations[2:]:
        y = up.at(10.0**note.y if up.logarithmic else note.y) - 6
        if note.xref == "paper":
            pieces.append(_text(_LEFT, y, note.text, "start", COLOURS["bad"].light))
        elif note.bgcolor:  # a bar's total
            pieces.append(_text(across.at(note.x), y, note.text, colour=COLOURS["text"].light))
        else:
            pieces.append(_text(_WIDTH - _RIGHT, y, note.text, "end", SERIES[names % len(SERIES)].light))
            names += 1
    return "".join(pieces)
