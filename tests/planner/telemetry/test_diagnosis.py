"""Each rule fires on what it names, keeps quiet on what it doesn't, and says when it could not look."""

from dataclasses import replace

import numpy as np
import pytest

from planner.telemetry.diagnosis.diagnose import RULES, assume, diagnose
from planner.telemetry.diagnosis.thresholds import THRESHOLDS, limits
from planner.telemetry.diagnosis.verdict import Confidence, Outcome
from planner.telemetry.diagnosis.view import Steps, busy_part, longest_run
from planner.telemetry.sample import Device, Kind
from planner.telemetry.trace import Trace

GIB = 2**30
HEALTHY = {
    "utilization": 0.99,
    "sm_active": 0.9,
    "tensor_active": 0.6,
    "dram_active": 0.4,
    "power": 690.0,
    "power_limit": 700.0,
    "power_limit_default": 700.0,
    "event_reasons": 0.0,
    "memory_used": 60 * GIB,
    "memory_total": 80 * GIB,
    "memory_reserved": 0.0,
    "sm_clock": 1.9e9,
    "sm_clock_max": 1.98e9,
    "performance_state": 0.0,
    "pcie_generation": 5.0,
    "pcie_generation_max": 5.0,
    "pcie_width": 16.0,
    "pcie_width_max": 16.0,
    "pcie_transmit": 1e8,
    "pcie_receive": 1e8,
    "compute_capability": 9.0,
    "temperature": 60.0,
    "xid": 0.0,
    "lost": 0.0,
}
HOST = {"cpu": 0.3, "cpu_busiest_core": 0.5, "io_wait": 0.01}


def trace(*gpus, seconds=60, host=HOST, times=None):
    """A trace of GPUs given as changes to a healthy one: numbers, columns, or None for a metric that is missing."""
    times = np.arange(seconds + 1.0) if times is None else times
    columns, devices = {}, []
    for index, changes in enumerate(gpus or ({},)):
        devices.append(Device(uuid=f"GPU-{index}", name="H100", index=index))
        for metric, value in (HEALTHY | changes).items():
            if value is not None:
                columns[(f"GPU-{index}", metric)] = np.broadcast_to(np.asarray(value, float), times.shape)
    if host:
        devices.append(Device(uuid="host", name="node", kind=Kind.HOST))
        columns |= {("host", metric): np.full(times.shape, value) for metric, value in host.items()}
    return Trace(source="test", times=times, devices=tuple(devices), columns=columns)


def found(diagnosis):
    return {verdict.rule for verdict in diagnosis.with_outcome(Outcome.FOUND, Outcome.UNDECIDED)}


def verdict(diagnosis, rule):
    return next(one for one in diagnosis.verdicts if one.rule == rule)


def test_a_healthy_gpu_is_only_healthy():
    assert found(diagnose(trace())) == {"healthy"}


