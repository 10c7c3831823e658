"""One lesson on screen: read from top to bottom, or presented part by part."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

import streamlit as st

from pages.ui import charts, words
from pages.ui.headline import section_html
from pages.ui.learn import controls, figures, names, state, task
from pages.ui.learn.lesson import Chart, Drawing, Lesson, Stage
from pages.ui.learn.prose import Part, Prose, fill
from pages.ui.plan import working
from pages.ui.text import Text
from planner.plan.checks import problems_of
from planner.plan.plan import to_query


def draw_head(text: Text, words_of: Prose, number: int, numbers: dict[str, str]) -> None:
    """The title and the lead."""
    lesson = text.t("Lesson {number}", number=number)
    st.html(
        f'<p class="gp-crumb">{escape(lesson)}</p><h1 class="gp-title">{escape(words_of.title)}</h1>'
        f'<p class="gp-lead">{escape(fill(words_of.lead, numbers))}</p>'
    )


def draw_parts(text: Text, lesson: Lesson, words_of: Prose, parts: Sequence[Part], numbers: dict[str, str]) -> None:
    """The parts in reading order; hints and the answer belong to the task, which decides when they are seen."""
    presenting = state.place()["step"] is not None
    for place, part in enumerate(parts):
        if part.kind == "hint" or (part.kind == "answer" and not presenting):
            continue
        with st.container(key=f"gp-part-{place}-{part.kind}"):
            st.html(section_html(part.heading or names.heading(text, part.kind)))
            st.markdown(part.filled(numbers))
            if part.kind == "figure":
                _draw_figure(text, lesson)
            elif part.kind == "formula":
                _draw_formula(text, lesson)
            elif part.kind == "task" and not presenting:
                task.draw(text, lesson, words_of, numbers)
            elif part.kind == "wrong":
                source = text.t("Source: {source}", source=lesson.case.source)
                st.html(f'<p class="gp-note"><a href="{escape(lesson.case.url, quote=True)}">{escape(source)}</a></p>')


def _draw_figure(text: Text, lesson: Lesson) -> None:
    values = state.values()
    stage = lesson.stage(values)
    with st.container(key="gp-figure"):
        controls.draw(text, lesson, values)
        if stage.possible:
            draw_drawings(text, lesson.figure(text, stage))
        else:
            for problem in problems_of(stage.plan):
                st.warning(words.problem(text, problem))
        _draw_plan_link(text, stage)


def draw_drawings(text: Text, drawings: Sequence[Drawing]) -> None:
    """The pieces of a figure in order; charts that follow each other stand side by side."""
    for is_chart, group in groupby(drawings, lambda piece: isinstance(piece, Chart)):
        pieces = list(group)
        if not is_chart:
            st.html("".join(str(piece) for piece in pieces))
            continue
        for column, chart in zip(st.columns(len(pieces)), pieces, strict=True):
            with column:
                _draw_chart(text, chart)


def _draw_chart(text: Text, chart: Chart) -> None:
    if state.place()["step"] is not None:
        figures.enlarge(chart.figure)
    charts.draw(
        text,
        chart.figure,
        title=chart.title,
        alt=chart.alt,
        columns=chart.columns,
        rows=chart.rows,
        key=f"learn-{chart.id}",
        source=chart.note,
    )


def _draw_plan_link(text: Text, stage: Stage) -> None:
    st.page_link(
        "pages/plan.py",
        label=text.t("Continue with this on the Plan page"),
        icon=":material/arrow_back:" if text.rtl else ":material/arrow_forward:",
        query_params={"lang": text.language, **to_query(stage.plan)},
    )


def _draw_formula(text: Text, lesson: Lesson) -> None:
    stage = lesson.stage(state.values())
    opening = st.expander(text.t("The formulas with the figure's numbers"), key="learn-formula", on_change="rerun")
    if opening.open and stage.possible:
        with opening:
            working.draw_terms(text, lesson.terms(stage))
