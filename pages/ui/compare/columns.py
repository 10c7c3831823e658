"""The plans of the comparison, a line each: name, note, what is wrong; open, move, take out with undo."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from pages.ui import state, words
from pages.ui.compare.links import LONGEST_NOTE, Entry, one_line
from pages.ui.text import Text
from planner.store.names import LONGEST_NAME

_ENTRIES, _REMOVED = "compare.entries", "compare.removed"


def draw(text: Text, entries: Sequence[Entry]) -> None:
    """One line a plan."""
    if removed := st.session_state.get(_REMOVED):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.info(text.t("“{name}” was taken out.", name=removed[1].name))
            st.button(text.t("Undo"), key="compare.undo", on_click=_undo)
    for place, one in enumerate(entries):
        key, note = f"compare.name.{place}", f"compare.note.{place}"
        for widget, value in ((key, one.name), (note, one.note)):
            if st.session_state.get(widget) != value:
                st.session_state[widget] = value
        with st.container(key=f"gp-entry-{place}", horizontal=True, vertical_alignment="bottom"):
            label = text.t("Plan {number}", number=place + 1)
            st.text_input(label, key=key, max_chars=LONGEST_NAME, on_change=_rename, args=(place, key))
            about = text.t("Note on plan {number}", number=place + 1)
            st.text_input(about, key=note, max_chars=LONGEST_NOTE, on_change=_write_note, args=(place, note))
            if st.button("↗", key=f"compare.open.{place}", help=text.t("Open {name} on the Plan page", name=one.name)):
                state.replace(one.plan.chosen)
                st.switch_page("pages/plan.py")
            earlier = text.t("Move {name} one place earlier", name=one.name)
            st.button("↑", key=f"compare.up.{place}", help=earlier, disabled=place == 0, on_click=_swap, args=(place,))
            out = text.t("Take {name} out", name=one.name)
            st.button("✕", key=f"compare.out.{place}", help=out, on_click=_remove, args=(place,))
        for problem in one.problems:
            st.error(words.problem(text, problem), icon=":material/error:")


def _rename(place: int, key: str) -> None:
    entries = st.session_state[_ENTRIES]
    one = entries[place]
    entries[place] = replace(one, name=one_line(st.session_state[key]) or one.name)


def _write_note(place: int, key: str) -> None:
    entries = st.session_state[_ENTRIES]
    entries[place] = replace(entries[place], note=one_line(st.session_state[key]))


def _swap(place: int) -> None:
    entries = st.session_state[_ENTRIES]
    entries[place - 1], entries[place] = entries[place], entries[place - 1]


def _remove(place: int) -> None:
    st.session_state[_REMOVED] = (place, st.session_state[_ENTRIES].pop(place))


def _undo() -> None:
    place, one = st.session_state.pop(_REMOVED)
    st.session_state[_ENTRIES].insert(place, one)
