"""Moving through a recording: a moment, play and pause, a speed."""

import time

import streamlit as st

from pages.ui.text import Text
from planner.telemetry.trace import Trace

SPEEDS = (1, 2, 5, 10, 30, 60)
_AT, _PLAYING, _SPEED, _CLOCK, _OF = (f"gp-replay-{one}" for one in ("at", "playing", "speed", "clock", "of"))


def controls(text: Text, trace: Trace) -> None:
    """The row of controls. A newly opened recording stands at its end, so that all of it is seen."""
    length = _length(trace)
    of = (trace.source, length)
    if st.session_state.get(_OF) != of:
        st.session_state.update({_OF: of, _AT: length, _PLAYING: False})
    with st.container(horizontal=True, vertical_alignment="bottom", key="gp-replay"):
        playing = st.session_state[_PLAYING]
        st.button(
            text.t("Pause") if playing else text.t("Play"),
            icon=":material/pause:" if playing else ":material/play_arrow:",
            key="gp-replay-button",
            on_click=_toggle,
            args=(length,),
        )
        st.selectbox(
            text.t("Speed"), SPEEDS, index=3, key=_SPEED, format_func=lambda one: text.isolate(f"{one}×"), width=110
        )
        st.slider(
            text.t("Moment (seconds from the start)"),
            0.0,
            max(length, 1.0),
            key=_AT,
            step=1.0,
            format="%.0f",
            disabled=length < 1,
        )


def is_playing() -> bool:
    """Whether the recording runs."""
    return bool(st.session_state.get(_PLAYING))


def part(trace: Trace) -> Trace:
    """The recording up to the present moment of the replay, which moves on by itself while it plays."""
    if not len(trace.times):
        return trace
    start = float(trace.times[0])
    return trace.between(start, start + _position(trace))


def _position(trace: Trace) -> float:
    at = float(st.session_state.get(_AT, _length(trace)))
    if not is_playing():
        return at
    return min(_length(trace), at + (time.monotonic() - st.session_state[_CLOCK]) * st.session_state.get(_SPEED, 10))


def _toggle(length: float) -> None:
    if is_playing():
        st.session_state[_AT] = float(int(min(length, _elapsed())))
        st.session_state[_PLAYING] = False
        return
    if st.session_state[_AT] >= length - 1:
        st.session_state[_AT] = 0.0
    st.session_state[_CLOCK] = time.monotonic()
    st.session_state[_PLAYING] = True


def _elapsed() -> float:
    passed = (time.monotonic() - st.session_state[_CLOCK]) * st.session_state.get(_SPEED, 10)
    return float(st.session_state[_AT] + passed)


def _length(trace: Trace) -> float:
    return float(trace.times[-1] - trace.times[0]) if len(trace.times) else 0.0
