"""Comparisons that are kept: saving one, its short link, and the team's list. Nothing is asked for before it opens."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.ui import desk
from pages.ui.compare import links
from pages.ui.compare.links import Entry
from pages.ui.saved import current, item
from pages.ui.saved.choose import choose
from pages.ui.text import Text, plain
from planner.plan.plan import from_json, to_json
from planner.store.names import LONGEST_NAME

if TYPE_CHECKING:
    from planner.store.desk import Desk
    from planner.store.items import Item

_OPEN, _SAID, _FAILED = "compare.open", "compare.said", "compare.kept.failed"


def follow_link(text: Text) -> None:
    """Open the comparison that a short link names. Call before the comparison is read."""
    id = st.query_params.get(current.LINK)
    if id is None:
        return
    del st.query_params[current.LINK]
    with desk.told(text):
        _open(desk.desk().item(id))


def content_of(entries: Sequence[Entry]) -> dict[str, Any]:
    """A comparison as it is kept."""
    return {"plans": [{"name": one.name, "note": one.note, "plan": to_json(one.plan)} for one in entries]}


def entries_of(kept: "Item") -> list[Entry]:
    """The inverse, also of a single kept plan; what can no longer be read of a plan is among its problems."""
    from planner.store.items import Kind

    if kept.kind is not Kind.COMPARISON:
        plan, problems = from_json(kept.content)
        return [links.of(plan, kept.name, problems)]
    found = []
    for one in list(kept.content["plans"])[: links.MOST]:
        plan, problems = from_json(one["plan"])
        name, note = links.one_line(str(one["name"])), links.one_line(str(one.get("note", "")))
        found.append(replace(links.of(plan, name[:LONGEST_NAME], problems), note=note[: links.LONGEST_NOTE]))
    return found


def draw(text: Text, entries: Sequence[Entry]) -> None:
    """A popover: keep this comparison, open another."""
    popover = st.popover(text.t("Saved comparisons"), key="compare.kept", icon=":material/bookmark:", on_change="rerun")
    if not popover.open:
        return
    with popover, desk.told(text):
        mine = desk.desk()
        if entries:
            _draw_save(text, mine, entries)
        _draw_list(text, mine)


def _draw_save(text: Text, mine: "Desk", entries: Sequence[Entry]) -> None:
    opened: Item | None = st.session_state.get(_OPEN)
    st.text_input(
        text.t("Name of the comparison"),
        value=opened.name if opened else plain(_title(text, len(entries))),
        max_chars=LONGEST_NAME,
        key="compare.kept.name",
    )
    with st.container(horizontal=True):
        st.button(text.t("Save as new"), key="compare.kept.new", on_click=_save, args=(text, mine, entries, None))
        if opened:
            label = text.t("Save changes to “{name}”", name=opened.name)
            st.button(label, key="compare.kept.over", on_click=_save, args=(text, mine, entries, opened))
    for sentence in st.session_state.pop(_FAILED, []):
        st.error(sentence, icon=":material/error:")
    if said := st.session_state.pop(_SAID, None):
        st.success(said, icon=":material/check:")


def _title(text: Text, count: int) -> str:
    return text.n("Comparison of {count} plan", "Comparison of {count} plans", count)


def _save(text: Text, mine: "Desk", entries: Sequence[Entry], over: "Item | None") -> None:
    """Keep it; where somebody saved meanwhile, theirs stays and this becomes another."""
    from planner.store.items import Conflict, Kind

    name, content = st.session_state["compare.kept.name"], content_of(entries)
    try:
        if over is None:
            kept = mine.create(Kind.COMPARISON, name, content)
            said = text.t("“{name}” is saved.", name=kept.name)
        else:
            try:
                kept = mine.save(over.id, over.version, name=name, content=content)
                said = text.t("“{name}” is saved.", name=kept.name)
            except Conflict as conflict:
                kept = mine.create(Kind.COMPARISON, f"{name[:110]} (2)", content)
                said = text.t(
                    "{author} saved “{old}” meanwhile, so yours is kept beside it as “{name}”.",
                    author=conflict.theirs.author,
                    old=conflict.theirs.name,
                    name=kept.name,
                )
    except (ValueError, LookupError, PermissionError) as error:
        st.session_state[_FAILED] = desk.sentences(text, error)
        return
    st.session_state[_OPEN], st.session_state[_SAID] = kept, said


def _draw_list(text: Text, mine: "Desk") -> None:
    from planner.store.items import Kind

    found = mine.items(Kind.COMPARISON)
    if deleted := st.session_state.get(item.DELETED):
        st.info(text.t("“{name}” was deleted.", name=deleted.name), icon=":material/delete:")
        st.button(text.t("Undo"), key="compare.kept.undo", on_click=_restore, args=(text, mine, deleted.id))
    if not found:
        nothing = text.t("No comparison is saved yet.")
        st.html(f'<p class="gp-note">{nothing}</p>')
        return
    if chosen := choose(text, text.t("Kept by the team"), found, "compare.kept.choice"):
        st.button(text.t("Open"), key="compare.kept.open", type="primary", on_click=_open, args=(chosen,))
        item.draw(text, mine, chosen)


def _restore(text: Text, mine: "Desk", id: str) -> None:
    st.session_state.pop(item.DELETED, None)
    item.attempt(text, lambda: mine.restore(id))


def _open(one: "Item") -> None:
    from planner.store.items import Kind

    links.show(entries_of(one))
    st.session_state[_OPEN] = one if one.kind is Kind.COMPARISON else None
