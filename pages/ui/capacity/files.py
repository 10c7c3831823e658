"""The scenario as a file, in and out; the example; undo; and kept in the store."""

from itertools import chain, count
from typing import Any

import streamlit as st

from pages.ui import desk, export, state, words
from pages.ui.capacity import rows
from pages.ui.saved.choose import choose
from pages.ui.text import Text
from planner.capacity.needs import row_of
from planner.capacity.read import LARGEST_FILE, from_json, to_json
from planner.result import InputError

_FAILED = "capacity.file.failed"


def draw(text: Text) -> None:
    """One row of buttons."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            text.t("Example"),
            key="capacity.example",
            on_click=lambda: rows.replace(rows.example()),
            help=text.t("A made-up team"),
        )
        st.button(
            text.t("Add my plan"),
            key="capacity.plan",
            on_click=_add_plan,
            args=(text,),
            help=text.t("The plan of the Plan page as a workload: the fewest GPUs that hold it, and its GPU-hours"),
        )
        st.button(text.t("Undo"), key="capacity.undo", disabled=not rows.can_undo(), on_click=rows.undo)
        export.download_json(text, lambda: to_json(rows.rows()), name="capacity", key="capacity.out")
        kept = st.popover(text.t("Open or keep"), key="capacity.kept", on_change="rerun")
    if kept.open:
        with kept:
            file = st.file_uploader(
                text.t("A scenario's file"), type=["json"], key="capacity.in", max_upload_size=LARGEST_FILE // 2**20
            )
            if file is not None:
                st.button(text.t("Open this file"), key="capacity.open", on_click=_open, args=(text, file))
            with desk.told(text):
                _draw_store(text)
    for sentence in st.session_state.pop(_FAILED, []):
        st.error(sentence, icon=":material/error:")


def _add_plan(text: Text) -> None:
    try:
        row = row_of(state.kept())
    except InputError as error:
        st.session_state[_FAILED] = [words.problem(text, problem) for problem in error.problems]
        return
    there = rows.rows()["workloads"]
    names = {one.get("name") for one in there}
    numbered = (f"{row['name']} {number}" for number in count(2))
    name = next(name for name in chain([row["name"]], numbered) if name not in names)
    rows.replace({"workloads": [*there, {**row, "name": name}]})


def _open(text: Text, file: Any) -> None:
    try:
        _, found, _ = from_json(file.getvalue())
        rows.replace(found)
    except InputError as error:
        st.session_state[_FAILED] = [words.problem(text, problem) for problem in error.problems]


def _draw_store(text: Text) -> None:
    from planner.store.items import Kind

    mine = desk.desk()
    items = mine.items(Kind.CAPACITY)
    if items and (chosen := choose(text, text.t("Kept scenario"), items, "capacity.item")):
        whole = {k: v for k, v in chosen.content.items() if k not in ("format", "version")}
        st.button(text.t("Open"), key="capacity.item.open", on_click=rows.replace, args=(whole,))
    name = st.text_input(text.t("Name"), key="capacity.name", max_chars=120)
    st.button(
        text.t("Keep this scenario"),
        key="capacity.keep",
        disabled=not name.strip(),
        on_click=_keep,
        args=(text, mine, name),
    )


def _keep(text: Text, mine: Any, name: str) -> None:
    from planner.store.items import Kind

    try:
        mine.create(Kind.CAPACITY, name, to_json(rows.rows()))
        st.session_state["capacity.name"] = ""
    except (ValueError, PermissionError) as error:
        st.session_state[_FAILED] = desk.sentences(text, error)
