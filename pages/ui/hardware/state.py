"""The wishes of this session: in the link beside the plan (keys "hw.…"), in the session, and in the widgets.

As on the Plan page the link decides, and what the user chose is all that is kept.
"""

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.ui import state
from planner.hardware.custom import CustomGpu
from planner.recommend.wishes import Wishes, owned_text, parse_wishes
from planner.result import Problem

_PREFIX = "hw."
_RAW, _WRITTEN = "hw.raw", "hw.written"


def read() -> tuple[Wishes, tuple[Problem, ...]]:
    """The session's wishes, and what was wrong with the link. Call before the plan is read."""
    query = {key.removeprefix(_PREFIX): value for key, value in st.query_params.items() if key.startswith(_PREFIX)}
    if state.has_arrived() and not query and _RAW in st.session_state:
        st.session_state[_WRITTEN] = query
    if query != st.session_state.get(_WRITTEN):
        st.session_state[_RAW] = query
        st.session_state[_WRITTEN] = query
    return parse_wishes(raw())


def raw() -> dict[str, str]:
    """What the user chose, as text by id."""
    return dict(st.session_state.get(_RAW, {}))


def write() -> None:
    """Put the wishes into the address. Call before the plan is written."""
    chosen = raw()
    if chosen == st.session_state.get(_WRITTEN):
        return
    st.session_state[_WRITTEN] = chosen
    others = {key: value for key, value in st.query_params.items() if not key.startswith(_PREFIX)}
    st.query_params.from_dict({**others, **{_PREFIX + key: value for key, value in chosen.items()}})


def change(values: Mapping[str, Any]) -> None:
    """Set some wishes (None or "": no longer wished)."""
    kept = {**raw(), **values}
    st.session_state[_RAW] = {key: str(value) for key, value in kept.items() if value not in (None, "")}


def set_owned(wishes: Wishes, gpu_id: str, count: int, price: float) -> None:
    """Own so many of a card, bought at this price each; none: no longer own it."""
    entries = [part for part in owned_text(wishes.owned).split(",") if part and part.split(":")[0] != gpu_id]
    if count:
        entries.append(f"{gpu_id}:{count}:{price:g}")
    change({"owned": ",".join(entries)})


def with_card(wishes: Wishes, card: CustomGpu) -> Wishes:
    """The wishes with this card among the user's own."""
    if card not in wishes.custom:
        set_custom((*(one for one in wishes.custom if one.id != card.id), card))
        wishes, _ = parse_wishes(raw())
    return wishes


def set_custom(cards: tuple[CustomGpu, ...]) -> None:
    """Have these cards beside the catalogue's."""
    text = json.dumps({"gpus": [card.as_mapping() for card in cards]}, separators=(",", ":")) if cards else None
    change({"custom": text})
