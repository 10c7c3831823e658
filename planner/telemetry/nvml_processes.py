"""Processes on the GPUs of this machine. Their PIDs are the host's: inside a container they may mean nothing."""

from typing import Any

import psutil

from planner.telemetry.containers import container_of
from planner.telemetry.sample import Device, Metric, Missing, Process

_HELD = 512 * 2**20  # bytes in use that some process must hold


class ProcessReader:
    """The processes of the last slow round."""

    def __init__(self, nvml: Any) -> None:
        self._nvml = nvml
        self._seen: dict[str, int] = {}  # by GPU: time of the newest utilisation sample, in microseconds
        self.found: tuple[Process, ...] | Missing = Missing.NOT_SAMPLED_YET

    def refresh(self, cards: list[tuple[Device, Any, Metric | None]]) -> None:
        """Ask every GPU anew. A list that is empty while memory is held is hidden from us, not empty."""
        found: list[Process] = []
        reasons: list[Missing] = []
        for device, handle, used in cards:
            running = self._running(device, handle)
            if isinstance(running, Missing):
                reasons.append(running)
            elif not running and isinstance(used, float) and used > _HELD:
                reasons.append(Missing.OTHER_NAMESPACE)
            else:
                found += running
        self.found = tuple(found) if found or not reasons else reasons[0]

    def _running(self, device: Device, handle: Any) -> list[Process] | Missing:
        """Compute and graphics processes; one that is in both lists is one process."""
        nvml = self._nvml
        by_pid: dict[int, Process] = {}
        answered = False
        reason = Missing.NOT_SUPPORTED
        busy = self._busy(device, handle)
        for kind, call in (
            ("graphics", "nvmlDeviceGetGraphicsRunningProcesses"),
            ("compute", "nvmlDeviceGetComputeRunningProcesses"),
        ):
            try:
                running = getattr(nvml, call)(handle)
            except (nvml.NVMLError, AttributeError) as error:
                if getattr(error, "value", None) == nvml.NVML_ERROR_NO_PERMISSION:
                    reason = Missing.NO_PERMISSION
                continue
            answered = True
            for one in running:
                memory = Missing.NOT_SUPPORTED if one.usedGpuMemory is None else float(one.usedGpuMemory)
                sm = busy if isinstance(busy, Missing) else busy.get(one.pid, 0.0)
                name, user = self._who(one.pid)
                by_pid[one.pid] = Process(
                    uuid=device.uuid,
                    pid=one.pid,
                    name=name,
                    user=user,
                    memory=memory,
                    sm=sm,
                    kind=kind,
                    container=container_of(one.pid),
                )
        return list(by_pid.values()) if answered else reason

    def _busy(self, device: Device, handle: Any) -> dict[int, float] | Missing:
        """Share of the SMs' time by PID. "Not found" means that nothing ran since the last call."""
        nvml = self._nvml
        if device.mig:
            return Missing.UNDER_MIG
        try:
            samples = nvml.nvmlDeviceGetProcessUtilization(handle, self._seen.get(device.uuid, 0))
        except (nvml.NVMLError, AttributeError) as error:
            return {} if getattr(error, "value", None) == nvml.NVML_ERROR_NOT_FOUND else Missing.NOT_SUPPORTED
        newest: dict[int, tuple[int, float]] = {}
        for one in samples:
            if 0 <= one.smUtil <= 100 and one.timeStamp >= newest.get(one.pid, (0, 0.0))[0]:
                newest[one.pid] = (one.timeStamp, one.smUtil / 100)
        times = [one.timeStamp for one in samples]
        self._seen[device.uuid] = max([self._seen.get(device.uuid, 0), *times])
        return {pid: share for pid, (_, share) in newest.items()}

    @staticmethod
    def _who(pid: int) -> tuple[str, str]:
        """Name and user of a process; empty where this process may not know."""
        try:
            process = psutil.Process(pid)
            return process.name(), process.username()
        except (psutil.Error, KeyError, ValueError, OverflowError):
            return "", ""


def command_line(pid: int, limit: int = 80) -> str:
    """The command line of a process, shortened: it may hold passwords, so ask only when the user asks."""
    try:
        whole = " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ""
    return whole if len(whole) <= limit else whole[: limit - 1] + "…"
