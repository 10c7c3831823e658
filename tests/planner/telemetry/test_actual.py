"""The plan against a trace."""

import numpy as np
import pytest

from planner.calibration.intervals import interval
from planner.estimate import estimate
from planner.plan.plan import resolve
from planner.plan.request import request_of
from planner.telemetry.actual import against
from planner.telemetry.sample import Device, Missing
from planner.telemetry.trace import Trace

GIB = 2**30


@pytest.fixture(scope="module")
def found():
    request = request_of(resolve({}))
    return interval(estimate(request), request)


def trace(**columns):
    times = np.arange(60.0)
    busy = np.where((times >= 10) & (times < 50), 0.95, 0.0)
    values = {"utilization": busy, "power": 100 + 500 * busy} | columns
    devices = tuple(Device(uuid=f"GPU-{i}", name="x", index=i) for i in range(2))
    every = {(d.uuid, name): np.broadcast_to(np.asarray(v, float), 60) for d in devices for name, v in values.items()}
    return Trace(source="test", times=times, devices=devices, columns=every)


def by_id(*arguments, **named):
    return {one.id: one for one in against(*arguments, **named)}


def test_the_fullest_gpu_over_the_busy_part(found):
    memory = np.full(60, 20.0 * GIB)
    memory[30], memory[0] = 30 * GIB, 70 * GIB  # the start is not part of the run
    figures = by_id(trace(memory_used=memory), found, watts=300.0, step=2.0)
    assert figures["device"].measured == 30 * GIB
    assert figures["device"].ratio == pytest.approx(found.device.value / (30 * GIB))
    assert figures["power"].measured == pytest.approx(575.0)
    assert figures["power"].ratio == pytest.approx(300 / 575)
    assert figures["utilization"].measured == pytest.approx(0.95)
    assert figures["utilization"].ratio is None


def test_what_is_not_told_is_a_reason(found):
    figures = by_id(trace(), found)
    assert figures["device"].measured is Missing.NOT_IN_SOURCE
    assert figures["seconds"].measured is Missing.NOT_IN_SOURCE
    assert figures["device"].ratio is None
    assert figures["device"].inside is None


def test_one_process_stands_for_itself(found):
    figures = by_id(trace(memory_used=70.0 * GIB), found, process_memory=found.device.value)
    assert figures["device"].ratio == pytest.approx(1.0)
    assert figures["device"].inside


def test_throughput_follows_from_the_measured_step(found):
    figures = by_id(trace(), found, step=2 * found.seconds.value)
    assert figures["tokens_per_second"].measured == pytest.approx(found.tokens_per_second.value / 2)
    assert by_id(trace(), found)["tokens_per_second"].measured is Missing.NOT_IN_SOURCE
