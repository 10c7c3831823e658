"""Curves over time, one for each GPU, and the fleet as a map of colours."""

from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from pages.ui import charts, export
from pages.ui.tables import Column
from pages.ui.text import Text
from pages.ui.theme import COLOURS, SERIES
from pages.ui.words.telemetry import metric, metric_name
from planner.telemetry.alerts import GAP_SECONDS
from planner.telemetry.sample import METRICS, Device, Kind
from planner.telemetry.trace import Trace

_SCALES = {"share": (100.0, "%"), "B": (2.0**-30, "GiB"), "Hz": (1e-6, "MHz"), "B/s": (1e-9, "GB/s"), "C": (1.0, "°C")}
_SCALES |= {"W": (1.0, "W"), "J": (1.0, "J")}
_POINTS = 600  # of a curve; more cannot be seen
_FIRST = ("utilization", "power", "memory_used", "temperature")
_MAP_FROM = 9  # GPUs from which on the map of colours helps


def choose_metric(text: Text, trace: Trace) -> str | None:
    """Which metric the curves show: those that the trace has."""
    present = {name for (uuid, name) in trace.columns if uuid != "host" and name in METRICS}
    names = [name for name in _FIRST if name in present]
    names += [name for name in METRICS if name in present - set(names) and METRICS[name] in _SCALES]
    if not names:
        return None
    return str(
        st.selectbox(text.t("Curve"), names, format_func=lambda name: metric_name(text, name), key="gp-monitor-metric")
    )


def draw(text: Text, trace: Trace, name: str, end: float | None = None) -> None:
    """The curve of one metric for every device that has it. Drag to look closer, double-click to see all."""
    dark = charts.is_dark()
    scale, unit = _SCALES.get(METRICS[name], (1.0, ""))
    devices = [device for device in trace.devices if trace.has(device.uuid, name)]
    step = max(1, len(trace.times) // _POINTS)
    times = trace.times[::step]
    seconds = times - (trace.times[-1] if end is None else trace.times[0])
    after_gap = np.flatnonzero(np.diff(times) > max(GAP_SECONDS, 3 * float(np.median(np.diff(times)))))
    traces: list[dict[str, Any]] = []
    for place, device in enumerate(devices):
        column = trace.values(device.uuid, name)[::step] * scale
        column[after_gap] = np.nan  # no line over what was not measured
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": _label(device),
                "x": np.round(seconds, 2).tolist(),
                "y": [None if np.isnan(value) else round(float(value), 3) for value in column],
                "line": {"color": SERIES[place % len(SERIES)].on(dark), "width": 1.6},
                "hovertemplate": f"{escape(_label(device))}: %{{y:,.3~g}} {escape(unit)}<extra></extra>",
            }
        )
    figure = go.Figure({"data": traces, "layout": _layout(text, name, unit, dark, end is None)}, _validate=False)
    last = [f"{_label(device)} {metric(text, name, trace.last(device.uuid, name))}" for device in devices]
    alt = text.t("{metric} over time. Now: {figures}", metric=metric_name(text, name), figures=text.join(last))
    st.plotly_chart(
        figure,
        key="gp-monitor-curve",
        alt=alt,
        theme=None,
        config={"displaylogo": False, "modeBarButtons": [["zoom2d", "pan2d", "resetScale2d", "toImage"]]},
    )


def _label(device: Device) -> str:
    name = device.name if device.index is None or device.kind is Kind.MIG else f"{device.index} · {device.name}"
    return f"{device.host} {name}".strip()


