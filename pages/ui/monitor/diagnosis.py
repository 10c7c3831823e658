"""The diagnosis on the page: what was found, on what evidence, what to do, and what could not be looked at."""

from html import escape

import streamlit as st

from pages.ui.monitor.note import note
from pages.ui.text import Text
from pages.ui.words import diagnosis as words
from pages.ui.words.telemetry import device_label
from planner.telemetry.diagnosis.diagnose import diagnose
from planner.telemetry.diagnosis.thresholds import THRESHOLDS, limits
from planner.telemetry.diagnosis.verdict import Diagnosis, Outcome, Verdict
from planner.telemetry.diagnosis.view import Steps, busy_part
from planner.telemetry.trace import Trace

_CHANGED = "gp-monitor-thresholds"
_PLANNED = {
    "larger-batch",
    "smaller-batch",
    "less-recompute",
    "less-offload",
    "mixed-precision",
    "quantize",
    "more-workers",
    "accumulate",
    "fused-optimizer",
    "compile",
}
"""Advice that the plan has an input for."""


def settings(text: Text) -> tuple[dict[str, float], Steps | None]:
    """What the user tells of the training loop, and thresholds set otherwise."""
    with st.popover(text.t("What the figures can't tell"), type="tertiary"):
        seconds = st.number_input(
            text.t("Time of a step (s)"), min_value=0.0, value=None, format="%.3f", key="gp-monitor-step"
        )
        share = st.number_input(
            text.t("Share of communication in a step (%), from a profiler"),
            min_value=0.0,
            max_value=100.0,
            value=None,
            key="gp-monitor-communication",
        )
    changed = st.session_state.setdefault(_CHANGED, {})
    with st.popover(text.t("Thresholds"), type="tertiary"):
        name = st.selectbox(text.t("Threshold"), list(THRESHOLDS), key="gp-monitor-threshold")
        one, values = THRESHOLDS[name], limits(changed)
        st.html(f'<p class="gp-note" dir="ltr">{escape(one.source)} ({escape(one.unit)})</p>')
        value = st.number_input(text.t("Value"), value=values[name], key=f"gp-monitor-threshold-{name}", format="%g")
        if value != one.value:
            changed[name] = value
        else:
            changed.pop(name, None)
        if changed:
            note(text.t("Set otherwise: {names}", names=text.join(list(changed))))
    steps = None
    if seconds or share is not None:
        steps = Steps(seconds=seconds or 1.0, communication=None if share is None else share / 100)
    return dict(changed), steps


def draw(text: Text, trace: Trace, changed: dict[str, float], steps: Steps | None, *, live: bool) -> None:
    """The findings of the last minute; of a recording, of the last minute in which anything ran."""
    found = diagnose(trace, changed, steps, None if live else busy_part(trace)[1])
    if not live and found.readings:
        start, end = (moment - trace.times[0] for moment in (found.start, found.end))
        note(text.t("Judged: second {start} to {end}", start=text.number(start, 0), end=text.number(end, 0)))
    names = {device.uuid: device_label(text, device) for device in trace.devices}
    told = found.with_outcome(Outcome.FOUND, Outcome.UNDECIDED)
    parts = [_verdict(text, one, names, len(trace.gpus)) for one in told]
    if not parts:
        parts = [f'<p class="gp-note">{escape(_nothing(text, found))}</p>']
    st.html("".join(parts) + _not_evaluated(text, found))


def _nothing(text: Text, found: Diagnosis) -> str:
    if any("readings" in one.missing for one in found.verdicts):
        return text.n(
            "Only {count} reading so far: a judgement needs more.",
            "Only {count} readings so far: a judgement needs more.",
            count=found.readings,
        )
    return text.t("Nothing stands out in the figures that there are.")


def _verdict(text: Text, one: Verdict, names: dict[str, str], gpus: int) -> str:
    who = ""
    if one.uuids and len(one.uuids) < gpus:
        listed = text.join([names.get(uuid, uuid) for uuid in one.uuids])
        who = " · " + text.t("GPU {names}", names=listed)
    facts = [words.evidence(text, each) for each in one.evidence]
    if one.seconds and one.evidence:
        facts.append(text.t("over {time}", time=text.seconds(one.seconds)))
    facts.append(words.confidence(text, one.confidence))
    lines = [f"<p>{escape(' · '.join(facts))}</p>"]
    if one.outcome is Outcome.UNDECIDED:
        between = text.join([text.t("“{name}”", name=words.verdict_name(text, rule)) for rule in one.between])
        settles = text.join([words.missing_input(text, name) for name in one.missing])
        open_question = text.t(
            "Undecided between {rules}. This would settle it: {inputs}.", rules=between, inputs=settles
        )
        lines.append(f"<p>{escape(open_question)}</p>")
    advice = "".join(f"<li>{_advice(text, id)}</li>" for id in one.advice)
    good = " gp-good" if one.rule in ("healthy",) else ""
    return (
        f'<article class="gp-finding{good}"><h3>{escape(words.verdict_name(text, one.rule) + who)}</h3>'
        f"{''.join(lines)}{f'<ul>{advice}</ul>' if advice else ''}</article>"
    )


def _advice(text: Text, id: str) -> str:
    said = escape(words.advice(text, id))
    if id not in _PLANNED:
        return said
    link = escape(text.t("Try it in the plan"))
    return f'{said} <a href="./?lang={text.language}" target="_self">{link}</a>'


def _not_evaluated(text: Text, found: Diagnosis) -> str:
    """What could not be looked at is no clean bill of health: it is listed with what is missing."""
    skipped = found.with_outcome(Outcome.NOT_EVALUATED)
    if not skipped:
        return ""
    rows = []
    for one in skipped:
        inputs = text.join([words.missing_input(text, name) for name in one.missing])
        row = text.t("{rule}: {inputs}", rule=words.verdict_name(text, one.rule), inputs=inputs)
        rows.append(f"<li>{escape(row)}</li>")
    head = text.n(
        "{count} question could not be answered: what is missing",
        "{count} questions could not be answered: what is missing",
        count=len(skipped),
    )
    return f'<details class="gp-note"><summary>{escape(head)}</summary><ul>{"".join(rows)}</ul></details>'
