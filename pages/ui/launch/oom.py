"""Out of memory: a pasted error or engine log beside the plan, and what to change first."""

from html import escape

import streamlit as st

from pages.ui import state, tables, words
from pages.ui.headline import Verdict
from pages.ui.launch.lists import list_html, title_html
from pages.ui.tables import Column, table_html
from pages.ui.text import Text
from pages.ui.words import oom as oom_words
from planner.advice.advise import Suggestion
from planner.oom.compare import Row, compare
from planner.oom.read import read
from planner.plan.plan import Plan
from planner.result import Estimate, InputError

_SHOWN = 4


def draw(text: Text, plan: Plan, result: Estimate) -> None:
    """The section of the Plan page; its inside is drawn only when it is open."""
    place = st.expander(text.t("Ran out of memory?"), key="oom", icon=":material/troubleshoot:", on_change="rerun")
    if place.open:
        with place:
            _draw(text, plan, result)


def _draw(text: Text, plan: Plan, result: Estimate) -> None:
    pasted = st.text_area(
        text.t("Paste the error or the engine's log"),
        key="oom-text",
        height=180,
        placeholder="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate …",
    )
    known = text.t("PyTorch's error of any version, or the start-up lines of vLLM, SGLang, llama.cpp and Ollama.")
    st.html(f'<p class="gp-note">{escape(known)}</p>')
    if not pasted.strip():
        return
    try:
        comparison = compare(read(pasted), plan, result)
    except InputError as error:
        for problem in error.problems:
            st.error(words.problem(text, problem))
        return
    st.html(list_html(oom_words.finding(text, notice) for notice in comparison.findings))
    rows = [_row(text, row) for row in comparison.rows]
    columns = [
        Column(id="what", label=text.t("Memory")),
        Column(id="seen", label=text.t("In the log"), numeric=True),
        Column(id="planned", label=text.t("Planned"), numeric=True),
    ]
    st.html(table_html(text, columns, rows, caption=text.t("The log beside the plan")))
    if comparison.changes:
        st.html(title_html(text.t("What to change first")))
        by_id = {change.id: change for change in comparison.changes[:_SHOWN]}
        shown = [_change(text, one) for one in by_id.values()]
        tables.change_rows(text, shown, lambda id: state.change(_sets(by_id[id])), key="oom-change")


def _row(text: Text, row: Row) -> tuple[str, str, str]:
    def shown(size: float | None) -> str:
        return "–" if size is None else text.bytes(size)

    return oom_words.quantity(text, row.id), shown(row.seen), shown(row.planned)


def _sets(suggestion: Suggestion) -> dict[str, object]:
    return {field: value for change in suggestion.changes for field, value in change.sets.items()}


def _change(text: Text, one: Suggestion) -> tables.Change:
    memory = one.estimate.memory
    saved = text.t("{size} to spare", size=text.bytes(memory.spare))
    if not one.fits:
        saved = text.t("still {size} short", size=text.bytes(abs(memory.spare)))
    speed = text.t("{change} speed", change=text.change(one.speed_ratio)) if one.speed_ratio is not None else ""
    return tables.Change(
        id=one.id,
        sentence=text.join([words.change(text, change.id, change.sets) for change in one.changes]),
        result=text.bytes(memory.required),
        verdict=Verdict.FITS if one.fits else Verdict.DOES_NOT_FIT,
        verdict_words=saved,
        speed=speed,
    )
