"""NVML that fails call by call: a missing value is a reason, never a zero or a crash."""

import math
from types import SimpleNamespace as Box

import pynvml
import pytest

from planner.telemetry.nvml import RETRY_SECONDS, SLOW_SECONDS, NvmlSource
from planner.telemetry.nvml_queries import QUERIES
from planner.telemetry.sample import METRICS, Absent, Kind, Missing

from .fake_nvml import GIB, Clock, FakeNvml, Gpu


def source_of(*gpus, **faults):
    fake = FakeNvml(list(gpus) or None, **faults)
    clock = Clock()
    return NvmlSource(fake, clock), fake, clock


def test_reads_base_units():
    source, _, _ = source_of(Gpu("GPU-1", processes=[]))
    (sample,) = source.read().samples
    assert sample.device.name == "NVIDIA H100 80GB HBM3"
    expected = {
        "memory_used": 40 * GIB,
        "memory_total": 80 * GIB,
        "memory_reserved": 600 * 2**20,
        "utilization": 0.97,
        "power": 650.0,
        "power_limit": 700.0,
        "energy": 5000.0,
        "sm_clock": 1.755e9,
        "sm_clock_max": 1.98e9,
        "pcie_transmit": 1e6,
        "pcie_receive": 3e6,
        "encoder": 0.12,
        "compute_capability": 9.0,
        "lost": 0.0,
    }
    assert {name: sample.metric(name) for name in expected} == pytest.approx(expected)
    assert set(sample.values) <= set(METRICS)


def test_facts_come_from_nvml_whatever_the_banner_says():
    source, _, _ = source_of()
    assert source.read().facts == {"driver": "590.48.01", "cuda": "13.1"}


@pytest.mark.parametrize(
    ("error", "absent"),
    [
        (pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, Absent.NO_LIBRARY),
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, Absent.NO_DRIVER),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, Absent.VERSION_MISMATCH),
        (pynvml.NVML_ERROR_OPERATING_SYSTEM, Absent.BLOCKED),
        (pynvml.NVML_ERROR_UNKNOWN, Absent.FAILED),
    ],
)
def test_says_why_there_is_no_gpu_and_tries_again_later(error, absent):
    source, fake, clock = source_of(failing={"nvmlInit": error})
    assert source.read().absent is absent
    fake.failing.clear()
    clock.tick(1)
    assert source.read().absent is absent, "not at once: starting NVML may take seconds"
    clock.tick(RETRY_SECONDS)
    assert source.read().absent is None


def test_no_gpu_and_no_permission_are_told_apart():
    assert NvmlSource(FakeNvml([]), Clock()).read().absent is Absent.NO_GPU
    source, _, _ = source_of(failing={"nvmlDeviceGetHandleByIndex": pynvml.NVML_ERROR_NO_PERMISSION})
    assert source.read().absent is Absent.NO_PERMISSION


CALLS = {
    "nvmlDeviceGetUtilizationRates": ("utilization", "memory_utilization"),
    "nvmlDeviceGetPowerUsage": ("power",),
    "nvmlDeviceGetMemoryInfo": ("memory_used", "memory_total", "memory_reserved"),
    "nvmlDeviceGetTemperature": ("temperature",),
    "nvmlDeviceGetClockInfo": ("sm_clock", "memory_clock"),
    "nvmlDeviceGetPerformanceState": ("performance_state",),
    "nvmlDeviceGetEnforcedPowerLimit": ("power_limit",),
    "nvmlDeviceGetCurrPcieLinkWidth": ("pcie_generation", "pcie_width"),
    "nvmlDeviceGetTotalEccErrors": ("ecc_uncorrected",),
    "nvmlDeviceGetRemappedRows": ("remap_pending",),
    "nvmlDeviceGetPcieThroughput": ("pcie_transmit", "pcie_receive"),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (pynvml.NVML_ERROR_NOT_SUPPORTED, Missing.NOT_SUPPORTED),
        (pynvml.NVML_ERROR_NO_PERMISSION, Missing.NO_PERMISSION),
        (pynvml.NVML_ERROR_FUNCTION_NOT_FOUND, Missing.DRIVER_TOO_OLD),
        (pynvml.NVML_ERROR_UNKNOWN, Missing.FAILED),
    ],
)
def test_one_missing_metric_costs_only_itself(call, error, reason):
    source, _, _ = source_of(Gpu("GPU-1"), Gpu("GPU-2"), failing={(call, "GPU-1"): error})
    first, second = source.read().samples
    assert {first.metric(name) for name in CALLS[call]} == {reason}
    lost = [name for name, value in first.values.items() if not isinstance(value, float) and name not in CALLS[call]]
    same = [name for name, value in second.values.items() if not isinstance(value, float)]
    assert set(lost) - {"pcie_generation_max", "pcie_width_max", "remap_failed"} == set(same)


