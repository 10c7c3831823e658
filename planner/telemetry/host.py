"""The machine around the GPUs: processors, memory, disks. Rates need two readings."""

import platform
import time
from collections.abc import Callable

import psutil

from planner.telemetry.sample import Device, Kind, Metric, Missing, Sample

UUID = "host"
"""The identity of this machine among the devices."""


class Host:
    """Reads this machine; costs well under a millisecond."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._device = Device(uuid=UUID, name=platform.node() or "localhost", kind=Kind.HOST)
        self._disk: tuple[float, int, int] | None = None
        self._primed = False

    def sample(self) -> Sample:
        """One reading."""
        values: dict[str, Metric] = {}
        for read in (self._processors, self._memory, self._disks):
            try:
                values.update(read())
            except (OSError, psutil.Error, RuntimeError):
                continue  # what this system does not tell stays "not in source"
        return Sample(device=self._device, values=values)

    def _processors(self) -> dict[str, Metric]:
        cores = psutil.cpu_percent(percpu=True)
        times = psutil.cpu_times_percent()
        if not self._primed:
            self._primed = True
            return dict.fromkeys(("cpu", "cpu_busiest_core", "io_wait"), Missing.NOT_SAMPLED_YET)
        wait: Metric = times.iowait / 100 if hasattr(times, "iowait") else Missing.NOT_SUPPORTED
        return {"cpu": sum(cores) / len(cores) / 100, "cpu_busiest_core": max(cores) / 100, "io_wait": wait}

    def _memory(self) -> dict[str, Metric]:
        memory = psutil.virtual_memory()
        free = psutil.disk_usage("/").free
        return {
            "ram_used": float(memory.total - memory.available),
            "ram_total": float(memory.total),
            "disk_free": float(free),
        }

    def _disks(self) -> dict[str, Metric]:
        counters = psutil.disk_io_counters()
        if counters is None:
            return {}
        now, before = self._clock(), self._disk
        self._disk = (now, counters.read_bytes, counters.write_bytes)
        if before is None or now <= before[0]:
            return {"disk_read": Missing.NOT_SAMPLED_YET, "disk_write": Missing.NOT_SAMPLED_YET}
        seconds = now - before[0]
        read, written = counters.read_bytes - before[1], counters.write_bytes - before[2]
        return {"disk_read": max(0, read) / seconds, "disk_write": max(0, written) / seconds}
