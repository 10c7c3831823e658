"""`nvidia-smi -q`: indented "key : value" lines, one block a GPU, MIG instances and processes inside."""

import re
from collections.abc import Sequence

from planner.telemetry.logs.cells import cell, moment
from planner.telemetry.logs.rows import Row, Rows
from planner.telemetry.sample import EventReason, Metric, Missing, Process

_METRICS: dict[str, str] = {
    "fan speed": "fan",
    "performance state": "performance_state",
    "fb memory usage/total": "memory_total",
    "fb memory usage/reserved": "memory_reserved",
    "fb memory usage/used": "memory_used",
    "shared fb memory usage/total": "memory_total",
    "shared fb memory usage/reserved": "memory_reserved",
    "shared fb memory usage/used": "memory_used",
    "utilization/gpu": "utilization",
    "utilization/memory": "memory_utilization",
    "utilization/encoder": "encoder",
    "utilization/decoder": "decoder",
    "temperature/gpu current temp": "temperature",
    "temperature/gpu slowdown temp": "temperature_slowdown",
    "temperature/memory current temp": "memory_temperature",
    "gpu power readings/average power draw": "power",
    "gpu power readings/instantaneous power draw": "power",
    "gpu power readings/power draw": "power",
    "power readings/power draw": "power",
    "gpu power readings/current power limit": "power_limit",
    "power readings/enforced power limit": "power_limit",
    "power readings/power limit": "power_limit",
    "gpu power readings/default power limit": "power_limit_default",
    "power readings/default power limit": "power_limit_default",
    "clocks/sm": "sm_clock",
    "clocks/memory": "memory_clock",
    "max clocks/sm": "sm_clock_max",
    "pci/gpu link info/pcie generation/current": "pcie_generation",
    "pci/gpu link info/pcie generation/max": "pcie_generation_max",
    "pci/gpu link info/link width/current": "pcie_width",
    "pci/gpu link info/link width/max": "pcie_width_max",
    "pci/tx throughput": "pcie_transmit",
    "pci/rx throughput": "pcie_receive",
    "pci/replays since reset": "pcie_replays",
    "ecc errors/volatile/dram uncorrectable": "ecc_uncorrected",
    "remapped rows/pending": "remap_pending",
    "remapped rows/remapping failure occurred": "remap_failed",
    "gpu recovery action": "recovery_action",
}
_REASONS = {
    "idle": EventReason.IDLE,
    "applications clocks setting": EventReason.CLOCK_SETTING,
    "sw power cap": EventReason.POWER_CAP,
    "hw slowdown": EventReason.HARDWARE_SLOWDOWN,
    "hw slowdown/hw thermal slowdown": EventReason.HARDWARE_THERMAL,
    "hw slowdown/hw power brake slowdown": EventReason.POWER_BRAKE,
    "sync boost": EventReason.SYNC_BOOST,
    "sw thermal slowdown": EventReason.SOFTWARE_THERMAL,
    "display clock setting": EventReason.DISPLAY_CLOCK,
}
_REASON_SECTIONS = ("clocks event reasons/", "clocks throttle reasons/")
_FACTS = {"driver version": "driver", "kmd version": "driver", "cuda version": "cuda", "cuda umd version": "cuda"}
_GPU = re.compile(r"^GPU [0-9A-Fa-f:.]{7,}$")


def read_query_text(lines: Sequence[str], found: Rows) -> None:
    """Add the GPUs, MIG instances and processes of one `nvidia-smi -q` to what was found."""
    time: float | None = None
    blocks: list[list[tuple[str, str]]] = []
    for path, value in _paths(lines):
        if path == "timestamp":
            time = moment(value)
        elif path in _FACTS and not blocks:
            found.facts.setdefault(_FACTS[path], value.partition(" [")[0])  # newer drivers append a remark
        elif path == "gpu":
            blocks.append([])
        elif blocks:
            blocks[-1].append((path, value))
    for index, block in enumerate(blocks):
        _add_gpu(block, index, time, found)


def _paths(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Every line as its path of headings, lower case, and its value ("" for a heading)."""
    found: list[tuple[str, str]] = []
    stack: list[tuple[int, str]] = []
    for line in lines:
        bare = line.strip()
        if not bare or bare.startswith("="):
            continue
        indent = len(line) - len(line.lstrip())
        if indent == 0 and _GPU.match(bare):
            stack = []
            found.append(("gpu", bare))
            continue
        key, separator, value = bare.partition(" : ")
        if not separator and bare.endswith(":"):
            key = bare[:-1]
        name = key.strip().lower()
        while stack and stack[-1][0] >= indent:
            stack.pop()
        parts = [part for _, part in stack] + [name]
        stack.append((indent, name))
        found.append(("/".join(parts), value.strip()))
    return found


def _add_gpu(block: list[tuple[str, str]], index: int, time: float | None, found: Rows) -> None:
    own: list[tuple[str, str]] = []
    instances: list[list[tuple[str, str]]] = []
    processes: list[dict[str, str]] = []
    for path, value in block:
        if path == "mig device":
            instances.append([])
        elif path.startswith("mig device/"):
            instances[-1].append((path.removeprefix("mig device/"), value))
        elif path.startswith("processes/"):
            name = path.rsplit("/", 1)[1]
            if name == "process id":
                processes.append({})
            if processes:
                processes[-1][name] = value
        else:
            own.append((path, value))
    about = dict(own)
    values = _values(own)
    uuid = about.get("gpu uuid", "") or f"index-{index}"
    mig = about.get("mig mode/current", "").lower() == "enabled"
    if mig:
        for name in ("utilization", "memory_utilization", "encoder", "decoder"):
            if not isinstance(values.get(name), float):
                values[name] = Missing.UNDER_MIG
    found.rows.append(Row(time, values, uuid, index, about.get("product name", ""), mig=mig))
    for slot, instance in enumerate(instances):
        label = f"MIG {slot}"
        found.rows.append(Row(time, _values(instance), f"{uuid}/mig-{slot}", slot, label, parent=uuid))
    for one in processes:
        pid = int(one["process id"]) if one["process id"].isdigit() else -1
        memory = cell(one.get("used gpu memory", ""), "memory_used")
        kind = "graphics" if one.get("type") == "G" else "compute"
        name = one.get("name", "").replace("\\", "/").rsplit("/", 1)[-1]  # without its folders
        found.add_process(Process(uuid=uuid, pid=pid, name=name, memory=memory, kind=kind))


def _values(lines: list[tuple[str, str]]) -> dict[str, Metric]:
    values: dict[str, Metric] = {}
    reasons, said = 0, False
    for path, value in lines:
        metric = _METRICS.get(path)
        if metric and not isinstance(values.get(metric), float):
            values[metric] = cell(value, metric)
        for section in _REASON_SECTIONS:
            name = path.removeprefix(section)
            if path.startswith(section) and name in _REASONS:
                said = True
                reasons |= _REASONS[name] if value.lower() == "active" else 0
    if said:
        values["event_reasons"] = float(reasons)
    return values