def test_what_is_not_supported_is_not_asked_again():
    source, fake, clock = source_of(Gpu("GPU-1"), failing={"nvmlDeviceGetPowerUsage": pynvml.NVML_ERROR_NOT_SUPPORTED})
    for _ in range(20):
        source.read()
        clock.tick()
    assert fake.count_of("nvmlDeviceGetPowerUsage") == 1


def test_what_is_refused_for_now_is_asked_again():
    failing = {"nvmlDeviceGetPowerUsage": pynvml.NVML_ERROR_NO_PERMISSION}
    source, fake, clock = source_of(Gpu("GPU-1"), failing=failing)
    source.read()
    fake.failing.clear()
    clock.tick()
    assert source.read().samples[0].metric("power") == 650.0


def test_an_older_binding_or_driver_still_gives_memory_and_reasons():
    source, _, _ = source_of(
        Gpu("GPU-1", reasons=4),
        missing={"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetRemappedRows", "nvmlEventSetCreate"},
    )
    (sample,) = source.read().samples
    assert sample.metric("event_reasons") == 4
    assert sample.metric("remap_pending") is Missing.DRIVER_TOO_OLD
    assert sample.metric("xid") is Missing.NOT_SUPPORTED


def test_slow_queries_run_rarely_and_a_slow_call_joins_them():
    source, fake, clock = source_of(Gpu("GPU-1"), slow={"nvmlDeviceGetPowerUsage": 0.06})
    for _ in range(int(2 * SLOW_SECONDS)):
        source.read()
        clock.tick()
    assert fake.count_of("nvmlDeviceGetUtilizationRates") == 2 * SLOW_SECONDS
    assert fake.count_of("nvmlDeviceGetTotalEccErrors") == 2
    assert fake.count_of("nvmlDeviceGetPowerUsage") == 2


def test_a_lost_gpu_keeps_its_card_is_left_alone_and_comes_back():
    lost, fine = Gpu("GPU-1"), Gpu("GPU-2")
    source, fake, clock = source_of(lost, fine)
    source.read()
    lost.lost = True
    clock.tick()
    first, second = source.read().samples
    assert (first.device.uuid, first.metric("lost"), first.metric("power")) == ("GPU-1", 1.0, Missing.GPU_LOST)
    assert second.metric("power") == 650.0
    asked = len([call for call in fake.calls if call[1] == "GPU-1"])
    clock.tick()
    source.read()
    assert len([call for call in fake.calls if call[1] == "GPU-1"]) == asked
    lost.lost = False
    clock.tick(RETRY_SECONDS + 1)
    assert source.read().samples[0].metric("power") == 650.0


def test_after_a_restart_gpus_are_known_by_uuid_and_a_missing_one_is_lost():
    first, second = Gpu("GPU-1", power=100_000), Gpu("GPU-2", power=200_000)
    source, fake, clock = source_of(first, second)
    source.read()
    fake.gpus = [second]
    fake.failing = {("nvmlDeviceGetPowerUsage", "GPU-2"): pynvml.NVML_ERROR_UNINITIALIZED}
    clock.tick()
    assert source.read().absent is Absent.VERSION_MISMATCH
    fake.failing.clear()
    clock.tick()
    reading = source.read()
    assert {s.device.uuid: s.metric("lost") for s in reading.samples} == {"GPU-1": 1.0, "GPU-2": 0.0}
    assert fake.started == 1, "started and stopped in balance"


def test_mig_instances_are_devices_of_their_own():
    instances = [Gpu("MIG-1", name="1g.10gb", total=10 * GIB, used=GIB, instance=7), None, Gpu("MIG-2", total=20 * GIB)]
    source, _, _ = source_of(Gpu("GPU-1", mig=instances))
    parent, one, two = source.read().samples
    assert parent.device.mig
    assert parent.metric("utilization") is Missing.UNDER_MIG
    assert parent.metric("power") == 650.0
    assert (one.device.kind, one.device.parent, one.device.name) == (Kind.MIG, "GPU-1", "1g.10gb")
    assert one.metric("memory_total") == 10 * GIB
    assert one.metric("utilization") is Missing.UNDER_MIG
    assert (two.device.uuid, two.device.index) == ("MIG-2", 2)


