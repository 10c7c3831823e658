"""The widgets of a lesson's figure."""

from typing import Any

import streamlit as st

from pages.ui import labels
from pages.ui.learn import names, numbers, state
from pages.ui.learn.lesson import Control, Lesson, Values
from pages.ui.text import Text
from planner.hardware import catalogue, cpus
from planner.plan.table import BY_ID

_ACROSS = 4
_LETTERS = 80  # that options may have in all to stand side by side, if their control had the whole row


def draw(text: Text, lesson: Lesson, values: Values) -> None:
    """Every control of the lesson, up to four in a row; rows wrap on a phone."""
    across = _ACROSS if len(lesson.controls) <= _ACROSS else _ACROSS - 1
    for first in range(0, len(lesson.controls), across):
        row = lesson.controls[first : first + across]
        columns = st.columns(across if len(lesson.controls) > across else len(row))
        for column, control in zip(columns, row, strict=False):
            with column:
                _draw(text, lesson, control, values[control.id], letters=_LETTERS // len(columns))


def label(text: Text, control: Control) -> str:
    """The control's name."""
    return labels.field(text, BY_ID[control.id]) if control.in_plan else names.control(text, control.id)


def option(text: Text, control: Control, value: Any) -> str:
    """An option's name."""
    if isinstance(value, bool):
        return text.p("option", "on") if value else text.p("option", "off")
    if isinstance(value, int | float):
        return numbers.scientific(text, value)
    if control.id == "gpu":
        return text.isolate(catalogue.gpu(value).name)
    if control.id == "cpu":
        return text.isolate(cpus.cpu(value).name)
    if control.id == "model":
        return text.isolate(value.rpartition("/")[2])
    if control.in_plan:
        return labels.choice(text, control.id, value)
    return names.option(text, control.id, value)


def _draw(text: Text, lesson: Lesson, control: Control, value: Any, letters: int) -> None:
    key = f"learn.{lesson.id}.in.{control.id}"
    if st.session_state.get(key) != value:
        st.session_state[key] = value
    shown = {one: option(text, control, one) for one in control.options}
    common: dict[str, Any] = {"label": label(text, control), "key": key, "on_change": _take, "args": (key, control.id)}
    numeric = all(isinstance(one, int | float) and not isinstance(one, bool) for one in control.options)
    if set(control.options) == {True, False}:
        st.toggle(**common)
    elif numeric:
        st.select_slider(options=list(control.options), format_func=shown.__getitem__, **common)
    elif sum(map(len, shown.values())) <= letters:
        st.segmented_control(
            options=list(control.options), format_func=shown.__getitem__, required=True, width="stretch", **common
        )
    else:
        st.selectbox(options=list(control.options), format_func=shown.__getitem__, **common)


def _take(key: str, control_id: str) -> None:
    state.change(control_id, st.session_state[key])
