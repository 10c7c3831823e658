"""A fake NVML that fails call by call: a missing value is a reason, never a zero or a crash."""

from types import SimpleNamespace

import pynvml
import pytest

from planner.telemetry import nvml
from planner.telemetry.sample import Absent, Missing


class FakeNvml:
    """Stands in for the functions of pynvml that the reader calls; `failing` maps a function to its error."""

    def __init__(self, count=2, failing=None):
        self.count, self.failing = count, failing or {}

    def call(self, name, value):
        def function(*_):
            if name in self.failing:
                raise pynvml.NVMLError(self.failing[name])
            return value

        return function

    def install(self, monkeypatch):
        values = {
            "nvmlInit": None,
            "nvmlDeviceGetCount": self.count,
            "nvmlDeviceGetHandleByIndex": object(),
            "nvmlDeviceGetUUID": "GPU-1",
            "nvmlDeviceGetName": b"NVIDIA H100",
            "nvmlDeviceGetMemoryInfo": SimpleNamespace(used=3 * 2**30, total=80 * 2**30),
            "nvmlDeviceGetUtilizationRates": SimpleNamespace(gpu=42),
            "nvmlDeviceGetPowerUsage": 350_000,
            "nvmlDeviceGetEnforcedPowerLimit": 700_000,
        }
        for name, value in values.items():
            monkeypatch.setattr(pynvml, name, self.call(name, value))


def test_reads_base_units(monkeypatch):
    FakeNvml().install(monkeypatch)
    first, second = nvml.read()
    assert first == second
    assert first.name == "NVIDIA H100"
    assert (first.memory_used, first.memory_total) == (3 * 2**30, 80 * 2**30)
    assert (first.utilization, first.power, first.power_limit) == (0.42, 350.0, 700.0)


@pytest.mark.parametrize(
    ("error", "absent"),
    [
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, Absent.NO_LIBRARY),
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, Absent.NO_DRIVER),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, Absent.VERSION_MISMATCH),
        (pynvml.NVML_ERROR_UNKNOWN, Absent.FAILED),
    ],
)
def test_says_why_there_is_no_gpu(monkeypatch, error, absent):
    FakeNvml(failing={"nvmlInit": error}).install(monkeypatch)
    assert nvml.read() is absent


def test_no_gpu_is_not_an_empty_list(monkeypatch):
    FakeNvml(count=0).install(monkeypatch)
    assert nvml.read() is Absent.NO_GPU


@pytest.mark.parametrize(
    ("function", "field"),
    [
        ("nvmlDeviceGetUtilizationRates", "utilization"),
        ("nvmlDeviceGetPowerUsage", "power"),
        ("nvmlDeviceGetEnforcedPowerLimit", "power_limit"),
        ("nvmlDeviceGetMemoryInfo", "memory_used"),
    ],
)
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (pynvml.NVML_ERROR_NOT_SUPPORTED, Missing.NOT_SUPPORTED),
        (pynvml.NVML_ERROR_GPU_IS_LOST, Missing.GPU_LOST),
        (pynvml.NVML_ERROR_UNKNOWN, Missing.FAILED),
    ],
)
def test_one_missing_metric_costs_only_itself(monkeypatch, function, field, error, reason):
    FakeNvml(count=1, failing={function: error}).install(monkeypatch)
    (sample,) = nvml.read()
    assert getattr(sample, field) is reason
    assert sample.name == "NVIDIA H100"
    others = {"utilization", "power", "power_limit"} - {field}
    assert all(isinstance(getattr(sample, other), float) for other in others)


def test_a_real_machine_answers_something():
    assert nvml.read()