def test_unified_memory_is_told_by_the_answers():
    source, _, _ = source_of(Gpu("GPU-1", name="NVIDIA GB10", integrated=True))
    (sample,) = source.read().samples
    assert sample.metric("memory_used") is Missing.NOT_SUPPORTED
    assert sample.device.shared_memory


def test_activity_needs_two_samples():
    gpm = {pynvml.NVML_GPM_METRIC_SM_UTIL: 41.0, pynvml.NVML_GPM_METRIC_PCIE_RX_PER_SEC: 3.0}
    source, fake, clock = source_of(Gpu("GPU-1", gpm=gpm))
    assert source.read().samples[0].metric("sm_active") is Missing.NOT_SAMPLED_YET
    clock.tick()
    (sample,) = source.read().samples
    assert sample.metric("sm_active") == pytest.approx(0.41)
    assert sample.metric("pcie_receive") == 3 * 2**20
    assert sample.metric("tensor_active") is Missing.NOT_SUPPORTED
    assert not fake.count_of("nvmlDeviceGetPcieThroughput"), "it blocks, and is not needed here"


def test_activity_without_permission_says_so():
    source, _, _ = source_of(Gpu("GPU-1", gpm={}), failing={"nvmlGpmSampleGet": pynvml.NVML_ERROR_NO_PERMISSION})
    assert source.read().samples[0].metric("sm_active") is Missing.NO_PERMISSION


def test_link_rates_from_counters_and_a_counter_that_begins_anew():
    gpu = Gpu("GPU-1")
    source, _, clock = source_of(gpu)
    assert source.read().samples[0].metric("nvlink_transmit") is Missing.NOT_SAMPLED_YET
    gpu.sent_kib, gpu.received_kib = 10 * 1024, 20 * 1024
    clock.tick(10)
    (sample,) = source.read().samples
    assert (sample.metric("nvlink_transmit"), sample.metric("nvlink_receive")) == (2**20, 2 * 2**20)
    gpu.sent_kib = 0
    clock.tick(10)
    assert source.read().samples[0].metric("nvlink_transmit") is Missing.NOT_SAMPLED_YET


def test_xid_errors_are_delivered_once_and_kept():
    gpu = Gpu("GPU-2")
    source, fake, clock = source_of(Gpu("GPU-1"), gpu)
    assert [s.metric("xid") for s in source.read().samples] == [0.0, 0.0]
    fake.xids.append((gpu, 79))
    clock.tick()
    assert [s.metric("xid") for s in source.read().samples] == [0.0, 79.0]


def test_processes_are_one_row_each_and_name_what_cannot_be_known():
    running = [Box(pid=2**22 + 5, usedGpuMemory=GIB), Box(pid=2**22 + 6, usedGpuMemory=None)]
    source, _, _ = source_of(Gpu("GPU-1", processes=running))
    first, second = sorted(source.read().processes, key=lambda one: one.pid)
    assert (first.memory, first.sm, first.name) == (GIB, 0.0, "")
    assert second.memory is Missing.NOT_SUPPORTED


def test_an_empty_list_with_memory_held_is_not_an_idle_gpu():
    source, _, _ = source_of(Gpu("GPU-1", processes=[]))
    assert source.read().processes is Missing.OTHER_NAMESPACE
    source, _, _ = source_of(Gpu("GPU-1", processes=[], used=0))
    assert source.read().processes == ()


def test_every_query_survives_every_error():
    codes = [getattr(pynvml, name) for name in dir(pynvml) if name.startswith("NVML_ERROR_")]
    names = {name for name in dir(FakeNvml) if name.startswith("_nvmlDeviceGet")} - {"_nvmlDeviceGetCount"}
    for code in codes:
        source, _, clock = source_of(Gpu("GPU-1"), failing={name[1:]: code for name in names})
        for _ in range(2):
            source.read()
            clock.tick(RETRY_SECONDS + 1)


def test_the_table_names_known_metrics_once():
    names = [name for query in QUERIES for name in query.metrics]
    assert len(names) == len(set(names))
    assert set(names) <= set(METRICS)
    assert all(math.isfinite(value) for value in (SLOW_SECONDS, RETRY_SECONDS))


def test_a_real_machine_answers_something():
    reading = NvmlSource().read()
    assert reading.absent or reading.samples
