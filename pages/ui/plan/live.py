"""The slim live strip: this machine's GPUs, or how to see one."""

from html import escape

import streamlit as st

from pages.ui import shell
from pages.ui.monitor import pollers
from pages.ui.text import Text
from pages.ui.words.telemetry import absent_sentence, metric
from planner.telemetry.sample import Kind, Reading

_REFRESH = "2s"


def draw(text: Text) -> None:
    """Name, memory, busy time and power of each GPU here, refreshed by itself; with none, one quiet line."""
    reading = pollers.local().watch()
    if reading.absent is None:
        shell.fragment(text, run_every=_REFRESH)(lambda: _draw(text, pollers.local().watch()))()
    else:
        _draw(text, reading)


def _draw(text: Text, reading: Reading) -> None:
    if reading.absent is not None:
        st.html(f'<p class="gp-note">{absent_sentence(text, reading.absent)}</p>')
        return
    for sample in reading.samples:
        if sample.device.kind is not Kind.GPU:
            continue
        figures = [
            text.t(
                "{used} of {total}",
                used=metric(text, "memory_used", sample.metric("memory_used")),
                total=metric(text, "memory_total", sample.metric("memory_total")),
            ),
            text.t("busy {share}", share=metric(text, "utilization", sample.metric("utilization"))),
            metric(text, "power", sample.metric("power")),
        ]
        st.html(f'<p class="gp-note"><b>{text.isolate(escape(sample.device.name))}</b><br>{" · ".join(figures)}</p>')
