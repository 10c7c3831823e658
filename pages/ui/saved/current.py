"""Which saved plan the session's plan came from, and opening one by its short link."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.ui import desk, state
from pages.ui.text import Text
from planner.plan.plan import Plan, from_json, to_json

if TYPE_CHECKING:
    from planner.store.items import Item

_CURRENT = "saved.current"
LINK = "saved"
"""Query key of a short link."""


@dataclass(frozen=True, slots=True)
class Current:
    """The saved plan that is open: what a save would change."""

    id: str
    version: int
    name: str


def current() -> Current | None:
    """The saved plan that the session has open."""
    return st.session_state.get(_CURRENT)


def set_current(item: "Item | None") -> None:
    """Remember which saved plan is open; None: none."""
    st.session_state[_CURRENT] = None if item is None else Current(item.id, item.version, item.name)


def content_of(plan: Plan) -> dict[str, Any]:
    """A plan as it is kept."""
    return dict(to_json(plan))


def plan_of(content: Mapping[str, Any]) -> Plan:
    """The plan of a kept content; what can no longer be read is left at its default."""
    return from_json(content)[0]


def follow_link(text: Text) -> None:
    """Open the plan that a short link names, and put its own link in the address. Call before the plan is read."""
    id = st.query_params.get(LINK)
    if id is None:
        return
    del st.query_params[LINK]
    with desk.told(text):
        item = desk.desk().item(id)
        plan, problems = from_json(item.content)
        state.replace(plan.chosen, problems)
        state.forget_link()
        set_current(item)
