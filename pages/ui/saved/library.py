"""The list of saved plans: one line each, its actions behind a button."""

from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui import desk
from pages.ui.saved import current, item
from pages.ui.text import Text

if TYPE_CHECKING:
    from planner.store.desk import Desk
    from planner.store.items import Item

_PAGE = 25
"""Lines shown at once."""


def draw(text: Text, mine: "Desk") -> None:
    """Search, the lines, and what was just deleted with its undo."""
    from planner.store.items import Kind

    views = {"active": text.t("Current"), "archived": text.t("Archived"), "deleted": text.t("Deleted")}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = st.text_input(
            text.t("Search"), key="saved.search", placeholder=text.t("Name, tag, model, author"), max_chars=200
        )
        view = st.segmented_control(
            text.t("Show"),
            list(views),
            format_func=views.__getitem__,
            key="saved.view",
            default="active",
            required=True,
        )
    _draw_undo(text, mine)
    found = mine.items(Kind.PLAN, search=search or "", archived=view == "archived", deleted=view == "deleted")
    if not found:
        _draw_nothing(text, bool(search), view)
        return
    pages = st.session_state.get("saved.pages", 1)
    shown = found[: _PAGE * pages]
    count = text.n("{count} plan", "{count} plans", len(found))
    st.html(f'<p class="gp-note">{escape(count)}</p>')
    with st.container(key="gp-changes-saved", gap=None):
        for one in shown:
            st.html(_line_html(text, one))
            _draw_actions(text, mine, one)
    if len(found) > len(shown):
        st.button(text.t("Show more"), key="saved.more", on_click=_more, args=(pages,))


def _more(pages: int) -> None:
    st.session_state["saved.pages"] = pages + 1


def _line_html(text: Text, one: "Item") -> str:
    plan = current.plan_of(one.content)
    tags = "".join(f'<span class="gp-tag">{escape(tag)}</span>' for tag in one.tags)
    gpus = f"{plan.values['gpus']} × {plan.card.name}"
    parts = [text.isolate(plan.spec.name), text.isolate(gpus), text.date(one.updated.date().isoformat())]
    if desk.sign_in_configured():
        parts.append(text.isolate(one.author))
    about = text.join(parts)
    name = escape(text.isolate(one.name))
    title = name
    if one.deleted is None:
        title = (
            f'<a href="./?{current.LINK}={escape(one.id, quote=True)}&lang={text.language}" target="_self">{name}</a>'
        )
    return f'<div class="gp-saved"><b>{title}</b>{tags}<br><span class="gp-note">{escape(about)}</span></div>'


def _draw_actions(text: Text, mine: "Desk", one: "Item") -> None:
    if one.deleted is not None:
        st.button(text.t("Undo delete"), key=f"restore-{one.id}", on_click=_restore, args=(text, mine, one.id))
        return
    actions = st.popover(
        "⋯", key=f"saved-{one.id}", help=text.t("Actions for “{name}”", name=one.name), on_change="rerun"
    )
    if actions.open:
        with actions:
            item.draw(text, mine, one)


def _draw_undo(text: Text, mine: "Desk") -> None:
    """Right after a delete, the way back is where the eye is."""
    deleted = st.session_state.get(item.DELETED)
    if deleted is None:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(text.t("“{name}” was deleted.", name=deleted.name), icon=":material/delete:")
        st.button(text.t("Undo"), key="saved.undo", on_click=_restore, args=(text, mine, deleted.id))


def _restore(text: Text, mine: "Desk", id: str) -> None:
    st.session_state.pop(item.DELETED, None)
    item.attempt(text, lambda: mine.restore(id))


def _draw_nothing(text: Text, searched: bool, view: str) -> None:
    if searched:
        sentence = text.t("No saved plan has all of these words.")
    elif view != "active":
        sentence = text.t("There is nothing here.")
    else:
        sentence = text.t("No plan is saved yet. On the Plan page, “Save” keeps the one on screen, with a short link.")
    st.info(sentence, icon=":material/bookmark:")
