"""Opening the Plan page with other inputs, from a button on another page."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.ui import state
from planner.plan.plan import to_query

_WANTED = "leave.sets"


def choose(sets: Mapping[str, Any]) -> None:
    """Callback of the button. A page cannot be left inside a callback: the wish is kept for the run that follows."""
    st.session_state[_WANTED] = dict(sets)


def go() -> None:
    """Open the Plan page with what was chosen, if anything was. Call once the plan is read."""
    sets = st.session_state.pop(_WANTED, None)
    if sets is None:
        return
    state.change(sets)
    language = st.query_params.get("lang")
    query = {**({"lang": language} if language else {}), **to_query(state.kept())}
    st.switch_page("pages/plan.py", query_params=query)
