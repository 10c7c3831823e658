"""The current plan in the sidebar of every other page: open it, save it, compare it, or take up a saved one."""

from html import escape

import streamlit as st

from pages.ui import desk, state
from pages.ui.text import Text

_SAVE = "menu.save"
_LATEST = 5
"""Saved plans that are listed; all are on the Saved page."""


def draw(text: Text) -> None:
    """One popover. Nothing is read or computed before it opens."""
    popover = st.sidebar.popover(
        text.t("Current plan"), key="menu", icon=":material/bookmark:", width="stretch", on_change="rerun"
    )
    if st.session_state.pop(_SAVE, False):
        _save(text)
    if popover.open:
        with popover, desk.told(text):
            _draw_open(text)


def _ask() -> None:
    """Close the menu, which would cover the dialog."""
    st.session_state["menu"] = False
    st.session_state[_SAVE] = True


def _save(text: Text) -> None:
    from pages.ui.plan.answer import crumb
    from pages.ui.saved import save

    plan = state.kept()
    save.ask(text, plan, crumb(text, plan))


def _draw_open(text: Text) -> None:
    from pages.ui.compare import button
    from pages.ui.plan.answer import crumb

    plan = state.kept()
    name = crumb(text, plan)
    st.html(f"<p>{escape(name)}</p>")
    if st.button(text.t("Open"), key="menu-plan", width="stretch"):
        st.switch_page("pages/plan.py")
    st.button(text.t("Save"), key="menu-save", icon=":material/bookmark:", width="stretch", on_click=_ask)
    button.draw(text, plan, name, key="menu-compare", width="stretch")
    _draw_latest(text)


def _draw_latest(text: Text) -> None:
    from pages.ui.saved import current
    from planner.store.items import Kind

    latest = desk.desk().items(Kind.PLAN)[:_LATEST]
    links = "".join(
        f'<li><a href="./?{current.LINK}={escape(one.id, quote=True)}&lang={text.language}" target="_self" dir="auto">'
        f"{escape(one.name)}</a></li>"
        for one in latest
    )
    if links:
        heading = escape(text.t("Saved last"))
        st.html(f'<p class="gp-note">{heading}</p><ul class="gp-saved">{links}</ul>')
