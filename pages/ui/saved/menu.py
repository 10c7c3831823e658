"""The current plan in the sidebar of every other page: open it, save it, compare it, or take up a saved one."""

from html import escape

import streamlit as st

from pages.ui import desk, state
from pages.ui.text import Text

_LATEST = 5
"""Saved plans that are listed; all are on the Saved page."""


def draw(text: Text) -> None:
    """One popover. Nothing is read or computed before it opens."""
    popover = st.sidebar.popover(
        text.t("Current plan"), key="menu", icon=":material/bookmark:", width="stretch", on_change="rerun"
    )
    if popover.open:
        with popover, desk.told(text):
            _draw_open(text)


def _draw_open(text: Text) -> None:
    from pages.ui.compare import button
    from pages.ui.plan.answer import crumb
    from pages.ui.saved import save

    plan = state.kept()
    name = crumb(text, plan)
    st.html(f"<p>{escape(name)}</p>")
    if st.button(text.t("Open"), key="menu-plan", width="stretch"):
        st.switch_page("pages/plan.py")
    save.draw_button(text, plan, name, key="menu-save")
    button.draw(text, plan, name, key="menu-compare")
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
