"""AMD GPUs by a made-up amdsmi: units, entries that are missing, and a driver that does not answer."""

from types import SimpleNamespace as Box

import pytest

from planner.telemetry.amd import AmdSource
from planner.telemetry.sample import METRICS, Absent, Missing


class AmdSmiException(Exception):
    pass


class FakeSmi:
    AmdSmiException = AmdSmiException
    AmdSmiClkType = Box(GFX=0)
    AmdSmiTemperatureType = Box(HOTSPOT=1)
    AmdSmiTemperatureMetric = Box(CURRENT=0)

    def __init__(self, failing=(), power_limit=750_000_000):
        self.failing, self.power_limit = set(failing), power_limit

    def _answer(self, name, value):
        if name in self.failing:
            raise AmdSmiException(name)
        return value

    def amdsmi_init(self):
        return self._answer("init", None)

    def amdsmi_get_processor_handles(self):
        return self._answer("handles", ["a", "b"])

    def amdsmi_get_gpu_asic_info(self, handle):
        return self._answer("asic", {"market_name": "AMD Instinct MI300X"})

    def amdsmi_get_gpu_device_uuid(self, handle):
        return self._answer("uuid", f"uuid-{handle}")

    def amdsmi_get_gpu_vram_usage(self, handle):
        return self._answer("memory", {"vram_total": 196592, "vram_used": 1000})

    def amdsmi_get_gpu_activity(self, handle):
        return self._answer("activity", {"gfx_activity": 87, "umc_activity": "N/A"})

    def amdsmi_get_power_info(self, handle):
        found = {"current_socket_power": "N/A", "average_socket_power": 640, "power_limit": self.power_limit}
        return self._answer("power", found)

    def amdsmi_get_clock_info(self, handle, kind):
        return self._answer("clock", {"clk": 2100, "max_clk": 2100})

    def amdsmi_get_temp_metric(self, handle, kind, metric):
        return self._answer("temperature", 61)


def test_base_units():
    first, _ = AmdSource(FakeSmi()).read().samples
    assert (first.device.name, first.device.uuid) == ("AMD Instinct MI300X", "uuid-a")
    expected = {
        "memory_used": 1000 * 2**20,
        "utilization": 0.87,
        "power": 640.0,
        "power_limit": 750.0,
        "sm_clock": 2.1e9,
        "temperature": 61.0,
    }
    assert {name: first.metric(name) for name in expected} == pytest.approx(expected)
    assert first.metric("memory_utilization") is Missing.NOT_SUPPORTED
    assert set(first.values) <= set(METRICS)


def test_a_limit_in_watts_is_one():
    assert AmdSource(FakeSmi(power_limit=750)).read().samples[0].metric("power_limit") == 750.0


@pytest.mark.parametrize("call", ["asic", "uuid", "memory", "activity", "power", "clock", "temperature"])
def test_one_call_that_fails_costs_only_itself(call):
    first, _ = AmdSource(FakeSmi([call])).read().samples
    missing = [value for value in first.values.values() if isinstance(value, Missing)]
    assert len(missing) <= 4
    assert first.device.uuid in {"uuid-a", "amd-0"}


@pytest.mark.parametrize("call", ["init", "handles"])
def test_a_driver_that_does_not_answer(call):
    assert AmdSource(FakeSmi([call])).read().absent is Absent.NO_DRIVER
