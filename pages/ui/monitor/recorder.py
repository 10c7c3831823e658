"""Recording what a poller reads: into a file of this user on the machine that runs GPU Planner."""

import threading
import time
from pathlib import Path
from typing import BinaryIO

import streamlit as st

from pages.ui import desk
from pages.ui.monitor import recordings
from pages.ui.text import Text
from planner.telemetry.poller import Poller
from planner.telemetry.recording import Recorder


class _Running:
    """A recording that is being written; readings come from the poller's thread."""

    def __init__(self, poller: Poller) -> None:
        recordings.FOLDER.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = recordings.FOLDER / time.strftime("%Y-%m-%d-%H%M%S.gprec")
        self._file: BinaryIO = self.path.open("w+b")
        self.recorder = Recorder(self._file, poller.source.name)
        self._poller, self._lock = poller, threading.Lock()
        poller.listen(self._add)
        poller.on_event.append(self.recorder.note)

    def _add(self, reading) -> None:  # type: ignore[no-untyped-def]
        with self._lock:
            self.recorder.add(reading)

    def stop(self) -> None:
        self._poller.unlisten(self._add)
        if self.recorder.note in self._poller.on_event:
            self._poller.on_event.remove(self.recorder.note)
        with self._lock:
            self.recorder.flush()
            self._file.close()


@st.cache_resource(show_spinner=False)
def _running() -> dict[str, _Running]:
    """By source: a recording belongs to the process, and goes on when its page is closed."""
    return {}


def draw(text: Text, poller: Poller) -> None:
    """Start and stop, and the file when it is done."""
    running, name = _running().get(poller.source.name), poller.source.name
    if running is None:
        st.button(
            text.t("Record"),
            icon=":material/radio_button_checked:",
            key="gp-monitor-record",
            on_click=_start,
            args=(poller,),
            help=text.t(
                "Writes a compressed file in {folder}; goes on when this page is closed.", folder=str(recordings.FOLDER)
            ),
        )
    else:
        st.button(
            text.t("Stop recording ({count} readings)", count=running.recorder.readings),
            icon=":material/stop_circle:",
            key="gp-monitor-stop",
            type="primary",
            on_click=_stop,
            args=(text, name),
        )
    done = st.session_state.get("gp-monitor-done")
    if done and Path(done).is_file():
        st.download_button(
            text.t("Download the recording"),
            lambda: Path(done).read_bytes(),
            file_name=Path(done).name,
            mime="application/octet-stream",
            key="gp-monitor-recording",
            on_click="ignore",
        )


def _start(poller: Poller) -> None:
    _running().setdefault(poller.source.name, _Running(poller))


def _stop(text: Text, name: str) -> None:
    running = _running().pop(name, None)
    if running is not None:
        running.stop()
        st.session_state["gp-monitor-done"] = str(running.path)
        with desk.told(text):
            recordings.index(running.path, name, running.recorder.readings)
