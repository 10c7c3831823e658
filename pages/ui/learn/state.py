"""Where the learner is: lesson, values of its controls, and how far a presentation has gone, all in the link.

The link decides, as on the Plan page: whoever opens it sees the same lesson in the same state. Answers and progress
stay in the browser's session and are never written anywhere.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.ui.learn.lesson import Lesson
from pages.ui.learn.lessons import BY_ID

GLOSSARY = "glossary"
_PLACE, _WRITTEN, _DONE = "learn.place", "learn.written", "learn.done"
_OTHER_KEYS = frozenset({"lang"})
_MANY = 99  # steps of a presentation, more than any lesson has


def read() -> None:
    """Take the link's state where it changed since it was written. Call before any widget is drawn."""
    query = {key: value for key, value in st.query_params.items() if key not in _OTHER_KEYS}
    if query != st.session_state.get(_WRITTEN):
        st.session_state[_PLACE] = parse(query)
        st.session_state[_WRITTEN] = query


def parse(query: Mapping[str, str]) -> dict[str, Any]:
    """A link as a place: only lessons, steps and options that exist are taken."""
    name = query.get("lesson", "")
    lesson = BY_ID.get(name)
    if lesson is None:
        return {"lesson": GLOSSARY if name == GLOSSARY else "", "step": None, "values": {}}
    values = {}
    for control in lesson.controls:
        known = {str(option): option for option in control.options}
        values[control.id] = known.get(query.get(control.id, ""), control.default)
    step = query.get("step", "")
    return {
        "lesson": name,
        "step": min(int(step), _MANY) if step.isascii() and step.isdigit() and len(step) < 4 else None,
        "values": values,
    }


def query_of(place: Mapping[str, Any]) -> dict[str, str]:
    """The link of a place; what is at its start is left out."""
    query = {"lesson": place["lesson"]} if place["lesson"] else {}
    lesson = BY_ID.get(place["lesson"])
    if lesson is not None:
        defaults = lesson.defaults()
        query |= {key: str(value) for key, value in place["values"].items() if value != defaults[key]}
        if place["step"] is not None:
            query["step"] = str(place["step"])
    return query


def write() -> None:
    """Put the place into the address. Call after the widgets."""
    query = query_of(place())
    if query == st.session_state.get(_WRITTEN):
        return
    st.session_state[_WRITTEN] = query
    others = {key: value for key, value in st.query_params.items() if key in _OTHER_KEYS}
    st.query_params.from_dict({**others, **query})


def place() -> dict[str, Any]:
    """The present place: "lesson" ("" is the list of lessons), "step" (None: reading) and "values"."""
    found: dict[str, Any] = st.session_state.setdefault(_PLACE, parse({}))
    return found


def lesson() -> Lesson | None:
    """The lesson that is open."""
    return BY_ID.get(place()["lesson"])


def values() -> dict[str, Any]:
    """The values of the open lesson's controls."""
    found: dict[str, Any] = place()["values"]
    return found


def go(lesson_id: str) -> None:
    """Open a lesson at its start, the glossary, or ("") the list."""
    st.session_state[_PLACE] = parse({"lesson": lesson_id})


def change(control_id: str, value: Any) -> None:
    """Set one control."""
    st.session_state[_PLACE] = {**place(), "values": {**values(), control_id: value}}


def present(step: int | None) -> None:
    """Go to a step of the presentation; None leaves it."""
    st.session_state[_PLACE] = {**place(), "step": step}


def reset() -> None:
    """The controls back to their start, the answer hidden again, and a presentation back to its first step."""
    found = place()
    st.session_state[_PLACE] = {**parse({"lesson": found["lesson"]}), "step": None if found["step"] is None else 0}
    for key in ("answer", "hints", "judgement"):
        st.session_state.pop(f"learn.{found['lesson']}.{key}", None)


def done() -> frozenset[str]:
    """Lessons whose task was answered rightly in this session."""
    return frozenset(st.session_state.get(_DONE, ()))


def mark_done(lesson_id: str) -> None:
    """Remember, for this session only, that a task is solved."""
    st.session_state[_DONE] = done() | {lesson_id}
