"""Where the figures come from: this machine, a server, a file, or the demo recording."""

import io
from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from pages.ui import desk
from pages.ui.monitor import pollers, recordings
from pages.ui.monitor.note import note
from pages.ui.text import Text
from planner.telemetry.diagnosis.diagnose import assume
from planner.telemetry.logs.read import read_log
from planner.telemetry.poller import Poller
from planner.telemetry.prometheus import checked_address
from planner.telemetry.recording import MAGIC, NotARecording, read_recording
from planner.telemetry.sample import Process
from planner.telemetry.trace import Trace
from planner.units import GIB

LOCAL, SERVER, FILE, DEMO = "local", "server", "file", "demo"
_DEMO_FILE = Path(__file__).parents[3] / "assets" / "demo" / "h100x8.gprec"
_KEY = "gp-monitor-source"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Something to look at: a poller that is read now, or a trace that is replayed."""

    kind: str
    poller: Poller | None = None
    trace: Trace | None = None
    processes: tuple[Process, ...] = ()


def choose(text: Text) -> Chosen | None:
    """The choice of a source, and what belongs to it; None while there is nothing to show yet."""
    names = {
        LOCAL: text.t("This machine"),
        SERVER: text.t("Prometheus server"),
        FILE: text.t("Log or recording"),
        DEMO: text.t("Demo recording"),
    }
    st.session_state.setdefault(
        _KEY, st.query_params.get("monitor.source") if st.query_params.get("monitor.source") in names else LOCAL
    )
    kind = st.segmented_control(
        text.t("Source"),
        list(names),
        key=_KEY,
        format_func=names.__getitem__,
        required=True,
        label_visibility="collapsed",
    )
    st.query_params["monitor.source"] = kind
    if kind == SERVER:
        return _server(text)
    if kind == FILE:
        return _file(text)
    if kind == DEMO:
        st.info(
            text.t(
                "Replay of a recording, not this machine: eight H100 measured by karpathy/nanoGPT (pull request 643, "
                "MIT licence). First a training run at full power, then another load on the same node. The power limit "
                "of 700 W is assumed."
            ),
            icon=":material/replay:",
        )
        return Chosen(kind=DEMO, trace=_demo())
    return Chosen(kind=LOCAL, poller=pollers.local())


@st.cache_resource(show_spinner=False)
def _demo() -> Trace:
    with _DEMO_FILE.open("rb") as file:
        return read_recording(file)


def _server(text: Text) -> Chosen | None:
    typed = st.text_input(
        text.t("Address of the Prometheus server"),
        key="gp-monitor-server",
        placeholder="http://localhost:9090",
        help=text.t(
            "A server that scrapes dcgm-exporter. It is asked from the machine that runs GPU Planner; nothing else is "
            "contacted."
        ),
    )
    if not typed:
        note(text.t("Enter the address of your server to see its GPUs."))
        return None
    address = checked_address(typed)
    if address is None:
        st.error(text.t("This is no http or https address: {address}", address=typed), icon=":material/error:")
        return None
    return Chosen(kind=SERVER, poller=pollers.server(address))


def _file(text: Text) -> Chosen | None:
    file = st.file_uploader(
        text.t("A log of nvidia-smi, or a recording of ours"),
        key="gp-monitor-file",
        help=text.t(
            "CSV of --query-gpu with or without header, the text of -q, dmon, pmon, scrapes of dcgm-exporter, or a "
            "recording made here. The file is read in memory and not kept."
        ),
    )
    if file is None:
        kept = _recording(text)
        if kept is not None:
            return kept
        st.html(
            '<p class="gp-note">'
            + text.t("To record a log where no GPU Planner runs:")
            + '</p><pre dir="ltr" class="gp-command">nvidia-smi --query-gpu=timestamp,index,uuid,name,utilization.gpu,'
            "memory.used,memory.total,power.draw,power.limit,temperature.gpu,clocks.sm,clocks_event_reasons.active "
            "--format=csv -l 1 &gt; gpus.csv</pre>"
        )
        return None
    try:
        trace, processes = _read(file.getvalue(), file.name)
    except NotARecording:
        trace, processes = None, ()
    if trace is None or not len(trace.times):
        st.error(text.t("Nothing in this file was recognised as a log of GPUs."), icon=":material/error:")
        return None
    return Chosen(kind=FILE, trace=_assumed(text, trace), processes=processes)


def _recording(text: Text) -> Chosen | None:
    """One of the recordings made here, if there are any and one is chosen."""
    with desk.told(text):
        known = recordings.indexed()
        if not known:
            return None
        name = st.selectbox(
            text.t("Or a recording made here"),
            list(known),
            index=None,
            format_func=lambda name: f"{name.removesuffix('.gprec')} · {known[name]}",
            key="gp-monitor-indexed",
        )
        try:
            trace = recordings.opened(name) if name else None
        except NotARecording:
            trace = None
        if name and (trace is None or not len(trace.times)):
            st.error(text.t("This recording can no longer be read."), icon=":material/error:")
        elif trace is not None:
            return Chosen(kind=FILE, trace=trace)
    return None


@st.cache_data(max_entries=4, show_spinner=False)
def _read(data: bytes, name: str) -> tuple[Trace, tuple[Process, ...]]:
    if data.startswith(MAGIC):
        return read_recording(io.BytesIO(data)), ()
    log = read_log(data.decode("utf-8", "replace"), name)
    return log.trace, log.processes


def _assumed(text: Text, trace: Trace) -> Trace:
    """What the log lacks and the user may add, so that more can be said."""
    notes = {
        "columns-guessed": text.t("The file has no header: its columns were told by their contents."),
        "gpus-by-order": text.t("The rows don't say which GPU they are of: rows of one moment are taken in order."),
        "no-times": text.t("Some rows carry no time: they are taken as one second apart."),
    }
    said = [notes[note] for note in trace.notes if note in notes]
    if trace.unknown_columns:
        said.append(
            text.n("{count} column is not used.", "{count} columns are not used.", count=len(trace.unknown_columns))
        )
    if said:
        note(" ".join(said))
    values: dict[str, float] = {}
    if any(not trace.has(device.uuid, "power_limit") for device in trace.gpus):
        watts = st.number_input(
            text.t("Power limit of these GPUs (W), if you know it"), min_value=1.0, value=None, key="gp-monitor-limit"
        )
        values |= {"power_limit": watts} if watts else {}
    if any(not trace.has(device.uuid, "memory_total") for device in trace.gpus) and any(
        trace.has(device.uuid, "memory_used") for device in trace.gpus
    ):
        size = st.number_input(
            text.t("Memory of these GPUs (GiB), if you know it"), min_value=0.1, value=None, key="gp-monitor-memory"
        )
        values |= {"memory_total": size * GIB} if size else {}
    assumed = assume(trace, values) if values else trace
    return replace(assumed, notes=trace.notes)
