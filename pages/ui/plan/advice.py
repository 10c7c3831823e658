"""What to change: the planner's suggestions, each with its predicted effect and a button that applies it."""

import json
from functools import lru_cache

import streamlit as st

from pages.ui import state, tables, words
from pages.ui.headline import Verdict, section_html
from pages.ui.text import Text
from planner.advice.advise import Suggestion, advise
from planner.estimate import estimate
from planner.plan.plan import Plan, from_json, to_json
from planner.plan.request import request_of

_SHOWN = 6


def draw(text: Text, plan: Plan) -> None:
    """The ranked list; longer ones can be unfolded."""
    suggestions = _suggestions(json.dumps(to_json(plan)))
    note = text.t("Each is computed as its own plan. The browser's back button undoes one.")
    st.html(section_html(text.t("What to change"), note if suggestions else ""))
    if not suggestions:
        none = text.t("No single change makes this plan clearly faster or cheaper.")
        st.html(f'<p class="gp-note">{none}</p>')
        return
    more = len(suggestions) > _SHOWN and st.session_state.get("advice-more", False)
    shown = suggestions if more else suggestions[:_SHOWN]
    by_id = {suggestion.id: suggestion for suggestion in shown}
    tables.change_rows(text, [_row(text, one) for one in shown], lambda id: state.change(_sets(by_id[id])))
    if len(suggestions) > _SHOWN:
        st.toggle(text.t("Show all {count}", count=len(suggestions)), key="advice-more")


def changes_of(text: Text, plan: Plan) -> list[tables.Change]:
    """The first of them as they are shown, for a report."""
    return [_row(text, one) for one in _suggestions(json.dumps(to_json(plan)))[:_SHOWN]]


@lru_cache(maxsize=128)
def _suggestions(plan: str) -> tuple[Suggestion, ...]:
    """The suggestions for a plan as JSON, so that opening a tab or changing the language computes nothing again."""
    resolved = from_json(json.loads(plan))[0]
    return advise(resolved, estimate(request_of(resolved)))


def _sets(suggestion: Suggestion) -> dict[str, object]:
    return {field: value for change in suggestion.changes for field, value in change.sets.items()}


def _row(text: Text, one: Suggestion) -> tables.Change:
    memory = one.estimate.memory
    if one.fits:
        verdict, sentence = Verdict.FITS, text.t("fits, {size} to spare", size=text.bytes(memory.spare))
    else:
        verdict, sentence = Verdict.DOES_NOT_FIT, text.t("still {size} short", size=text.bytes(abs(memory.spare)))
    effects = []
    if one.speed_ratio is not None:
        effects.append(text.t("{change} speed", change=text.change(one.speed_ratio)))
    if one.cost_ratio is not None and one.trade == "hardware":
        effects.append(text.t("{change} cost", change=text.change(one.cost_ratio)))
    return tables.Change(
        id=one.id,
        sentence=text.join([words.change(text, change.id, change.sets) for change in one.changes]),
        result=text.bytes(memory.required),
        verdict=verdict,
        verdict_words=sentence,
        speed=text.join(effects),
    )