def _layout(text: Text, name: str, unit: str, dark: bool, live: bool) -> dict[str, Any]:
    muted, line = COLOURS["muted"].on(dark), COLOURS["line"].on(dark)
    font = {"family": "IBM Plex Sans, IBM Plex Sans Arabic, sans-serif", "size": 13, "color": COLOURS["text"].on(dark)}
    words = text.t("seconds from now") if live else text.t("seconds from the start")
    axis = {"gridcolor": line, "zeroline": False, "tickfont": {"color": muted}, "automargin": True}
    return {
        "template": {},
        "height": 300,
        "margin": {"l": 44, "r": 8, "t": 28, "b": 44},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": font,
        "showlegend": False,
        "hovermode": "x unified",
        "hoverlabel": {"bgcolor": COLOURS["surface"].on(dark), "font": font},
        "dragmode": "zoom",
        "uirevision": name,  # what the reader zoomed to stays while new points come
        "xaxis": {
            **axis,
            "showgrid": False,
            "title": {"text": text.embed(words), "font": {"color": muted, "size": 13}},
        },
        "yaxis": {**axis, "rangemode": "tozero", "nticks": 5},
        "annotations": [
            {
                "xref": "paper",
                "yref": "paper",
                "x": 0,
                "y": 1,
                "xanchor": "left",
                "yanchor": "bottom",
                "yshift": 6,
                "showarrow": False,
                "text": escape(text.embed(unit)),
                "font": {"color": muted},
            }
        ],
    }


def draw_map(text: Text, trace: Trace, name: str) -> None:
    """All GPUs as squares by node, darker for more, each with its figure; for a fleet, where cards would not do."""
    if len(trace.gpus) < _MAP_FROM:
        return
    hosts: dict[str, list[Device]] = {}
    for device in trace.gpus:
        hosts.setdefault(device.host, []).append(device)
    highest = max((float(np.nanmax(c)) for (_, one), c in trace.columns.items() if one == name and len(c)), default=1.0)
    rows = []
    for host, devices in sorted(hosts.items()):
        squares = []
        for device in sorted(devices, key=lambda one: (one.index or 0, one.uuid)):
            value = trace.latest(device.uuid, name)
            part = value / highest if isinstance(value, float) and highest else 0.0
            label = f"{_label(device)}: {metric(text, name, value)}"
            shown = escape(metric(text, name, value)) if isinstance(value, float) else "–"
            squares.append(
                f'<li title="{escape(label, quote=True)}" style="--gp-heat:{100 * part:.0f}%"><b>{shown}</b></li>'
            )
        rows.append(f"<tr><th scope='row'>{escape(host)}</th><td><ul>{''.join(squares)}</ul></td></tr>")
    caption = text.t("{metric} by node and GPU", metric=metric_name(text, name))
    st.html(
        f'<div class="gp-scroll" tabindex="0" role="region" aria-label="{escape(caption, quote=True)}">'
        f'<table class="gp-fleet"><caption>{escape(caption)}</caption><tbody>{"".join(rows)}</tbody></table></div>'
    )


def downloads(text: Text, trace: Trace) -> None:
    """All figures as CSV (one row a device and moment) and JSON."""
    names = sorted({name for _, name in trace.columns})
    columns = [Column(id=name, label=name) for name in ("time", "gpu", "uuid")]
    columns += [Column(id=name, label=name, unit=METRICS.get(name, "")) for name in names]

    def rows() -> list[list[Any]]:
        found = []
        for place, time in enumerate(trace.times):
            for device in trace.devices:
                values = [trace.values(device.uuid, name)[place] for name in names]
                shown = [None if np.isnan(value) else float(value) for value in values]
                found.append([float(time), _label(device), device.uuid, *shown])
        return found

    def whole() -> dict[str, Any]:
        return {
            "source": trace.source,
            "units": {name: METRICS.get(name, "") for name in names},
            "times": trace.times.tolist(),
            "devices": [
                {
                    "uuid": device.uuid,
                    "name": device.name,
                    "values": {
                        name: [None if np.isnan(v) else float(v) for v in trace.values(device.uuid, name)]
                        for name in names
                        if trace.has(device.uuid, name)
                    },
                }
                for device in trace.devices
            ],
        }

    export.download(
        text.t("Download CSV"),
        lambda: export.csv_text(columns, rows()),
        file_name="telemetry.csv",
        mime="text/csv",
        key="gp-monitor-csv",
    )
    export.download_json(text, whole, name="telemetry", key="gp-monitor-json")