WAVE = (np.arange(61) // 3 % 2).astype(float)
CASES = {
    "gpu-lost": [{"lost": 1.0}],
    "thermal": [{"event_reasons": 0x20}],
    "power-brake": [{"event_reasons": 0x80}],
    "power-capped": [{"event_reasons": 0x4, "power_limit": 400.0, "power": 395.0}],
    "slow-clocks": [{"sm_clock": 0.4e9, "performance_state": 8.0}],
    "link-degraded": [{"pcie_width": 8.0}],
    "unused-gpu": [{}, {"utilization": 0.0}],
    "imbalance": [{}, {"utilization": 0.5}],
    "counters-contradict": [{"sm_active": 0.0, "utilization": 1.0}],
    "sawtooth": [{"utilization": WAVE}],
    "copy-bound": [{"pcie_receive": 50e9}],
    "launch-bound": [{"sm_active": 0.15, "power": 300.0, "memory_used": 30 * GIB}],
    "bandwidth-bound": [{"dram_active": 0.8, "tensor_active": 0.05}],
    "tensor-cores-unused": [{"tensor_active": 0.01}],
    "memory-tight": [{"memory_used": 79 * GIB}],
    "memory-held": [{"utilization": 0.0, "sm_active": 0.0, "power": 80.0}],
    "memory-room": [{"sm_active": 0.15, "power": 300.0, "memory_used": 30 * GIB}],
    "idle": [{"utilization": 0.0, "sm_active": 0.0, "power": 80.0, "memory_used": 0.0}],
}


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_fires_on_its_case(rule):
    seconds = {"unused-gpu": 400, "memory-held": 1000}.get(rule, 60)
    one = verdict(diagnose(trace(*CASES[rule], seconds=seconds)), rule)
    assert one.outcome is Outcome.FOUND
    assert one.evidence
    assert one.uuids
    assert one.advice or rule in {"idle"}


def test_a_gpu_with_a_finding_is_not_called_healthy():
    diagnosis = diagnose(trace({"memory_used": 79.9 * GIB}))
    assert "healthy" not in found(diagnosis)


def test_host_bound_needs_a_full_core():
    gpu = {"utilization": 0.3, "sm_active": 0.2, "power": 250.0}
    assert "host-bound" in found(diagnose(trace(gpu, host=HOST | {"cpu_busiest_core": 0.99})))
    assert "host-bound" not in found(diagnose(trace(gpu)))
    one = verdict(diagnose(trace(gpu, host=None)), "host-bound")
    assert (one.outcome, one.missing) == (Outcome.NOT_EVALUATED, ("cpu",))


def test_at_its_own_power_limit_a_card_is_where_it_should_be():
    assert found(diagnose(trace({"event_reasons": 0x4, "power": 699.0}))) == {"healthy"}


def test_a_slow_link_at_idle_is_normal():
    idle = {"utilization": 0.0, "pcie_generation": 1.0, "performance_state": 8.0, "sm_active": 0.0, "power": 70.0}
    assert "link-degraded" not in found(diagnose(trace(idle)))


def test_busy_at_low_power_stays_undecided_without_counters():
    bare = dict.fromkeys(("sm_active", "tensor_active", "dram_active", "pcie_transmit", "pcie_receive"))
    one = verdict(diagnose(trace(*[bare | {"power": 390.0}] * 8)), "busy-at-low-power")
    assert one.outcome is Outcome.UNDECIDED
    assert one.confidence is Confidence.LOW
    assert one.between == ("launch-bound", "communication-bound", "bandwidth-bound")
    assert one.missing == ("sm_active", "communication_share")
    alone = verdict(diagnose(trace(bare | {"power": 390.0})), "busy-at-low-power")
    assert "communication-bound" not in alone.between


def test_a_profilers_share_of_communication_decides():
    gpus = [{"power": 390.0}] * 2
    assert "communication-bound" in found(diagnose(trace(*gpus), steps=Steps(seconds=1.0, communication=0.3)))
    assert "communication-bound" not in found(diagnose(trace(*gpus), steps=Steps(seconds=1.0, communication=0.05)))


def test_a_hang_is_told_by_steps_only():
    gpu = {"utilization": 1.0, "power": 300.0, "sm_active": 0.9}
    one = verdict(diagnose(trace(gpu)), "hang")
    assert (one.outcome, one.missing) == (Outcome.NOT_EVALUATED, ("step_progress",))
    assert "hang" in found(diagnose(trace(gpu), steps=Steps(seconds=1.0, last=20.0)))
    assert "hang" not in found(diagnose(trace(gpu), steps=Steps(seconds=1.0, last=55.0)))


def test_a_missing_input_is_not_a_clean_bill():
    bare = {metric: None for metric in HEALTHY if metric not in ("utilization", "temperature")}
    diagnosis = diagnose(trace(bare, host=None))
    assert found(diagnosis) == set()
    assert verdict(diagnosis, "thermal").missing == ("event_reasons",)
    assert verdict(diagnosis, "healthy").outcome is Outcome.NOT_EVALUATED
    assert diagnosis.main is None


def test_too_few_readings_are_not_judged_but_a_lost_gpu_is():
    diagnosis = diagnose(trace({"lost": 1.0}, seconds=5))
    assert found(diagnosis) == {"gpu-lost"}
    assert verdict(diagnosis, "thermal").missing == ("readings",)


def test_a_gap_ends_what_was_before():
    times = np.concatenate((np.arange(40.0), np.arange(500.0, 520.0)))
    diagnosis = diagnose(trace(times=times))
    assert (diagnosis.start, diagnosis.readings) == (500.0, 20)
    assert longest_run(times, np.ones(60, bool), 10.0) == 39.0
    assert longest_run(times, times > 505, 10.0) == 13.0
    assert longest_run(times, times > 1e9, 10.0) == 0.0


def test_slow_sampling_widens_the_window():
    diagnosis = diagnose(trace(times=np.arange(0.0, 1000.0, 5.0)))
    assert diagnosis.readings >= 30
    assert found(diagnosis) == {"healthy"}


def test_thresholds_can_be_set_and_are_sourced():
    assert "thermal" not in found(diagnose(trace({"event_reasons": 0x20}), {"thermal_share": 1.0}))
    assert limits({"nonsense": 3.0}) == limits()
    assert all(one.source and one.unit for one in THRESHOLDS.values())


def test_a_log_is_judged_with_what_the_user_adds():
    bare = {metric: None for metric in HEALTHY if metric not in ("utilization", "temperature", "power")}
    log = trace(*[bare] * 8, host=None)
    assert "healthy" not in found(diagnose(log))
    assert found(diagnose(assume(log, {"power_limit": 700.0}))) == {"healthy"}


def test_the_busy_part_leaves_idle_ends_out():
    busy = np.zeros(101)
    busy[20:81] = 0.9
    assert busy_part(trace({"utilization": busy}, seconds=100)) == (20.0, 80.0)
    assert busy_part(trace({"utilization": 0.0}, seconds=100)) == (0.0, 100.0)


def test_the_minute_may_end_before_the_log_does():
    busy = np.zeros(301)
    busy[100:201] = 0.99
    log = trace({"utilization": busy, "power": 80 + 600 * busy, "sm_active": 0.9 * busy}, seconds=300)
    assert found(diagnose(log)) == {"idle"}
    ended = diagnose(log, end=busy_part(log)[1])
    assert (ended.start, ended.end) == (140.0, 200.0)
    assert found(ended) == {"healthy"}


def test_rules_are_told_in_order_and_once():
    names = [one.rule for one in diagnose(trace()).verdicts]
    assert len(names) == len(set(names)) == len(RULES) + 4
    assert names[0] == "gpu-lost"
    assert names[-1] == "healthy"


@pytest.mark.parametrize("metric", sorted(HEALTHY))
def test_any_metric_may_be_missing(metric):
    diagnosis = diagnose(trace({metric: None}, {}))
    assert found(diagnosis) <= {"healthy", "busy-at-low-power"}


def test_an_empty_trace_is_no_crash():
    diagnosis = diagnose(Trace(source="", times=np.zeros(0), devices=(), columns={}))
    assert diagnosis.main is None
    assert diagnosis.readings == 0


def test_cards_of_different_models_are_not_compared():
    uneven = trace({}, {"power": 250.0, "utilization": 0.6})
    assert "imbalance" in found(diagnose(uneven))
    devices = tuple(replace(one, name=f"card {place}") for place, one in enumerate(uneven.devices))
    assert "imbalance" not in found(diagnose(replace(uneven, devices=devices)))
