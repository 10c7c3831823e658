"""What the search varies: in the link beside the plan (keys "ly.…") and in the widgets."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.ui import state

_PREFIX = "ly."
_RAW, _WRITTEN = "ly.raw", "ly.written"
LARGEST_BATCH = 2**24


@dataclass(frozen=True, slots=True)
class Wishes:
    """Choices of the search; `batch` None: the plan's own."""

    batch: int | None
    fewer: bool
    offload: bool
    precision: bool


def read() -> Wishes:
    """The session's wishes; the link decides, what is wrong in it is not chosen. Call before the plan is read."""
    query = {key.removeprefix(_PREFIX): value for key, value in st.query_params.items() if key.startswith(_PREFIX)}
    if state.has_arrived() and not query and _RAW in st.session_state:
        st.session_state[_WRITTEN] = query
    if query != st.session_state.get(_WRITTEN):
        st.session_state[_RAW] = query
        st.session_state[_WRITTEN] = query
    raw = st.session_state.get(_RAW, {})
    batch = raw.get("batch", "")
    whole = batch.isascii() and batch.isdigit() and len(batch) < 9 and 0 < int(batch) <= LARGEST_BATCH
    fewer, offload, precision = (raw.get(flag) == "true" for flag in ("fewer", "offload", "precision"))
    return Wishes(int(batch) if whole else None, fewer, offload, precision)


def change(key: str, value: Any) -> None:
    """Set one wish (None or False: no longer wished)."""
    kept = {**st.session_state.get(_RAW, {}), key: "true" if value is True else value}
    st.session_state[_RAW] = {id: str(one) for id, one in kept.items() if one not in (None, False, "")}


def write() -> None:
    """Put the wishes into the address. Call before the plan is written."""
    chosen = dict(st.session_state.get(_RAW, {}))
    if chosen == st.session_state.get(_WRITTEN):
        return
    st.session_state[_WRITTEN] = chosen
    others = {key: value for key, value in st.query_params.items() if not key.startswith(_PREFIX)}
    st.query_params.from_dict({**others, **{_PREFIX + key: value for key, value in chosen.items()}})
