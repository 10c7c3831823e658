"""A pasted configuration or command as a plan: what it means, whether it fits, and what could not be read."""

from html import escape
from typing import Any

import streamlit as st

from pages.ui import labels, state, words
from pages.ui.headline import fits_sentence
from pages.ui.launch.lists import list_html, title_html
from pages.ui.tables import Column, table_html
from pages.ui.text import Text
from pages.ui.words import launch as launch_words
from planner.estimate import estimate
from planner.launch.compare import onto
from planner.launch.frameworks import FRAMEWORKS, read
from planner.launch.types import Reading
from planner.plan.checks import problems_of
from planner.plan.fields import Kind
from planner.plan.plan import Plan
from planner.plan.request import request_of
from planner.plan.table import FIELDS
from planner.result import InputError


def draw_import(text: Text, plan: Plan) -> None:
    """A place to paste into, and what was read. Applying it replaces the plan; the browser's back button undoes it."""
    names = text.join([framework.name for framework in FRAMEWORKS.values()])
    pasted = st.text_area(
        text.t("Paste a configuration, a script or a command"),
        key="import-text",
        height=220,
        placeholder="vllm serve Qwen/Qwen3-32B --tensor-parallel-size 2 --max-model-len 32768",
    )
    known = text.t("It is read, never run. Known: {names}, Slurm, Kubernetes.", names=names)
    st.html(f'<p class="gp-note">{escape(known)}</p>')
    if not pasted.strip():
        return
    try:
        reading = read(pasted)
    except InputError as error:
        for problem in error.problems:
            st.error(words.problem(text, problem))
        return
    _draw(text, plan, reading)


def _draw(text: Text, plan: Plan, reading: Reading) -> None:
    known = text.join([text.isolate(FRAMEWORKS[name].name) for name in reading.frameworks])
    imported = onto(plan, reading)
    st.html(title_html(text.t("Read as {framework}", framework=known)))
    _verdict(text, imported)
    if st.button(text.t("Use as the plan"), key="import-apply", type="primary"):
        state.replace(imported.chosen)
        st.rerun()
    rows = [
        (labels.field(text, field), _shown(text, field.id, reading)) for field in FIELDS if field.id in reading.chosen
    ]
    columns = [Column(id="field", label=text.t("Input")), Column(id="value", label=text.t("Value"))]
    st.html(table_html(text, columns, rows, caption=text.t("What it means")))
    unread = [launch_words.unread(text, one) for one in reading.unread]
    assumed = [launch_words.assumption(text, one) for one in reading.assumptions]
    if unread or assumed:
        st.html(list_html(unread, text.t("Not read")) + list_html(assumed, text.t("Assumed")))


def _verdict(text: Text, imported: Plan) -> None:
    problems = problems_of(imported)
    for problem in problems:
        st.error(words.problem(text, problem))
    if problems:
        return
    result = estimate(request_of(imported))
    _, sentence = fits_sentence(text, result.memory.spare, tight=bool(result.tight))
    (st.success if result.fits else st.error)(sentence)


def _shown(text: Text, field_id: str, reading: Reading) -> str:
    value: Any = reading.chosen[field_id]
    kind = next(field.kind for field in FIELDS if field.id == field_id)
    if kind is Kind.CONFIG:
        return text.t("a configuration of its own")
    if isinstance(value, bool):
        return text.t("yes") if value else text.t("no")
    if isinstance(value, str):
        return labels.choice(text, field_id, value)
    return text.number(value)
