"""The checks of this machine, worst first, and the report to copy."""

from html import escape

import streamlit as st

from pages.ui import export
from pages.ui.headline import copy_button_html
from pages.ui.monitor.note import note, section
from pages.ui.text import Text
from pages.ui.words import environment as words
from planner.environment.check import Check, State
from planner.environment.checks import check_all
from planner.environment.facts import Facts
from planner.environment.probe import gather
from planner.environment.report import as_mapping, as_text

_ORDER = (State.PROBLEM, State.WARNING, State.UNKNOWN, State.OK)


@st.cache_data(ttl=600, show_spinner=False)
def _facts(frameworks: bool) -> Facts:
    """What was found out; frameworks are imported in another process, which takes seconds."""
    return gather(frameworks=frameworks)


def draw(text: Text) -> None:
    """The result in a sentence, then every check."""
    with st.container(horizontal=True, vertical_alignment="center", key="gp-environment-actions"):
        again = st.button(text.t("Check again"), icon=":material/refresh:", key="gp-environment-again")
        thorough = st.toggle(
            text.t("Look into frameworks"),
            key="gp-environment-frameworks",
            help=text.t("Imports PyTorch, TensorFlow and JAX, where installed, in another process: up to a minute."),
        )
    if again:
        _facts.clear()
    with st.spinner(text.t("Looking at this machine…"), show_time=True):
        facts = _facts(thorough)
    checks = check_all(facts)
    _summary(text, facts, checks)
    shown = sorted(
        (one for one in checks if one.state is not State.NOT_APPLICABLE), key=lambda one: _ORDER.index(one.state)
    )
    rows = "".join(_row(text, one) for one in shown)
    st.html(f'<ul class="gp-checks">{rows}</ul>')
    skipped = [one for one in checks if one.state is State.NOT_APPLICABLE]
    if skipped:
        names = text.join([words.check_name(text, one.id) for one in skipped])
        note(text.t("Not applicable here: {names}", names=names))
    with st.container(horizontal=True, vertical_alignment="center", key="gp-environment-report"):
        st.html(copy_button_html(text.t("Copy report"), as_text(facts, checks)), width="content")
        export.download_json(text, lambda: as_mapping(facts, checks), name="environment", key="gp-environment-json")
    note(text.t("The report leaves out UUIDs, home folders, addresses and what looks like a secret."))


def _summary(text: Text, facts: Facts, checks: tuple[Check, ...]) -> None:
    problems = sum(one.state is State.PROBLEM for one in checks)
    warnings = sum(one.state is State.WARNING for one in checks)
    if problems:
        said = text.n("{count} problem found", "{count} problems found", count=problems)
    elif warnings:
        said = text.n("{count} thing to look at", "{count} things to look at", count=warnings)
    elif facts.gpus:
        said = text.t("Everything belongs together")
    else:
        said = text.t("No NVIDIA GPU here: only what does not need one was checked")
    section(said)


def _row(text: Text, one: Check) -> str:
    expected = ""
    if one.expected and one.state is not State.OK:
        expected = f"<span>{escape(text.t('expected: {value}', value=one.expected))}</span>"
    advice = ""
    if one.advice:
        advice = f"<p>{escape(words.advice(text, one.advice))}</p>"
    state = escape(words.state_name(text, one.state))
    return (
        f'<li class="gp-check-{one.state}"><b class="gp-check-state">{state}</b>'
        f"<div><h3>{escape(words.check_name(text, one.id))} <code>{one.id}</code></h3>"
        f"<span>{escape(text.isolate(one.found))}</span> {expected}{advice}"
        f'<small dir="ltr">{escape(one.how)}</small></div></li>'
    )
