"""The findings, those that cost most first, each with its repair and what the plan would gain by it."""

from collections.abc import Mapping
from html import escape
from typing import Any

import streamlit as st

from pages.ui import export, leave, state
from pages.ui.code.markdown import as_markdown
from pages.ui.monitor.note import note, section
from pages.ui.text import Text
from pages.ui.words import code_check as words
from planner.code_check.finding import Finding, Report, Severity
from planner.code_check.gains import Gain, gain
from planner.code_check.report import as_mapping
from planner.plan.plan import resolve

_LINES_SHOWN = 6
_NOTABLE = 0.01


def draw(text: Text, report: Report) -> None:
    """How many there are, then each of them, then the files."""
    _summary(text, report)
    plan = state.kept()
    gains = {one.id: found for one in report.findings if one.sets and (found := _gain(one, dict(plan.chosen)))}
    if gains:
        gpu = plan.card.name
        note(text.t("Gains are predicted for the current plan: {model} on {gpu}.", model=plan.spec.name, gpu=gpu))
    for one in report.findings:
        st.html(_finding_html(text, one, gains.get(one.id)))
        found = gains.get(one.id)
        if found is not None and not found.applied and _is_notable(found):
            st.button(
                text.t("Use in the plan"),
                key=f"gp-code-apply-{one.id}",
                icon=":material/input:",
                on_click=leave.choose,
                args=(one.sets,),
            )
    if report.findings:
        with st.container(horizontal=True, key="gp-code-files"):
            export.download_json(text, lambda: as_mapping(report), name="code-check", key="gp-code-json")
            export.download(
                text.t("Download Markdown"),
                lambda: as_markdown(text, report),
                file_name="code-check.md",
                mime="text/markdown",
                key="gp-code-markdown",
            )


def _summary(text: Text, report: Report) -> None:
    count = len(report.findings)
    if count:
        section(text.n("{count} finding", "{count} findings", count=count))
    elif report.loops:
        section(text.t("Nothing found: as far as reading tells, this code keeps the GPU busy"))
    else:
        section(text.t("No training was found in this code"))
    seen = text.n("{count} training loop", "{count} training loops", count=report.loops)
    note(text.join([*(text.isolate(name) for name in report.frameworks), seen]))


@st.cache_data(max_entries=256, show_spinner=False)
def _gain(finding: Finding, chosen: Mapping[str, Any]) -> Gain | None:
    return gain(finding, resolve(chosen))


def place(text: Text, finding: Finding) -> str:
    """Where it is: "Lines 12, 40", or the notebook's cell."""
    if finding.cell is not None:
        return text.t("Cell {cell}", cell=finding.cell)
    shown = text.join([str(text.number(line)) for line in finding.lines[:_LINES_SHOWN]])
    more = "…" if len(finding.lines) > _LINES_SHOWN else ""
    return text.t("Line {lines}", lines=shown + more)


def _is_notable(found: Gain) -> bool:
    return any(ratio is not None and abs(ratio - 1) > _NOTABLE for ratio in (found.speed, found.memory))


def gain_sentence(text: Text, found: Gain) -> str:
    """What the repair brings to the plan."""
    parts = []
    if found.speed is not None and abs(found.speed - 1) > _NOTABLE:
        parts.append(text.t("speed {change}", change=text.change(found.speed)))
    if abs(found.memory - 1) > _NOTABLE:
        parts.append(text.t("memory {change}", change=text.change(found.memory)))
    if not parts:
        return text.t("For the current plan: hardly any difference.")
    said = [text.t("For the current plan: {changes}.", changes=text.join(parts))]
    if not found.fits:
        said.append(text.t("It does not fit the GPU then."))
    return " ".join(said)


def _finding_html(text: Text, one: Finding, found: Gain | None) -> str:
    heavy = {Severity.HIGH: "gp-bad", Severity.MEDIUM: "gp-tight", Severity.LOW: "gp-low"}[one.severity]
    gains = f'<p class="gp-gain">{escape(gain_sentence(text, found))}</p>' if found else ""
    link = f'<a href="#gp-line-{one.line}">{escape(place(text, one))}</a>'
    instead = escape(text.t("Instead:"))
    weight = escape(words.severity_name(text, one.severity))
    return (
        f'<article class="gp-finding gp-code-{heavy}"><h3><small>{weight}</small> '
        f"{escape(words.title(text, one.id))}</h3><p>{link} <code>{escape(one.id)}</code></p>"
        f"<p>{escape(words.reason(text, one.id))}</p>{gains}"
        f'<div class="gp-pair"><pre dir="ltr" class="gp-command">{escape(one.code)}</pre>'
        f'<div><p>{instead}</p><pre dir="ltr" class="gp-command gp-fix">{escape(one.fix)}</pre></div></div></article>'
    )
