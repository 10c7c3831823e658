"""The slim live strip: this machine's GPUs, or how to see one."""

import streamlit as st

from pages.ui import shell
from pages.ui.text import Text
from planner.telemetry import nvml
from planner.telemetry.sample import Absent, GpuSample, Metric, Missing

_REFRESH = "2s"


def draw(text: Text) -> None:
    """Name, memory, busy time and power of each GPU here, refreshed by itself; with none, one quiet line."""
    samples = _read()
    if isinstance(samples, Absent):
        st.html(f'<p class="gp-note">{_reason(text, samples)}</p>')
    else:
        shell.fragment(text, run_every=_REFRESH)(lambda: _draw_samples(text))()


@st.cache_data(ttl=1.5, show_spinner=False)
def _read() -> tuple[GpuSample, ...] | Absent:
    """One reading for all sessions of this process."""
    return nvml.read()


def _draw_samples(text: Text) -> None:
    samples = _read()
    if isinstance(samples, Absent):
        st.html(f'<p class="gp-note">{_reason(text, samples)}</p>')
        return
    for sample in samples:
        figures = [
            text.t(
                "{used} of {total}",
                used=_metric(text, sample.memory_used, text.bytes),
                total=_metric(text, sample.memory_total, text.bytes),
            ),
            text.t("busy {share}", share=_metric(text, sample.utilization, text.percent)),
            _metric(text, sample.power, lambda watts: text.isolate(f"{watts:.0f} W")),
        ]
        st.html(f'<p class="gp-note"><b>{text.isolate(sample.name)}</b><br>{" · ".join(figures)}</p>')


def _metric(text: Text, value: Metric, show) -> str:  # type: ignore[no-untyped-def]
    if isinstance(value, Missing):
        return {
            Missing.NOT_SUPPORTED: text.t("not reported by this GPU"),
            Missing.NO_PERMISSION: text.t("no permission"),
            Missing.GPU_LOST: text.t("GPU lost"),
            Missing.FAILED: text.t("reading failed"),
        }[value]
    return str(show(value))


def _reason(text: Text, absent: Absent) -> str:
    return {
        Absent.NO_LIBRARY: text.t(
            "No NVIDIA driver on this machine. To see a GPU live here, run GPU Planner on the machine that has it."
        ),
        Absent.NO_DRIVER: text.t("The NVIDIA driver is installed but not loaded: try nvidia-smi in a terminal."),
        Absent.VERSION_MISMATCH: text.t("The NVIDIA driver was updated under this app: restart the app."),
        Absent.NO_PERMISSION: text.t("This user may not read the GPU."),
        Absent.NO_GPU: text.t("The NVIDIA driver sees no GPU."),
        Absent.FAILED: text.t("The NVIDIA driver did not answer."),
    }[absent]
