"""The page's parts in their order, each refreshed at its own pace, whether live or replayed."""

import time
from collections.abc import Callable

import streamlit as st

from pages.ui import shell
from pages.ui.monitor import against, alerts, cards, diagnosis, history, machine, recorder, replay
from pages.ui.monitor.note import note, section
from pages.ui.monitor.source import LOCAL, Chosen
from pages.ui.text import Text
from pages.ui.words.telemetry import absent_sentence
from planner.telemetry.sample import Kind, Missing, Process
from planner.telemetry.trace import Trace

_HISTORY_SECONDS = 600.0
_CARDS, _CURVE, _JUDGEMENT = 1.0, 2.0, 5.0
"""Seconds between refreshes."""
_STALE = 12
"""Figures older than so many intervals are said to be old."""


def draw(text: Text, chosen: Chosen) -> None:
    """Everything about the chosen source."""
    live = chosen.poller is not None
    pace = 1.0
    if live:
        pace = max(1.0, chosen.poller.interval)
        if _present(chosen):
            recorder.draw(text, chosen.poller)
    else:
        replay.controls(text, chosen.trace)
    every = (lambda seconds: seconds * pace) if live or replay.is_playing() else (lambda _: None)
    _part(text, every(_CARDS), lambda: _now(text, chosen))
    if _present(chosen):
        section(text.t("Over time"))
        name = history.choose_metric(text, _trace(chosen))
        if name:
            _part(text, every(_CURVE), lambda: _curve(text, chosen, name))
        section(text.t("Diagnosis"))
        with st.container(horizontal=True, key="gp-monitor-settings"):
            changed, steps = diagnosis.settings(text)
        _part(text, every(_JUDGEMENT), lambda: diagnosis.draw(text, _trace(chosen), changed, steps, live=live))
        section(text.t("Alerts"))
        _part(text, every(_JUDGEMENT), lambda: alerts.draw(text, _trace(chosen), live))
        if live:
            with st.popover(text.t("Send alerts"), type="tertiary"):
                alerts.webhook(text, chosen.poller)
        section(text.t("Processes"))
        _part(text, every(_JUDGEMENT), lambda: _processes(text, chosen))
        against.draw(text, _trace(chosen), _known_processes(chosen))
        with st.container(horizontal=True, key="gp-monitor-files"):
            history.downloads(text, _trace(chosen))


def _part(text: Text, every: float | None, what: Callable[[], None]) -> None:
    shell.fragment(text, run_every=every)(what)()


def _trace(chosen: Chosen) -> Trace:
    """What there is to show at this moment."""
    if chosen.poller is not None:
        chosen.poller.watch()
        return chosen.poller.ring.trace(_HISTORY_SECONDS)
    assert chosen.trace is not None
    return replay.part(chosen.trace)


def _present(chosen: Chosen) -> bool:
    """Whether the source has a GPU, or had one while we watched."""
    if chosen.poller is None:
        return True
    reading = chosen.poller.watch()
    return reading.absent is None or bool(chosen.poller.ring.trace(1.0).gpus)


def _now(text: Text, chosen: Chosen) -> None:
    """The cards, or why there are none and what to do."""
    if chosen.poller is not None:
        reading = chosen.poller.watch()
        if reading.absent is not None:
            st.warning(absent_sentence(text, reading.absent), icon=":material/info:")
            if chosen.kind == LOCAL:
                _how_to_connect(text)
        elif (age := time.time() - reading.time) > _STALE * max(1.0, chosen.poller.interval):
            note(text.t("The newest figures are {age} old.", age=text.seconds(age)))
    trace = _trace(chosen)
    if trace.gpus:
        history.draw_map(text, trace, "utilization")
        cards.draw(text, trace)
    machine.draw_host(text, trace)


def _how_to_connect(text: Text) -> None:
    steps = (
        text.t("Run GPU Planner on the machine that has the GPU, and open its page through an SSH tunnel:"),
        text.t("Or choose “Prometheus server” above, if dcgm-exporter watches your machines."),
        text.t("Or choose “Log or recording” and open a log that nvidia-smi wrote."),
        text.t("Or look around in the demo recording."),
    )
    tunnel = '<pre dir="ltr" class="gp-command">ssh -L 8501:localhost:8501 gpu-machine</pre>'
    items = "".join(f"<li>{one}{tunnel if place == 0 else ''}</li>" for place, one in enumerate(steps))
    st.html(f'<ul class="gp-steps">{items}</ul>')


def _curve(text: Text, chosen: Chosen, name: str) -> None:
    trace = _trace(chosen)
    if len(trace.times) > 1:
        history.draw(text, trace, name, None if chosen.poller is not None else float(trace.times[-1]))
    else:
        note(text.t("The curve begins with the second reading."))


def _known_processes(chosen: Chosen) -> tuple[Process, ...]:
    """The processes that the source tells of, if any."""
    found = chosen.poller.watch().processes if chosen.poller is not None else chosen.processes
    return () if isinstance(found, Missing) else found


def _processes(text: Text, chosen: Chosen) -> None:
    processes = chosen.processes
    if chosen.poller is not None:
        found = chosen.poller.watch().processes
        local = chosen.kind == LOCAL
        machine.draw_processes(text, _trace(chosen), found if local else Missing.NOT_IN_SOURCE, local=local)
        if not local:
            note(text.t("This source tells nothing of processes."))
        return
    gpus = [device for device in (chosen.trace.devices if chosen.trace else ()) if device.kind is Kind.GPU]
    if processes and gpus:
        machine.draw_processes(text, _trace(chosen), processes, local=False)
    else:
        note(text.t("This source tells nothing of processes."))
