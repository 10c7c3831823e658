"""The machine around the GPUs, and the processes on them."""

from collections.abc import Sequence

import streamlit as st

from pages.ui.monitor.note import note
from pages.ui.tables import Column, Tile, table_html, tiles_html
from pages.ui.text import Text
from pages.ui.words.telemetry import metric, metric_name, missing
from planner.telemetry.nvml_processes import command_line
from planner.telemetry.sample import Kind, Missing, Process
from planner.telemetry.trace import Trace


def draw_host(text: Text, trace: Trace) -> None:
    """Processors, memory and disks, where the source tells of them."""
    for host in trace.devices:
        if host.kind is not Kind.HOST:
            continue

        def value(name: str, uuid: str = host.uuid) -> str:
            return metric(text, name, trace.latest(uuid, name))

        used = text.t("{used} of {total}", used=value("ram_used"), total=value("ram_total"))
        tiles = [
            Tile(
                label=metric_name(text, "cpu"),
                value=value("cpu"),
                note=text.t("busiest core {share}", share=value("cpu_busiest_core")),
            ),
            Tile(label=metric_name(text, "ram_used"), value=value("ram_used"), note=used),
            Tile(label=metric_name(text, "io_wait"), value=value("io_wait")),
            Tile(
                label=text.t("Disks"),
                value=value("disk_read"),
                note=text.t("written {rate}, free {free}", rate=value("disk_write"), free=value("disk_free")),
            ),
        ]
        st.html(tiles_html(tiles))


def draw_processes(text: Text, trace: Trace, processes: Sequence[Process] | Missing, *, local: bool) -> None:
    """Who uses the GPUs. Command lines may hold passwords: they are shown only when asked for, and cut."""
    if isinstance(processes, Missing):
        if processes is not Missing.NOT_IN_SOURCE:
            reason = missing(text, processes)
            note(text.t("The list of processes is missing: {reason}", reason=reason))
        return
    if not processes:
        note(text.t("No process uses a GPU."))
        return
    asked = local and st.toggle(
        text.t("Show command lines"),
        key="gp-monitor-commands",
        help=text.t("They may hold passwords and names: mind who sees this screen. Only 80 characters are shown."),
    )
    names = {device.uuid: device for device in trace.devices}
    columns = [
        Column(id="pid", label="PID", numeric=True),
        Column(id="name", label=text.t("Process")),
        Column(id="gpu", label="GPU"),
        Column(id="memory", label=text.t("Memory"), numeric=True),
        Column(id="sm", label=text.t("SM time"), numeric=True),
        Column(id="user", label=text.t("User")),
    ]
    contained = any(one.container for one in processes)
    columns += [Column(id="container", label=text.t("Container or job"))] if contained else []
    columns += [Column(id="command", label=text.t("Command line"))] if asked else []
    rows = []
    for one in sorted(processes, key=lambda one: -one.memory if isinstance(one.memory, float) else 0.0):
        device = names.get(one.uuid)
        gpu = str(device.index if device and device.index is not None else one.uuid)
        row = [
            str(one.pid),
            one.name or text.t("unknown here"),
            gpu,
            metric(text, "memory_used", one.memory),
            metric(text, "utilization", one.sm),
            one.user or "–",
        ]
        row += [one.container or "–"] if contained else []
        rows.append([*row, command_line(one.pid) or "–"] if asked else row)
    st.html(table_html(text, columns, rows, caption=text.t("Processes on the GPUs")))
