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
from pages.ui.saved.differences import draw_differences, draw_shared
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
    draw_shared(text, [one.plan for one, _ in solved], key="compare.shared")
    st.html(section_html(text.t("Memory of one GPU"), text.t("Drawn to one scale; the line is what the GPU has.")))
    st.html("".join(bar_html(text, one, result, _widest(solved)) for one, result in solved))
    st.html(
        section_html(
            text.t("Figures"), text.t("▲ marks the best of those that fit, where all do the same kind of work.")
        )
    )
    st.html(multiples_html(text, solved))
    fold = st.expander(text.t("As a table"), key="compare.table", on_change="rerun")
    if fold.open:
        columns, rows = figures(text, solved)
        fold.html(table_html(text, columns, rows, caption=text.t("The plans side by side")))
    failed = [one for one in entries if one.problems]
    downloads.draw(text, lambda: report.report(text, solved, failed), name="comparison", key="compare-report")


def _widest(solved: Sequence[Solved]) -> float:
    return max(max(float(r.memory.required), float(r.memory.capacity)) for _, r in solved)


def bar_html(text: Text, one: Entry, result: Estimate, widest: float) -> str:
    """A plan's memory bar, as long as its share of the widest."""
    memory = result.memory
    parts = [(term.id, words.term(text, term.id), float(term.value)) for term in memory.parts]
    _, verdict = fits_sentence(text, float(memory.spare), tight=bool(result.tight))
    share = max(float(memory.required), float(memory.capacity)) / widest
    bar = memory_bar_html(parts, float(memory.capacity), text, compact=True)
    said = [verdict] + ([text.t("bound by {what}", what=words.bound(text, result.speed.bound))] if result.speed else [])
    note = f"<br>{escape(one.note)}" if one.note else ""
    head = f"<b><bdi>{escape(one.name)}</bdi></b> · {escape(text.join(said))}{note}"
    return f'<p class="gp-note">{head}</p><div style="inline-size:{100 * share:.2f}%">{bar}</div>'


def multiples_html(text: Text, solved: Sequence[Solved]) -> str:
    """A small chart a figure: a bar for every plan, from zero, with its value."""
    return f'<div class="gp-multiples">{"".join(_multiple_html(text, one, solved) for one in metrics(text))}</div>'


def _multiple_html(text: Text, metric: Metric, solved: Sequence[Solved]) -> str:
    values, best = _values(metric, solved)
    if len(set(values)) == 1:  # nothing to see; the table has it
        return ""
    most = max(abs(value) for value in values if value is not None) or 1.0
    rows = "".join(
        f"<dt><bdi>{escape(one.name)}</bdi></dt>"
        f'<dd><i style="inline-size:{100 * max(value or 0.0, 0.0) / most:.1f}%"></i>'
        f"<span>{escape(_shown(text, metric, value, place in best) or '–')}</span></dd>"
        for place, ((one, _), value) in enumerate(zip(solved, values, strict=True))
    )
    return f"<section><h3>{escape(metric.label)}</h3><dl>{rows}</dl></section>"


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
    values, best = _values(metric, solved)
    if all(value is None for value in values):
        return []
    return [metric.label, *(_shown(text, metric, value, place in best) for place, value in enumerate(values))]


def _values(metric: Metric, solved: Sequence[Solved]) -> tuple[list[float | None], set[int]]:
    """The figure of every plan, and the places of the best."""
    values = [metric.value(one.plan, result) for one, result in solved]
    return values, best_of(metric, values, [one for one, _ in solved], [bool(result.fits) for _, result in solved])


def _shown(text: Text, metric: Metric, value: float | None, best: bool) -> str | None:
    if value is None:
        return None
    return text.t("▲ {value} (best)", value=metric.shown(value)) if best else metric.shown(value)
