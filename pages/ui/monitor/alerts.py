"""Alerts on the page, and to a webhook if the user gives one."""

import time
from datetime import UTC, datetime
from functools import partial
from html import escape

import streamlit as st

from pages.ui.monitor.note import note
from pages.ui.text import Text
from pages.ui.words.diagnosis import alert_name
from pages.ui.words.telemetry import device_label
from planner.telemetry.alerts import CLEARED, FIRED, alerts_of
from planner.telemetry.poller import Poller
from planner.telemetry.prometheus import checked_address
from planner.telemetry.trace import Event, Trace
from planner.telemetry.webhook import send_later

_SHOWN = 8


def events_of(trace: Trace, live: bool) -> tuple[Event, ...]:
    """What fired: as kept by a poller or a recording, or as a log would have fired."""
    return trace.events if live or trace.events else alerts_of(trace)


def draw(text: Text, trace: Trace, live: bool) -> None:
    """The newest events; what is over is quiet."""
    names = {device.uuid: device_label(text, device) for device in trace.devices}
    events = [event for event in events_of(trace, live) if event.code in (FIRED, CLEARED)]
    if not events:
        note(text.t("No alert."))
        return
    over = {(one.uuid, one.parameters["alert"]) for one in events if one.code == CLEARED}
    rows = []
    for event in reversed(events[-_SHOWN:]):
        about = alert_name(text, str(event.parameters.get("alert", "")))
        gpu = text.t("GPU {names}", names=names.get(event.uuid, event.uuid))
        state = text.t("over") if event.code == CLEARED else text.t("alert")
        quiet = event.code == CLEARED or (event.uuid, event.parameters.get("alert")) in over
        rows.append(
            f'<li class="{"gp-muted" if quiet else "gp-does-not-fit"}"><b>{escape(about)}</b> · {escape(gpu)} · '
            f"{escape(state)} · {escape(_when(text, event.time, live))}</li>"
        )
    st.html(f'<ul class="gp-alerts">{"".join(rows)}</ul>')


def _when(text: Text, moment: float, live: bool) -> str:
    if live:
        return text.t("{time} ago", time=text.seconds(max(0.0, time.time() - moment)))
    return text.isolate(datetime.fromtimestamp(moment, UTC).strftime("%H:%M:%S UTC"))


def webhook(text: Text, poller: Poller) -> None:
    """An address that gets each alert of this source as JSON; kept while the process runs."""
    known = _webhooks()
    typed = st.text_input(
        text.t("Webhook for alerts"),
        value=known.get(poller.source.name, ("", None))[0],
        key="gp-monitor-webhook",
        placeholder="https://hooks.example.com/…",
        help=text.t("Each alert is sent there as JSON, by the machine that runs GPU Planner. Empty: nowhere."),
    )
    address = checked_address(typed) if typed else None
    if typed and address is None:
        st.error(text.t("This is no http or https address: {address}", address=typed), icon=":material/error:")
        return
    before = known.get(poller.source.name)
    if before and before[1] in poller.on_event and before[0] != typed:
        poller.on_event.remove(before[1])
        known.pop(poller.source.name)
    if address and (before is None or before[0] != typed):
        hear = partial(send_later, typed.strip())
        poller.on_event.append(hear)
        known[poller.source.name] = (typed, hear)


@st.cache_resource(show_spinner=False)
def _webhooks() -> dict[str, tuple[str, partial[None]]]:
    return {}
