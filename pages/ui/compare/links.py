"""The comparison as a link: each plan's own link, with its name and note, as "c.1", "c.2", ... in the address."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from pages.ui.text import Text
from planner.estimate import estimate
from planner.plan.checks import problems_of
from planner.plan.plan import Plan, parse, to_query
from planner.plan.request import request_of
from planner.result import Estimate, Problem
from planner.store.names import LONGEST_NAME, clean
from planner.workload import Request

MOST = 6
LONGEST = 8000
"""Characters of one plan's link."""
LONGEST_NOTE = 300

_ENTRIES, _WRITTEN, _NAME, _NOTE = "compare.entries", "compare.written", "name", "note"


@dataclass(frozen=True, slots=True)
class Entry:
    """One plan of the comparison; with `problems` it has no result, and spoils no other."""

    name: str
    plan: Plan
    problems: tuple[Problem, ...] = ()
    note: str = ""

    def solved(self) -> tuple[Request, Estimate]:
        """The request and its result; only without problems."""
        request = request_of(self.plan)
        return request, estimate(request)


def entry(query: str, name: str = "") -> Entry:
    """A plan from the text of its link, with or without the address before it. Bad values become its problems."""
    pairs = dict(parse_qsl(query[-LONGEST:].rpartition("?")[2], keep_blank_values=True))
    given = one_line(pairs.pop(_NAME, name))[:LONGEST_NAME]
    note = one_line(pairs.pop(_NOTE, ""))[:LONGEST_NOTE]
    plan, problems = parse(
        {key: value for key, value in pairs.items() if key not in ("lang", "saved") and "." not in key}
    )
    return replace(of(plan, given, problems), note=note)


def one_line(written: str) -> str:
    """A name or note as people may write it: without signs that deceive, on one line."""
    return " ".join(clean(written).split())


def of(plan: Plan, name: str, problems: tuple[Problem, ...] = ()) -> Entry:
    """A plan under a name, else its model and GPUs; what makes it impossible is among its problems."""
    gpus = f"{plan.values['gpus']} × {plan.card.name}"
    return Entry(name or f"{plan.spec.name} · {gpus}", plan, (*problems, *problems_of(plan)))


def read(text: Text) -> list[Entry]:
    """The session's comparison; a link that differs from what was last written decides."""
    given = _given()
    if given and given != st.session_state.get(_WRITTEN):
        st.session_state[_ENTRIES] = [entry(given[key]) for key in sorted(given)[:MOST]]
    st.session_state.setdefault(_ENTRIES, [])
    return st.session_state[_ENTRIES]


def write(entries: Sequence[Entry]) -> None:
    """Put the comparison into the address."""
    query = {f"c.{place}": link(one) for place, one in enumerate(entries, 1)}
    st.session_state[_WRITTEN] = query
    if query != _given():
        others = {key: value for key, value in st.query_params.items() if not key.startswith("c.")}
        st.query_params.from_dict({**others, **query})


def link(one: Entry) -> str:
    """A plan with its name and note, as `entry` reads it."""
    note = {_NOTE: one.note} if one.note else {}
    return urlencode({_NAME: one.name, **note, **to_query(one.plan)})


def _given() -> dict[str, str]:
    return {key: value for key, value in st.query_params.items() if key.startswith("c.")}


def show(entries: Sequence[Entry]) -> None:
    """Another comparison in place of the session's, whatever the address says."""
    st.session_state[_ENTRIES] = list(entries[:MOST])
    st.session_state[_WRITTEN] = _given()


def append(new: Entry) -> None:
    """One more plan, where there is room."""
    entries = st.session_state.setdefault(_ENTRIES, [])
    if len(entries) < MOST:
        entries.append(new)
