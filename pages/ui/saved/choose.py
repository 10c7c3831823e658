"""Choosing one of the team's kept items from a list."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.text import Text

if TYPE_CHECKING:
    from planner.store.items import Item


def choose(text: Text, label: str, items: "Iterable[Item]", key: str) -> "Item | None":
    """A list of names; None until one is chosen."""
    by_id = {item.id: item for item in items}
    chosen = st.selectbox(
        label, list(by_id), index=None, format_func=lambda id: by_id[id].name, key=key, placeholder=text.t("Not set")
    )
    return by_id.get(chosen) if chosen else None
