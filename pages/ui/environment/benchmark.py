"""Measured on this machine: matrix products and copies beside the catalogue, with progress and cancel."""

import threading
from dataclasses import dataclass, field

import streamlit as st

from pages.ui import export, shell
from pages.ui.monitor.note import note, section
from pages.ui.tables import Column, table_html
from pages.ui.text import Text
from planner.environment.benchmark.compare import Row, compare
from planner.environment.benchmark.run import LIMIT_SECONDS, Run, start

_KEY = "gp-benchmark-run"


@dataclass(slots=True)
class _Machine:
    """What measures on this machine now, for whichever visitor: two at once would measure each other."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    running: Run | None = None


@st.cache_resource(show_spinner=False)
def _machine() -> _Machine:
    return _Machine()


def draw(text: Text) -> None:
    """The section: a button, then progress, then the table."""
    section(text.t("How fast this machine really is"))
    note(
        text.t(
            "Multiplies matrices and copies memory with what is installed (PyTorch or CuPy on GPUs, NumPy on the "
            "processor) for at most {time}, in a process of its own. Other programs make it slower while it runs.",
            time=text.seconds(LIMIT_SECONDS),
        )
    )
    running: Run | None = st.session_state.get(_KEY)
    every = 1.0 if running is not None and not running.finished else None
    shell.fragment(text, run_every=every)(lambda: _draw(text, every is not None))()


def _draw(text: Text, was_running: bool) -> None:
    running: Run | None = st.session_state.get(_KEY)
    if running is not None and not running.finished:
        st.progress(running.progress, text=text.t("Measuring…"))
        st.button(text.t("Cancel"), key="gp-benchmark-cancel", on_click=running.cancel)
    else:
        if was_running:
            st.rerun()  # so that the fragment no longer refreshes
        label = text.t("Measure") if running is None else text.t("Measure again")
        if st.button(label, key="gp-benchmark-start", icon=":material/speed:") and _begin(text):
            st.rerun()
    if running is not None:
        _results(text, running)


def _begin(text: Text) -> bool:
    machine = _machine()
    with machine.lock:
        if machine.running is not None and not machine.running.finished:
            st.warning(text.t("Somebody else is measuring on this machine. Try again in a minute."))
            return False
        try:
            machine.running = start()
        except OSError as error:
            st.error(text.t("The measurement could not be started: {reason}.", reason=error.strerror or str(error)))
            return False
        st.session_state[_KEY] = machine.running
    return True


def _results(text: Text, running: Run) -> None:
    if running.finished and running.stopped == "cancelled":
        note(text.t("Cancelled. What was measured until then:"))
    elif running.finished and running.stopped:
        note(text.t("The time was up. What was measured until then:"))
    rows = compare(running.results)
    if rows:
        columns, cells = _without_empty(_columns(text), [_cells(text, row) for row in rows])
        st.html(table_html(text, columns, cells, caption=text.t("Measured on this machine, beside the catalogue")))
        if any(row.low for row in rows):
            st.warning(
                text.t(
                    "Far below what this hardware reaches elsewhere: look for a power limit, heat, another program, or "
                    "a slow slot in the checks above and on the Monitor page."
                ),
                icon=":material/warning:",
            )
        if running.finished:
            export.download_csv(text, columns, cells, name="benchmark", key="gp-benchmark-csv")
    elif running.finished:
        st.info(text.t("Nothing could be measured here."))
    for library, reason in running.missing.items():
        note(_missing(text, library, reason))
    if running.failures:
        count = len(running.failures)
        note(text.n("{count} measurement failed.", "{count} measurements failed.", count=count))


def _without_empty(columns: list[Column], rows: list[list[object]]) -> tuple[list[Column], list[list[object]]]:
    """Columns that no row fills say nothing: the catalogue does not know this hardware."""
    filled = [place for place in range(len(columns)) if any(row[place] is not None for row in rows)]
    return [columns[place] for place in filled], [[row[place] for place in filled] for row in rows]


def _missing(text: Text, library: str, reason: str) -> str:
    if reason == "not-installed":
        return text.t("{library} is not installed here, so nothing is measured with it.", library=library)
    if reason == "no-gpu":
        return text.t("{library} sees no GPU here: it measured the processor.", library=library)
    return text.t("{library} could not be used: {reason}.", library=library, reason=reason)


def _columns(text: Text) -> list[Column]:
    return [
        Column(id="device", label=text.t("Device")),
        Column(id="what", label=text.t("Work")),
        Column(id="rate", label=text.t("Measured"), numeric=True),
        Column(id="expected", label=text.t("Reached elsewhere"), numeric=True),
        Column(id="share", label=text.t("Share of it"), numeric=True),
        Column(id="peak", label=text.t("Peak on paper"), numeric=True),
        Column(id="library", label=text.t("With")),
    ]


def _cells(text: Text, row: Row) -> list[object]:
    best = row.best
    unit = "FLOP/s" if best.kind == "matmul" else "B/s"
    expected = peak = share = None
    if row.expected is not None:
        expected = text.scaled(row.expected, unit)
    if row.share is not None:
        share = text.percent(row.share)
    if row.peak is not None:
        peak = text.scaled(row.peak, unit)
    what = {
        "matmul": text.t("Matrix product, {dtype}", dtype=best.dtype),
        "copy": text.t("Copy in its memory"),
        "upload": text.t("Copy from main memory"),
        "upload-pinned": text.t("Copy from pinned main memory"),
    }[best.kind]
    name = row.known_as or best.name
    return [name, what, text.scaled(best.rate, unit), expected, share, peak, best.library]
