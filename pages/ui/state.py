"""The plan of this session: in the link, in the session, and in the widgets, with the link deciding.

One dictionary holds what the user chose. Widgets are seeded from it before they are drawn and write back to it when
used, so a field that is hidden for a while keeps its value, and the browser's back button is undo.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from planner.plan.plan import Plan, parse, parse_value, resolve, to_query
from planner.plan.table import BY_ID
from planner.result import InputError, Problem

_CHOSEN, _PROBLEMS, _WRITTEN = "plan.chosen", "plan.problems", "plan.written"
_OTHER_KEYS = frozenset({"lang", "saved"})  # of the address, but not of the plan
_UNTOLD = "plan.untold"  # widgets whose new value the browser may not have seen
_PAGE, _ARRIVED = "plan.page", "plan.arrived"


def widget_key(field_id: str) -> str:
    """The session key of a field's widget."""
    return f"in.{field_id}"


def is_of_plan(key: str) -> bool:
    """Whether a key of the address belongs to the plan. A dotted one is some page's own ("hw.budget")."""
    return key not in _OTHER_KEYS and "." not in key


def visit(page: str) -> None:
    """Called in each run with the address of its page. The navigation's links carry no plan: coming from another page
    without one, the reader means the plan that the session has."""
    before = st.session_state.get(_PAGE, page)
    st.session_state[_PAGE] = page
    if page != before:
        st.session_state[_ARRIVED] = True


def has_arrived() -> bool:
    """Whether the reader has just come from another page. True until the plan is read."""
    return bool(st.session_state.get(_ARRIVED))


def read() -> tuple[Plan, tuple[Problem, ...]]:
    """The session's plan, and what was wrong with the link or the last input. Call before any widget is drawn."""
    query = {key: value for key, value in st.query_params.items() if is_of_plan(key)}
    if has_arrived() and not query and _CHOSEN in st.session_state:
        st.session_state[_WRITTEN] = query
    st.session_state[_ARRIVED] = False
    if query != st.session_state.get(_WRITTEN):
        plan, problems = parse(query)
        st.session_state[_CHOSEN] = dict(plan.chosen)
        st.session_state[_WRITTEN] = query
        st.session_state[_PROBLEMS] = problems
        return plan, problems
    return resolve(st.session_state.get(_CHOSEN, {})), st.session_state.get(_PROBLEMS, ())


def kept() -> Plan:
    """The session's plan on other pages, whose addresses are about other things."""
    return resolve(st.session_state.get(_CHOSEN, {}))


def write(plan: Plan) -> None:
    """Put the plan into the address, as a new step of the browser's history. Call after the widgets."""
    st.session_state[_UNTOLD] = set()
    query = to_query(plan)
    if query == st.session_state.get(_WRITTEN):
        return
    st.session_state[_WRITTEN] = query
    others = {key: value for key, value in st.query_params.items() if not is_of_plan(key)}
    st.query_params.from_dict({**others, **query})


def seed(field_id: str, value: Any) -> str:
    """Give a field's widget its value before it is drawn, besides as its default; returns the widget's key.

    A run may be cut off before the browser has seen it, and Streamlit tells the browser of a new value once. So it is
    given again until a run reached its end; and a widget that the browser sees for the first time has it as default.
    """
    key = widget_key(field_id)
    untold = st.session_state.setdefault(_UNTOLD, set())
    if key in st.session_state and (st.session_state[key] != value or key in untold):
        st.session_state[key] = value
        untold.add(key)
    return key


def take(field_id: str) -> None:
    """Callback of a field's widget: keep what it holds, or say what is wrong with it and keep the last good value."""
    raw = st.session_state.get(widget_key(field_id))
    if raw is None:
        change({field_id: None})
        return
    try:
        change({field_id: parse_value(BY_ID[field_id], raw)})
    except InputError as error:
        st.session_state[_PROBLEMS] = error.problems


def forget_link() -> None:
    """The session's plan counts, not the one in the address: it was just replaced before it was read."""
    st.session_state[_WRITTEN] = {key: value for key, value in st.query_params.items() if is_of_plan(key)}


def change(values: Mapping[str, Any]) -> None:
    """Set fields of the plan (None: back to the default). What makes no plan leaves all as it was, with the reason."""
    chosen = {**st.session_state.get(_CHOSEN, {}), **values}
    chosen = {key: value for key, value in chosen.items() if value is not None}
    try:
        resolve(chosen)
    except InputError as error:
        st.session_state[_PROBLEMS] = error.problems
        return
    st.session_state[_CHOSEN] = chosen
    st.session_state[_PROBLEMS] = ()


def replace(values: Mapping[str, Any], problems: tuple[Problem, ...] = ()) -> None:
    """A whole new plan: a preset, a saved one with what could not be read of it, or everything back to the defaults."""
    st.session_state[_CHOSEN] = dict(values)
    st.session_state[_PROBLEMS] = problems
