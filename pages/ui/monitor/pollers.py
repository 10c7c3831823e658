"""The pollers of this process, shared by all its visitors: one for the GPUs here, one for each server that is read."""

import streamlit as st

from planner.telemetry.host import Host
from planner.telemetry.nvml import NvmlSource
from planner.telemetry.poller import Poller


@st.cache_resource(show_spinner=False)
def local() -> Poller:
    """Reads the GPUs of this machine, and the machine."""
    return Poller(NvmlSource(), host=Host())
