"""What the columns of a log are called: to our metrics, by name and unit, or by the cells if there is no header."""

import re
from dataclasses import dataclass

from planner.telemetry.logs.cells import moment
from planner.telemetry.sample import METRICS

TIME, INDEX, UUID, NAME, FREE, SKIP = "time", "index", "uuid", "name", "memory_free", "skip"
"""Columns that are no metric of ours."""

_NAMES: dict[str, str] = {
    # who and when
    "timestamp": TIME, "time": TIME, "datetime": TIME, "date": TIME, "ts": TIME,
    "index": INDEX, "gpu_index": INDEX, "gpu": INDEX, "gpu_id": INDEX, "device": INDEX, "idx": INDEX,
    "uuid": UUID, "gpu_uuid": UUID, "name": NAME, "gpu_name": NAME,
    # nvidia-smi --query-gpu
    "utilization_gpu": "utilization", "utilization_memory": "memory_utilization",
    "utilization_encoder": "encoder", "utilization_decoder": "decoder",
    "memory_used": "memory_used", "memory_total": "memory_total", "memory_free": FREE,
    "memory_reserved": "memory_reserved", "temperature_gpu": "temperature", "temperature_memory": "memory_temperature",
    "power_draw": "power", "power_draw_average": "power", "power_limit": "power_limit",
    "enforced_power_limit": "power_limit", "power_default_limit": "power_limit_default",
    "clocks_sm": "sm_clock", "clocks_current_sm": "sm_clock", "clocks_max_sm": "sm_clock_max",
    "clocks_mem": "memory_clock", "clocks_current_memory": "memory_clock", "pstate": "performance_state",
    "fan_speed": "fan", "pcie_link_gen_current": "pcie_generation", "pcie_link_gen_gpucurrent": "pcie_generation",
    "pcie_link_gen_max": "pcie_generation_max", "pcie_link_width_current": "pcie_width",
    "pcie_link_width_max": "pcie_width_max", "clocks_event_reasons_active": "event_reasons",
    "clocks_throttle_reasons_active": "event_reasons", "ecc_errors_uncorrected_volatile_total": "ecc_uncorrected",
    "remapped_rows_pending": "remap_pending", "remapped_rows_failure": "remap_failed",
    "gpu_recovery_action": "recovery_action", "compute_cap": "compute_capability",
    # dmon
    "pwr": "power", "gtemp": "temperature", "mtemp": "memory_temperature", "sm": "utilization",
    "mem": "memory_utilization", "enc": "encoder", "dec": "decoder", "mclk": "memory_clock", "pclk": "sm_clock",
    "fb": "memory_used", "rxpci": "pcie_receive", "txpci": "pcie_transmit",
    # names of one's own, and amd-smi
    "temperature": "temperature", "temp": "temperature", "gpu_temp": "temperature", "hotspot": "temperature",
    "hotspot_temperature": "temperature", "utilization": "utilization", "util": "utilization",
    "gpu_util": "utilization", "gpu_utilization": "utilization", "gfx_activity": "utilization",
    "gfx": "utilization", "power": "power", "power_usage": "power", "socket_power": "power",
    "average_socket_power": "power", "vram_used": "memory_used", "used_vram": "memory_used",
    "vram_total": "memory_total", "total_vram": "memory_total", "mem_used": "memory_used",
    "mem_total": "memory_total", "sm_clock": "sm_clock", "gfx_clock": "sm_clock",
}  # fmt: skip
_SUFFIXES = {"percent": "%", "pct": "%", "w": "W", "watts": "W", "c": "C", "celsius": "C", "mhz": "MHz"}
_SUFFIXES |= {"mib": "MiB", "gib": "GiB", "mb": "MB", "gb": "GB", "bytes": "B"}
_BRACKETS = re.compile(r"[\[(]([^\])]*)[\])]")
_UNIT_OF_CELL = re.compile(r"^[\d.,]+\s*(%|[KMG]i?B|m?W|MHz|C)$")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: what it holds (a metric or one of the names above; empty: unknown), its unit, and its heading."""

    holds: str
    unit: str = ""
    heading: str = ""


def column(heading: str) -> Column:
    """The column under a heading such as "power.draw [W]", "temperature_C" or "fb"."""
    unit = _BRACKETS.search(heading)
    bare = re.sub(r"[ ._\-/]+", "_", _BRACKETS.sub("", heading).strip().lower()).strip("_")
    found, written = _NAMES.get(bare), unit.group(1) if unit else ""
    if found is None and "_" in bare:
        stem, suffix = bare.rsplit("_", 1)
        if suffix in _SUFFIXES:
            found, written = _NAMES.get(stem), _SUFFIXES[suffix]
    if found is None and bare in METRICS:
        found = bare
    return Column(found or "", written, heading.strip())


def header(cells: list[str]) -> list[Column] | None:
    """The columns of a row of headings; None where the row is no header."""
    found = [column(one) for one in cells]
    known = [one.holds for one in found if one.holds]
    return found if len(known) >= 2 and any(holds in METRICS for holds in known) else None


def guessed(cells: list[str]) -> list[Column] | None:
    """Columns told by their cells: the order of nvidia-smi's usual queries. None where this is no such row."""
    if len(cells) < 3 or moment(cells[0]) is None:
        return None
    waiting = {"%": ["utilization", "memory_utilization"], "W": ["power", "power_limit"], "MHz": ["sm_clock"]}
    waiting["MiB"] = ["memory_used", FREE, "memory_total"]
    columns = [Column(TIME)]
    for one in cells[1:]:
        bare = one.strip()
        unit = _UNIT_OF_CELL.match(bare)
        if unit:
            left = waiting.get(unit.group(1), [])
            columns.append(Column(left.pop(0) if left else "", unit.group(1)))
        elif bare.upper().startswith("GPU-"):
            columns.append(Column(UUID))
        elif bare.isdigit() and int(bare) <= 120 and "temperature" not in [c.holds for c in columns]:
            columns.append(Column("temperature"))
        else:
            columns.append(Column(""))
    return columns if sum(one.holds in METRICS for one in columns) >= 2 else None
