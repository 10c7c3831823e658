"""The scenario being edited: its rows and settings in the session, with undo."""

import copy
from datetime import date, timedelta
from typing import Any

import streamlit as st

_ROWS, _EARLIER, _EDITION = "capacity.rows", "capacity.earlier", "capacity.edition"
_STEPS = 20  # of undo


def rows() -> dict[str, Any]:
    """Settings and rows as they are edited. Changed only through `put`."""
    return st.session_state.setdefault(_ROWS, {**_settings(), "pools": [], "workloads": []})


def put(**changes: Any) -> None:
    """New rows or settings; what was before can be had back."""
    before = rows()
    st.session_state[_EARLIER] = [*st.session_state.get(_EARLIER, []), copy.deepcopy(before)][-_STEPS:]
    st.session_state[_ROWS] = {**before, **changes}


def replace(whole: dict[str, Any]) -> None:
    """Another scenario: the tables start anew."""
    put(**whole)
    st.session_state[_EDITION] = edition() + 1


def undo() -> None:
    """Back by one change."""
    earlier = st.session_state.get(_EARLIER, [])
    if earlier:
        st.session_state[_ROWS] = earlier.pop()
        st.session_state[_EDITION] = edition() + 1


def can_undo() -> bool:
    """Whether there is a change to take back."""
    return bool(st.session_state.get(_EARLIER))


def edition() -> int:
    """Rises when the tables must be drawn from the rows again, not from what was typed into them."""
    return int(st.session_state.get(_EDITION, 0))


def _settings() -> dict[str, Any]:
    today = date.today()
    return {"start": (today - timedelta(days=today.weekday())).isoformat(), "weeks": 26, "growth_per_year": 0.0}


def example() -> dict[str, Any]:
    """A team of 88 GPUs with nine workloads: made up, to start from."""
    start = date.fromisoformat(_settings()["start"])

    def day(week: int) -> str:
        return (start + timedelta(days=7 * week)).isoformat()

    pools = [
        {
            "name": "H100 cluster",
            "gpu": "h100-sxm5-80gb",
            "nodes": 8,
            "gpus_per_node": 8,
            "site": "Lab",
            "price_per_gpu_hour": 1.9,
            "on_demand": False,
            "from": "",
            "until": "",
        },
        {
            "name": "L40S servers",
            "gpu": "l40s",
            "nodes": 3,
            "gpus_per_node": 8,
            "site": "Office",
            "price_per_gpu_hour": 0.45,
            "on_demand": False,
            "from": "",
            "until": "",
        },
    ]
    workloads = [
        ("Pre-train 8B", 32, 60_000, "h100-sxm5-80gb", 0, 16, 5),
        ("Fine-tune 70B", 16, 8_000, "h100-sxm5-80gb", 2, 8, 7),
        ("Ablations", 8, 12_000, "h100-sxm5-80gb", 0, None, 2),
        ("Chat service", 12, 0, "h100-sxm5-80gb|l40s", 0, None, 9),
        ("Embedding service", 4, 0, "l40s", 0, None, 8),
        ("Vision model", 8, 9_000, "l40s", 1, 12, 4),
        ("Speech model", 4, 3_000, "l40s", 3, None, 3),
        ("Evaluation runs", 2, 2_500, "", 0, None, 1),
        ("Pre-train 13B", 64, 90_000, "h100-sxm5-80gb", 8, 24, 6),
    ]
    keys = ("name", "gpus", "gpu_hours", "gpu_types")
    made = [
        {
            **dict(zip(keys, w[:4], strict=True)),
            "start": day(w[4]),
            "deadline": "" if w[5] is None else day(w[5]),
            "priority": w[6],
        }
        for w in workloads
    ]
    return {**_settings(), "pools": pools, "workloads": made}
