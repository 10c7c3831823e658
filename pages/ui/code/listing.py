"""The code with its line numbers, each finding at its line."""

from html import escape

import streamlit as st

from pages.ui.monitor.note import section
from pages.ui.text import Text
from pages.ui.words import code_check as words
from planner.code_check.finding import Finding, Report

_WHOLE = 800
"""Scripts of more lines are shown around their findings only."""

_AROUND = 4


def draw(text: Text, report: Report) -> None:
    """The listing; nothing where nothing was found."""
    if not report.findings:
        return
    section(text.t("In the code"))
    st.html(_html(text, report))


def _html(text: Text, report: Report) -> str:
    lines = report.text.split("\n")
    at: dict[int, list[Finding]] = {}
    for one in report.findings:
        for line in one.lines:
            at.setdefault(line, []).append(one)
    shown = set(range(1, len(lines) + 1))
    if len(lines) > _WHOLE:
        shown = {near for line in at for near in range(line - _AROUND, line + _AROUND + 1) if 0 < near <= len(lines)}
    rows, before = [], 0
    for number in sorted(shown):
        if number > before + 1:
            rows.append('<li class="gp-gap" aria-hidden="true">…</li>')
        before = number
        rows.append(_row(text, number, lines[number - 1], at.get(number, [])))
    label = escape(text.t("The code, with findings at their lines"), quote=True)
    listed = f'<ol dir="ltr">{"".join(rows)}</ol>'
    return f'<div class="gp-listing" role="region" tabindex="0" aria-label="{label}">{listed}</div>'


def _row(text: Text, number: int, line: str, found: list[Finding]) -> str:
    marks = "".join(
        f'<p dir="{text.direction}"><b>{escape(words.severity_name(text, one.severity))}</b> '
        f"{escape(words.title(text, one.id))}</p>"
        for one in found
    )
    kind = ' class="gp-found"' if found else ""
    return f'<li id="gp-line-{number}"{kind} value="{number}"><code>{escape(line) or " "}</code>{marks}</li>'
