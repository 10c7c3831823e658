"""The comparison itself: differences of inputs, memory bars against one another, figures with the best marked."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.ui import words
from pages.ui.compare.links import Entry
from pages.ui.compare.metrics import Metric, best_of, metrics
from pages.ui.headline import fits_sentence, section_html
from pages.ui.memory_bar import memory_bar_html
from pages.ui.report import downloads
from pages.ui.saved.differences import draw_differences
from pages.ui.tables import Column, table_html
from pages.ui.text import Text
from planner.result import Estimate

Solved = tuple[Entry, Estimate]


def draw(text: Text, entries: Sequence[Entry]) -> None:
    """Everything of the plans that are possible."""
    from pages.ui.compare import report

    solved = [(one, one.solved()[1]) for one in entries if not one.problems]
    if len(solved) < 2:
        return
    st.html(section_html(text.t("What differs")))
    draw_differences(text, [(one.name, one.plan) for one, _ in solved])
    st.html(section_html(text.t("Memory of one GPU"), text.t("Drawn to one scale; the line is what the GPU has.")))
    st.html("".join(bar_html(text, one, result, _widest(solved)) for one, result in solved))
    st.html(
        section_html(
            text.t("Figures"), text.t("▲ marks the best of those that fit, where all do the same kind of work.")
        )
    )
    columns, rows = figures(text, solved)
    st.html(table_html(text, columns, rows, caption=text.t("The plans side by side")))
    downloads.draw(text, lambda: report.report(text, solved), name="comparison", key="compare-report")


def _widest(solved: Sequence[Solved]) -> float:
    return max(max(float(r.memory.required), float(r.memory.capacity)) for _, r in solved)


def bar_html(text: Text, one: Entry, result: Estimate, widest: float) -> str:
    """A plan's memory bar, as long as its share of the widest."""
    memory = result.memory
    parts = [(term.id, words.term(text, term.id), float(term.value)) for term in memory.parts]
    _, verdict = fits_sentence(text, float(memory.spare), tight=bool(result.tight))
    share = max(float(memory.required), float(memory.capacity)) / widest
    bar = memory_bar_html(parts, float(memory.capacity), text, compact=True)
    head = f"<b>{escape(text.isolate(one.name))}</b> · {escape(verdict)}"
    return f'<p class="gp-note">{head}</p><div style="inline-size:{100 * share:.2f}%">{bar}</div>'


def figures(text: Text, solved: Sequence[Solved]) -> tuple[list[Column], list[list[str | None]]]:
    """One row a figure, one column a plan."""
    columns = [Column(id="figure", label=text.t("Figure"))]
    columns += [Column(id=str(place), label=one.name, numeric=True) for place, (one, _) in enumerate(solved)]
    rows: list[list[str | None]] = [[text.t("Verdict"), *(_verdict(text, result) for _, result in solved)]]
    rows += [row for metric in metrics(text) if (row := _row(text, metric, solved))]
    bounds = [words.bound(text, result.speed.bound) if result.speed else None for _, result in solved]
    return columns, [*rows, [text.t("Bound by"), *bounds]]


def _verdict(text: Text, result: Estimate) -> str:
    return text.t("fits") if result.fits else text.t("does not fit")


def _row(text: Text, metric: Metric, solved: Sequence[Solved]) -> list[str | None]:
    """A figure of every plan; nothing where no plan has it."""
    values = [metric.value(one.plan, result) for one, result in solved]
    if all(value is None for value in values):
        return []
    best = best_of(metric, values, [one for one, _ in solved], [bool(result.fits) for _, result in solved])
    mark = text.t("best")
    shown = [
        None if value is None else f"▲ {metric.shown(value)} ({mark})" if place in best else metric.shown(value)
        for place, value in enumerate(values)
    ]
    return [metric.label, *shown]
