"""AMD GPUs of this machine, through `amdsmi`, which comes with ROCm and is used where it is installed."""

import importlib
import time
from collections.abc import Callable
from typing import Any

from planner.telemetry.sample import Absent, Device, Metric, Missing, Reading, Sample
from planner.units import MEGA, MIB

_MICRO = 1e5
"""A power limit over this is in microwatts: releases of amdsmi differ."""


def load_amdsmi() -> Any:
    """The module, or None where it or its library is missing."""
    try:
        return importlib.import_module("amdsmi")
    except Exception:  # its import loads the library, which may fail in any way
        return None


class AmdSource:
    """All AMD GPUs here. `read` never raises for what the driver may do."""

    name = "amdsmi"

    def __init__(self, amdsmi: Any, clock: Callable[[], float] = time.time) -> None:
        self._smi, self._clock = amdsmi, clock
        self._devices: list[tuple[Device, Any]] | None = None
        self._absent: Absent | None = None

    def read(self) -> Reading:
        """One reading of every device."""
        now = self._clock()
        if self._devices is None:
            self._start()
        if not self._devices:
            return Reading(time=now, absent=self._absent or Absent.NO_GPU)
        samples = tuple(Sample(device=device, values=self._values(handle)) for device, handle in self._devices)
        return Reading(time=now, samples=samples)

    def _start(self) -> None:
        try:
            self._smi.amdsmi_init()
            handles = self._smi.amdsmi_get_processor_handles()
        except self._smi.AmdSmiException:
            self._absent = Absent.NO_DRIVER
            return
        self._devices = [(self._device(index, handle), handle) for index, handle in enumerate(handles)]

    def _device(self, index: int, handle: Any) -> Device:
        asic = self._ask("amdsmi_get_gpu_asic_info", handle)
        uuid = self._ask("amdsmi_get_gpu_device_uuid", handle)
        name = asic.get("market_name", "") if isinstance(asic, dict) else ""
        known = isinstance(uuid, str) and not isinstance(uuid, Missing)  # a reason is text, too
        return Device(uuid=uuid if known else f"amd-{index}", name=name or "AMD GPU", index=index)

    def _values(self, handle: Any) -> dict[str, Metric]:
        smi = self._smi
        memory = self._ask("amdsmi_get_gpu_vram_usage", handle)
        activity = self._ask("amdsmi_get_gpu_activity", handle)
        power = self._ask("amdsmi_get_power_info", handle)
        clock = self._ask("amdsmi_get_clock_info", handle, smi.AmdSmiClkType.GFX)
        hotspot = (smi.AmdSmiTemperatureType.HOTSPOT, smi.AmdSmiTemperatureMetric.CURRENT)
        temperature = self._ask("amdsmi_get_temp_metric", handle, *hotspot)
        limit = _number(power, "power_limit")
        if isinstance(limit, float) and limit > _MICRO:
            limit /= 1e6
        return {
            "memory_used": _number(memory, "vram_used", scale=MIB),
            "memory_total": _number(memory, "vram_total", scale=MIB),
            "utilization": _number(activity, "gfx_activity", scale=0.01),
            "memory_utilization": _number(activity, "umc_activity", scale=0.01),
            "power": _number(power, "current_socket_power", "average_socket_power"),
            "power_limit": limit,
            "sm_clock": _number(clock, "clk", "cur_clk", scale=MEGA),
            "sm_clock_max": _number(clock, "max_clk", scale=MEGA),
            "temperature": _number({"value": temperature}, "value"),
        }

    def _ask(self, call: str, *arguments: Any) -> Any:
        """The answer of a call, or the reason that there is none."""
        try:
            return getattr(self._smi, call)(*arguments)
        except self._smi.AmdSmiException:
            return Missing.NOT_SUPPORTED
        except AttributeError:
            return Missing.DRIVER_TOO_OLD


def _number(answer: Any, *names: str, scale: float = 1.0) -> Metric:
    """The first of the named entries that is a number ("N/A" is none)."""
    if isinstance(answer, Missing):
        return answer
    for name in names:
        value = answer.get(name) if isinstance(answer, dict) else None
        if isinstance(value, Missing):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value) * scale
    return Missing.NOT_SUPPORTED
