"""The thread that reads: it stops when nobody looks, survives every failure, and costs next to nothing."""

import threading
import time

import pytest

from planner.telemetry import poller as module
from planner.telemetry.host import Host
from planner.telemetry.nvml import NvmlSource
from planner.telemetry.poller import Poller
from planner.telemetry.sample import METRICS, Absent, Kind, Reading
from planner.telemetry.trace import Ring

from .fake_nvml import Clock, FakeNvml, Gpu


class Counting:
    name = "counting"

    def __init__(self):
        self.count = 0

    def read(self):
        self.count += 1
        return Reading(time=float(self.count))


def eventually(condition, seconds=3.0):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_it_runs_only_while_someone_looks(monkeypatch):
    monkeypatch.setattr(module, "WATCHED_SECONDS", 0.1)
    source = Counting()
    poller = Poller(source, interval=0.02)
    assert not poller.running
    assert poller.watch().time >= 1
    assert eventually(lambda: not poller.running)
    stopped = source.count
    assert poller.watch().time >= stopped, "looking again starts it again"


def test_a_recording_keeps_it_alive(monkeypatch):
    monkeypatch.setattr(module, "WATCHED_SECONDS", 0.02)
    poller, heard = Poller(Counting(), interval=0.01), []
    poller.listen(heard.append)
    assert eventually(lambda: len(heard) > 10)
    poller.unlisten(heard.append)
    assert eventually(lambda: not poller.running)


def test_only_one_thread_however_many_look():
    source = Counting()
    source.name = "only-one"
    poller = Poller(source, interval=0.05)
    lookers = [threading.Thread(target=poller.watch) for _ in range(20)]
    for one in lookers:
        one.start()
    for one in lookers:
        one.join()
    assert len({one.ident for one in threading.enumerate() if one.name == "poller-only-one"}) == 1


def test_a_failing_source_and_a_failing_listener_do_not_stop_it():
    class Failing:
        name = "failing"

        def read(self):
            raise RuntimeError("never seen before")

    def listener(_):
        raise OSError("disk full")

    poller = Poller(Failing())
    poller._listeners.append(listener)
    assert poller.poll().absent is Absent.FAILED
    assert poller._listeners == []


def test_eight_gpus_cost_under_two_percent_of_a_core():
    clock = Clock()
    poller = Poller(NvmlSource(FakeNvml([Gpu(f"GPU-{i}") for i in range(8)]), clock), host=Host())
    poller.poll()
    rounds = 30
    began = time.process_time()
    for _ in range(rounds):
        clock.tick()
        poller.poll()
    assert (time.process_time() - began) / rounds < 0.02


def test_an_hour_of_sixteen_gpus_is_under_50_mib():
    clock = Clock()
    gpus = [Gpu(f"GPU-{i}", gpm=dict.fromkeys((1, 2, 3, 5, 10, 20, 21, 60, 61), 50.0)) for i in range(16)]
    poller = Poller(NvmlSource(FakeNvml(gpus), clock), host=Host())
    for _ in range(3):
        poller.poll()
        clock.tick()
    assert 0 < poller.ring.bytes < 50 * 2**20


def test_the_ring_keeps_the_newest():
    ring, source, clock = Ring(10, "nvml"), None, Clock()
    gpu = Gpu("GPU-1")
    source = NvmlSource(FakeNvml([gpu]), clock)
    for power in range(25):
        gpu.power = power * 1000
        ring.add(source.read())
        clock.tick()
    trace = ring.trace()
    assert trace.values("GPU-1", "power").tolist() == list(range(15, 25))
    assert len(ring.trace(seconds=3).times) == 4
    assert trace.last("GPU-1", "power") == 24


def test_host_metrics_are_shares_and_bytes():
    host = Host()
    host.sample()
    time.sleep(0.05)
    sample = host.sample()
    assert sample.device.kind is Kind.HOST
    assert set(sample.values) <= set(METRICS)
    assert 0 <= sample.metric("cpu") <= 1
    assert 0 < sample.metric("ram_used") < sample.metric("ram_total")


@pytest.mark.parametrize("back", [5.0, 0.0])
def test_a_clock_set_back_begins_anew(back):
    ring, clock = Ring(10), Clock()
    source = NvmlSource(FakeNvml([Gpu("GPU-1")]), clock)
    ring.add(source.read())
    clock.tick(-back)
    ring.add(source.read())
    assert len(ring.trace().times) == 1
