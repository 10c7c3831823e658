"""Recordings: what was written is read, whatever byte the writing stopped at, and a day opens quickly."""

import io
import time

import numpy as np
import pytest

from planner.telemetry.nvml import NvmlSource
from planner.telemetry.recording import BLOCK_READINGS, MAGIC, NotARecording, Recorder, block_of, read_recording
from planner.telemetry.sample import Device, Missing
from planner.telemetry.trace import Event, Trace

from .fake_nvml import Clock, FakeNvml, Gpu


def recorded(readings, file=None, clock=None, events=()):
    file, clock = file or io.BytesIO(), clock or Clock()
    gpu = Gpu("GPU-1")
    source, recorder = NvmlSource(FakeNvml([gpu]), clock), Recorder(file, "nvml", block_readings=5)
    for number in range(readings):
        gpu.power, gpu.energy = 1000 * number, 10**12 + number
        recorder.add(source.read())
        clock.tick()
    for event in events:
        recorder.note(event)
    recorder.flush()
    return file


def reopened(data):
    return read_recording(io.BytesIO(data))


def test_what_was_written_is_read():
    event = Event(time=1e6, uuid="GPU-1", code="hot", parameters={"temperature": 91.0})
    trace = reopened(recorded(23, events=[event]).getvalue())
    assert trace.values("GPU-1", "power").tolist() == list(range(23))
    assert np.diff(trace.times).tolist() == [1.0] * 22
    assert trace.values("GPU-1", "energy")[-1] - trace.values("GPU-1", "energy")[0] == pytest.approx(0.022, rel=1e-4)
    assert trace.values("GPU-1", "power_limit").tolist() == [700.0] * 23
    assert trace.reason("GPU-1", "fan") is Missing.NOT_SUPPORTED
    assert trace.devices == (Device(uuid="GPU-1", name="NVIDIA H100 80GB HBM3", index=0),)
    assert trace.events == (event,)


def test_a_stop_at_any_byte_keeps_the_whole_blocks_before_it():
    whole = recorded(15).getvalue()
    lengths = set()
    for stop in range(len(MAGIC), len(whole) + 1):
        lengths.add(len(reopened(whole[:stop]).times))
    assert lengths == {0, 5, 10, 15}


def test_writing_goes_on_after_a_stop_at_any_byte():
    whole = recorded(10).getvalue()
    for stop in range(0, len(whole) + 1, 7):
        clock = Clock()
        clock.tick(100)
        data = recorded(5, file=io.BytesIO(whole[:stop]), clock=clock).getvalue()
        trace = reopened(data)
        assert len(trace.times) in (5, 10, 15)
        assert trace.values("GPU-1", "power")[-5:].tolist() == [0, 1, 2, 3, 4]


def test_a_flipped_bit_ends_the_readable_part():
    whole = bytearray(recorded(10).getvalue())
    whole[-20] ^= 1
    assert len(reopened(bytes(whole)).times) == 5


def test_another_file_is_refused_and_not_overwritten():
    file = io.BytesIO(b"precious notes")
    with pytest.raises(NotARecording):
        Recorder(file, "nvml")
    with pytest.raises(NotARecording):
        read_recording(io.BytesIO(b"precious notes"))
    assert file.getvalue() == b"precious notes"


def test_a_day_of_eight_gpus_opens_in_three_seconds():
    noise = np.random.default_rng(0)
    names = ("utilization", "power", "temperature", "memory_used", "sm_clock", "sm_active", "tensor_active", "energy")
    devices = tuple(Device(uuid=f"GPU-{i}", name="H100", index=i) for i in range(8))
    keys = [(device.uuid, name) for device in devices for name in names]
    constant = {(d.uuid, name): np.full(BLOCK_READINGS, 700.0) for d in devices for name in ("power_limit", "xid")}
    parts = [MAGIC]
    block = {key: noise.random(BLOCK_READINGS).astype(np.float32) for key in keys} | constant
    for start in range(0, 86_400, BLOCK_READINGS):
        times = np.arange(start, start + BLOCK_READINGS, dtype=float)
        if start % 3000 == 0:
            body = block
        parts.append(block_of(Trace(source="nvml", times=times, devices=devices, columns=body)))
    data = b"".join(parts)
    began = time.perf_counter()
    trace = reopened(data)
    assert time.perf_counter() - began < 3.0
    assert len(trace.times) == 86_400
    assert len(data) < 100 * 2**20
