"""The pollers of this process, shared by all its visitors: one for the GPUs here, one for each server that is read."""

import time
from functools import partial

import streamlit as st

from planner.telemetry.alerts import readings_of
from planner.telemetry.amd import AmdSource, load_amdsmi
from planner.telemetry.host import Host
from planner.telemetry.nvml import NvmlSource
from planner.telemetry.poller import HISTORY_SECONDS, Poller
from planner.telemetry.prometheus import PrometheusSource, ServerError, http_get
from planner.telemetry.sample import Absent

SERVER_SECONDS = 5.0
"""How often a server is asked."""


@st.cache_resource(show_spinner=False)
def local() -> Poller:
    """Reads the GPUs of this machine, and the machine."""
    amd = None if nvidia_is_here() else load_amdsmi()
    return Poller(NvmlSource() if amd is None else AmdSource(amd), host=Host())


def nvidia_is_here() -> bool:
    """Whether NVML can be loaded at all."""
    return NvmlSource().read().absent is not Absent.NO_LIBRARY


@st.cache_resource(max_entries=8, show_spinner=False)
def server(address: str) -> Poller:
    """Reads the GPUs that a Prometheus server knows of, with its last hour already in the history."""
    source = PrometheusSource(address, partial(http_get, headers=_headers(address)))
    poller = Poller(source, interval=SERVER_SECONDS)
    now = time.time()
    try:
        for reading in readings_of(source.history(now - HISTORY_SECONDS, now)):
            poller.ring.add(reading)
    except ServerError:
        pass  # the first reading says what is wrong
    return poller


def _headers(address: str) -> dict[str, str]:
    """Credentials from Streamlit's secrets, sent only to the address that stands beside them.

    [prometheus]
    address = "https://..."
    authorization = "Bearer ..."
    """
    try:
        known = st.secrets.get("prometheus", {})
    except FileNotFoundError:
        return {}
    if known.get("address", "").rstrip("/") != address or "authorization" not in known:
        return {}
    return {"Authorization": str(known["authorization"])}
