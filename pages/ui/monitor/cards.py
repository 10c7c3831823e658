"""One card a GPU: bars for what has a limit, figures for the rest, and a word where a figure is missing."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.ui.text import Text
from pages.ui.words.telemetry import event_reasons, metric, metric_name
from planner.telemetry.sample import METRICS, Device, Kind, Metric
from planner.telemetry.trace import Trace

_FIGURES = (
    "sm_active",
    "tensor_active",
    "dram_active",
    "temperature",
    "sm_clock",
    "pcie_receive",
    "pcie_transmit",
    "nvlink_receive",
    "fan",
    "energy",
    "ecc_uncorrected",
)
STALE_INTERVALS = 3
"""A device without a value for so many readings is grey."""


def draw(text: Text, trace: Trace) -> None:
    """The cards of all GPUs at the end of the trace."""
    instances = [device for device in trace.gpus if device.kind is Kind.MIG]
    cards = [
        _card(text, trace, device, [one for one in instances if one.parent == device.uuid])
        for device in trace.gpus
        if device.kind is Kind.GPU
    ]
    st.html(f'<div class="gp-cards">{"".join(cards)}</div>')


def _card(text: Text, trace: Trace, device: Device, instances: Sequence[Device]) -> str:
    def value(name: str) -> Metric:
        return trace.latest(device.uuid, name, _patience(trace))

    lost = value("lost") == 1.0
    bars = "".join(
        (
            _bar(text, "utilization", value("utilization"), 1.0),
            _bar(text, "memory_used", value("memory_used"), value("memory_total")),
            _bar(text, "power", value("power"), value("power_limit")),
        )
    )
    figures = "".join(
        f"<div><dt>{escape(metric_name(text, name))}</dt><dd>{escape(metric(text, name, found))}</dd></div>"
        for name in _FIGURES
        if isinstance(found := value(name), float)
    )
    notes = [text.t("GPU lost: it no longer answers")] if lost else []
    reasons = value("event_reasons")
    if isinstance(reasons, float) and (held := event_reasons(text, reasons)):
        notes.append(text.t("Clocks: {reasons}", reasons=text.join(held)))
    xid = value("xid")
    if isinstance(xid, float) and xid:
        notes.append(text.t("Xid error {code}", code=int(xid)))
    if device.shared_memory:
        notes.append(text.t("Memory is shared with the CPU"))
    absent = [name for name in _FIGURES if not isinstance(value(name), float)]
    return (
        f'<section class="gp-gpu{" gp-lost" if lost else ""}"><h3>{_title(text, device)}</h3>{bars}'
        f'<dl class="gp-figures">{figures}</dl>'
        + "".join(f'<p class="gp-gpu-note">{escape(note)}</p>' for note in notes)
        + "".join(_instance(text, trace, one) for one in instances)
        + _absent(text, trace, device, absent)
        + "</section>"
    )


def _patience(trace: Trace) -> float:
    """Seconds for which an older value still stands: slow metrics are read every few seconds."""
    return 12.0 if len(trace.times) < 2 else max(12.0, STALE_INTERVALS * float(trace.times[-1] - trace.times[-2]))


def _title(text: Text, device: Device) -> str:
    index = "" if device.index is None else f"{device.index} · "
    host = f"<small>{escape(device.host)}</small> " if device.host else ""
    return f'<span class="gp-gpu-name">{host}{text.isolate(escape(index + device.name))}</span>'


def _bar(text: Text, name: str, value: Metric, limit: Metric, *, label: str = "") -> str:
    """A bar with its figure; only the figure where the limit is not known, only the reason where there is no value."""
    shown = metric(text, name, value)
    share = METRICS[name] == "share"
    filled = ""
    if isinstance(value, float) and isinstance(limit, float) and limit > 0:
        part = min(1.0, max(0.0, value / limit))
        level = " gp-full" if not share and part >= 0.95 else ""
        filled = f'<i class="gp-level{level}" style="width:{100 * part:.1f}%"></i>'
        if not share:
            shown = text.t("{used} of {total}", used=shown, total=metric(text, name, limit))
    return (
        f'<div class="gp-meter"><span>{escape(label or metric_name(text, name))}</span><b>{escape(shown)}</b>'
        f'<div class="gp-meter-track" aria-hidden="true">{filled}</div></div>'
    )


def _instance(text: Text, trace: Trace, device: Device) -> str:
    used = trace.latest(device.uuid, "memory_used")
    return _bar(text, "memory_used", used, trace.latest(device.uuid, "memory_total"), label=device.name)


def _absent(text: Text, trace: Trace, device: Device, names: Sequence[str]) -> str:
    """What is missing and why, behind one line."""
    if not names:
        return ""
    rows = "".join(
        f"<li>{escape(metric_name(text, name))}: {escape(metric(text, name, trace.reason(device.uuid, name)))}</li>"
        for name in names
    )
    head = text.n("{count} figure is missing", "{count} figures are missing", count=len(names))
    return f'<details class="gp-gpu-note"><summary>{escape(head)}</summary><ul>{rows}</ul></details>'
