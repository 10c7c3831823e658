"""Hardware that is kept in the store: cards of one's own, and what is owned with its power costs. Used or put away."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.ui import desk
from pages.ui.hardware import names, state
from pages.ui.text import Text
from planner.hardware.custom import custom_gpu
from planner.recommend.wishes import Wishes, parse_wishes

if TYPE_CHECKING:
    from planner.store.desk import Desk
    from planner.store.items import Item, Kind

_TERMS = ("owned", "years", "utilisation", "power_price", "pue", "grid")


def draw(text: Text, wishes: Wishes) -> None:
    """The kept ones, and the button that keeps what this session has."""
    from planner.store.items import Kind

    with desk.told(text):
        mine = desk.desk()
        items = (*mine.items(Kind.GPU), *mine.items(Kind.PRICE))
        for item in items:
            with st.container(horizontal=True, vertical_alignment="center", key=f"hw-kept-{item.id}"):
                st.html(f"<p>{text.isolate(names.escaped(item.name))}</p>")
                st.button(
                    text.t("Use"), key=f"hw-kept-use-{item.id}", type="tertiary", on_click=_use, args=(text, item)
                )
                st.button(
                    text.t("Remove"),
                    key=f"hw-kept-remove-{item.id}",
                    type="tertiary",
                    on_click=_remove,
                    args=(text, mine, item),
                )
        if not items:
            nothing = text.t("Nothing is kept yet. A link carries all of it, too.")
            st.html(f'<p class="gp-note">{nothing}</p>')
        label = text.t("Keep your GPUs, owned cards and power costs")
        unchanged = all(_same(items, *entry) for entry in _entries(text, wishes))
        st.button(label, key="hw-keep", disabled=unchanged, on_click=_keep, args=(text, mine, wishes))


def _entries(text: Text, wishes: Wishes) -> Iterator[tuple["Kind", str, dict[str, Any]]]:
    """What there is to keep, as kind, name and content."""
    from planner.store.items import Kind

    for card in wishes.custom:
        yield Kind.GPU, card.name, card.as_mapping()
    if terms := {key: value for key, value in state.raw().items() if key in _TERMS}:
        yield Kind.PRICE, text.t("Owned cards and power costs"), terms


def _same(items: tuple["Item", ...], kind: "Kind", name: str, content: dict[str, Any]) -> bool:
    return any(item.kind == kind and item.name == name and item.content == content for item in items)


def _keep(text: Text, mine: "Desk", wishes: Wishes) -> None:
    """Each under its name; one of that name is replaced."""
    with desk.told(text):
        for kind, name, content in _entries(text, wishes):
            older = next((item for item in mine.items(kind) if item.name == name), None)
            if older is None:
                mine.create(kind, name, content)
            elif older.content != content:
                mine.save(older.id, older.version, content=content)


def _remove(text: Text, mine: "Desk", item: "Item") -> None:
    with desk.told(text):
        mine.delete(item.id, item.version)


def _use(text: Text, item: "Item") -> None:
    """Take a kept one into this session's wishes."""
    from planner.store.items import Kind

    with desk.told(text):
        if item.kind == Kind.GPU:
            state.with_card(parse_wishes(state.raw())[0], custom_gpu(item.content))
        else:
            state.change({key: item.content.get(key) for key in _TERMS})
