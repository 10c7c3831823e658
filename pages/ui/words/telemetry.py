"""Words for what is measured: metrics and their values, and why one is missing."""

from functools import lru_cache

from pages.ui.text import Text
from planner.telemetry.sample import METRICS, Absent, Device, EventReason, Kind, Metric, Missing


def metric(text: Text, name: str, value: Metric) -> str:
    """A value with its unit, or why there is none."""
    if isinstance(value, Missing):
        return missing(text, value)
    return {
        "B": text.bytes,
        "share": text.percent,
        "W": lambda watts: text.isolate(f"{watts:.0f} W"),
        "J": lambda joules: text.scaled(joules, "J"),
        "C": lambda degrees: text.isolate(f"{degrees:.0f} °C"),
        "Hz": lambda hertz: text.isolate(f"{hertz / 1e6:,.0f} MHz"),
        "B/s": lambda rate: text.scaled(rate, "B/s"),
    }.get(METRICS[name], text.number)(value)


def metric_name(text: Text, name: str) -> str:
    """What a metric is called, above a chart or in a table."""
    return _names(text).get(name, name)


@lru_cache
def _names(text: Text) -> dict[str, str]:
    return {
        "memory_used": text.t("Memory in use"),
        "memory_total": text.t("Memory"),
        "memory_reserved": text.t("Reserved memory"),
        "utilization": text.t("Time with a kernel running"),
        "memory_utilization": text.t("Time with memory traffic"),
        "encoder": text.t("Video encoder"),
        "decoder": text.t("Video decoder"),
        "engine_active": text.t("Engine activity"),
        "sm_active": text.t("SM activity"),
        "sm_occupancy": text.t("SM occupancy"),
        "tensor_active": text.t("Tensor core activity"),
        "dram_active": text.t("Memory bandwidth activity"),
        "power": text.t("Power"),
        "power_limit": text.t("Power limit"),
        "energy": text.t("Energy since the driver started"),
        "temperature": text.t("Temperature"),
        "memory_temperature": text.t("Memory temperature"),
        "fan": text.t("Fan"),
        "sm_clock": text.t("SM clock"),
        "memory_clock": text.t("Memory clock"),
        "performance_state": text.t("Performance state"),
        "pcie_generation": text.t("PCIe generation"),
        "pcie_width": text.t("PCIe lanes"),
        "pcie_transmit": text.t("PCIe, from the GPU"),
        "pcie_receive": text.t("PCIe, to the GPU"),
        "nvlink_transmit": text.t("NVLink, sent"),
        "nvlink_receive": text.t("NVLink, received"),
        "ecc_uncorrected": text.t("Uncorrected ECC errors"),
        "xid": text.t("Last Xid error"),
        "cpu": text.t("CPU"),
        "cpu_busiest_core": text.t("Busiest CPU core"),
        "io_wait": text.t("Waiting for disks"),
        "ram_used": text.t("RAM in use"),
        "ram_total": text.t("RAM"),
        "disk_read": text.t("Disk reads"),
        "disk_write": text.t("Disk writes"),
        "disk_free": text.t("Free disk space"),
    }


def missing(text: Text, reason: Missing) -> str:
    """Why a metric has no value."""
    return {
        Missing.NOT_SUPPORTED: text.t("not reported by this GPU"),
        Missing.NO_PERMISSION: text.t("no permission"),
        Missing.GPU_LOST: text.t("GPU lost"),
        Missing.NOT_SAMPLED_YET: text.t("not measured yet"),
        Missing.DRIVER_TOO_OLD: text.t("needs a newer driver"),
        Missing.UNDER_MIG: text.t("not measurable under MIG"),
        Missing.BLANK: text.t("left empty by the source"),
        Missing.NOT_IN_SOURCE: text.t("not in this source"),
        Missing.OTHER_NAMESPACE: text.t("hidden by this container"),
        Missing.FAILED: text.t("reading failed"),
    }[reason]


def absent_sentence(text: Text, absent: Absent) -> str:
    """Why there is no GPU to read, and what to do."""
    return {
        Absent.NO_LIBRARY: text.t(
            "No NVIDIA driver on this machine. To see a GPU live here, run GPU Planner on the machine that has it."
        ),
        Absent.NO_DRIVER: text.t("The NVIDIA driver is installed but not loaded: try nvidia-smi in a terminal."),
        Absent.VERSION_MISMATCH: text.t("The NVIDIA driver was updated under this app: restart the app."),
        Absent.NO_PERMISSION: text.t("This user may not read the GPU."),
        Absent.BLOCKED: text.t(
            "The system or the container keeps the GPU away: start the container with access to it (--gpus all)."
        ),
        Absent.NO_GPU: text.t("The NVIDIA driver sees no GPU."),
        Absent.UNREACHABLE: text.t("The server does not answer."),
        Absent.BAD_ANSWER: text.t("The server answers, but not as Prometheus does."),
        Absent.FAILED: text.t("The NVIDIA driver did not answer."),
    }[absent]


def device_label(text: Text, device: Device) -> str:
    """A GPU by its index, an instance by its profile: short, for lists."""
    whole = device.index is not None and device.kind is Kind.GPU
    return text.isolate(f"{device.host} {device.index if whole else device.name}".strip())


def event_reasons(text: Text, bits: float) -> list[str]:
    """What holds the clocks down, worst first. Idling is left out: it is no brake."""
    names = (
        (EventReason.POWER_BRAKE, text.t("external power brake")),
        (EventReason.HARDWARE_THERMAL, text.t("overheated (hardware)")),
        (EventReason.SOFTWARE_THERMAL, text.t("too hot")),
        (EventReason.HARDWARE_SLOWDOWN, text.t("hardware slowdown")),
        (EventReason.POWER_CAP, text.t("at its power limit")),
        (EventReason.SYNC_BOOST, text.t("held by another GPU of its group")),
        (EventReason.CLOCK_SETTING, text.t("clocks set by a user")),
        (EventReason.DISPLAY_CLOCK, text.t("display clock setting")),
    )
    return [name for bit, name in names if int(bits) & bit]
