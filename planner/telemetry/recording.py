"""Our own recordings: a file that only grows, compressed, and readable after a stop at any byte.

A file is a magic line and blocks. Each block stands alone: its length, a checksum, and a compressed body of one line
of JSON (who was measured, and every column that did not change) followed by the columns that did, as little-endian
32-bit floats. A block that is cut off or damaged ends the readable part; writing goes on from there.
"""

import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from planner.telemetry.sample import Device, Kind, Missing, Reading
from planner.telemetry.trace import WIDE, Array, Event, Key, Trace, trace_of

MAGIC = b"gpu-planner telemetry 1\n"
BLOCK_READINGS = 30
"""Readings in a block: what a kill may cost, at most."""
MAXIMUM_BLOCK_BYTES = 64 * 2**20

_HEAD = struct.Struct("<II")  # length of the compressed body, its CRC-32


class NotARecording(ValueError):
    """The file does not begin as a recording does."""


class Recorder:
    """Writes readings into an open binary file, which may hold an earlier recording: that one is continued."""

    def __init__(self, file: BinaryIO, source: str, block_readings: int = BLOCK_READINGS) -> None:
        self._file, self._source, self._limit = file, source, block_readings
        self._readings: list[Reading] = []
        self._events: list[Event] = []
        file.seek(0)
        end = _readable_end(file)
        file.seek(end)
        file.truncate()
        if end == 0:
            file.write(MAGIC)
            file.flush()
        self.readings = 0

    def add(self, reading: Reading) -> None:
        """Keep one reading; written with its block."""
        if reading.samples:
            self._readings.append(reading)
            self.readings += 1
        if len(self._readings) >= self._limit:
            self.flush()

    def note(self, event: Event) -> None:
        """Keep an event; written at once, with what came before it."""
        self._events.append(event)
        self.flush()

    def flush(self) -> None:
        """Write what is kept as a block."""
        if not self._readings and not self._events:
            return
        trace = trace_of(self._readings, self._source, events=tuple(self._events))
        self._file.write(block_of(trace))
        self._file.flush()
        self._readings, self._events = [], []


def block_of(trace: Trace) -> bytes:
    """A trace as one block."""
    constant: list[Any] = []
    changing: list[Any] = []
    arrays: list[Array] = [np.asarray(trace.times, "<f8")]
    for (uuid, metric), column in trace.columns.items():
        if len(column) and (column == column[0]).all():
            constant.append([uuid, metric, float(column[0])])
        else:
            changing.append([uuid, metric])
            arrays.append(np.asarray(column, "<f8" if metric in WIDE else "<f4"))
    head = {
        "source": trace.source,
        "count": len(trace.times),
        "devices": [_written(device) for device in trace.devices],
        "constant": constant,
        "changing": changing,
        "missing": [[uuid, metric, reason] for (uuid, metric), reason in trace.reasons.items()],
        "events": [[event.time, event.uuid, event.code, dict(event.parameters)] for event in trace.events],
    }
    line = json.dumps(head, separators=(",", ":"), default=float).encode() + b"\n"
    body = zlib.compress(line + b"".join(array.tobytes() for array in arrays), 6)
    return _HEAD.pack(len(body), zlib.crc32(body)) + body


def _written(device: Device) -> dict[str, Any]:
    return {name: getattr(device, name) for name in Device.__slots__}


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """The whole, undamaged blocks from here on, as they are."""
    while True:
        head = file.read(_HEAD.size)
        if len(head) < _HEAD.size:
            return
        length, checksum = _HEAD.unpack(head)
        if length > MAXIMUM_BLOCK_BYTES:
            return
        body = file.read(length)
        if len(body) < length or zlib.crc32(body) != checksum:
            return
        yield body


def _readable_end(file: BinaryIO) -> int:
    """Where the readable part ends; 0 for an empty file."""
    start = file.read(len(MAGIC))
    if start != MAGIC:
        if MAGIC.startswith(start):  # empty, or stopped within its first bytes
            return 0
        raise NotARecording
    end = len(MAGIC)
    for body in _blocks(file):
        end += _HEAD.size + len(body)
    return end


def read_recording(file: BinaryIO) -> Trace:
    """Everything that is readable in a recording, as one trace."""
    if file.read(len(MAGIC)) != MAGIC:
        raise NotARecording
    blocks = [_parse(body) for body in _blocks(file)]
    return _joined(blocks)


def _parse(body: bytes) -> tuple[dict[str, Any], dict[Key, Array], Array]:
    inflater = zlib.decompressobj()
    whole = inflater.decompress(body, MAXIMUM_BLOCK_BYTES)
    line, _, data = whole.partition(b"\n")
    head = json.loads(line)
    count, place = head["count"], head["count"] * 8
    times = np.frombuffer(data, "<f8", count)
    columns: dict[Key, Array] = {}
    for uuid, metric in head["changing"]:
        kind, size = ("<f8", 8) if metric in WIDE else ("<f4", 4)
        columns[(uuid, metric)] = np.frombuffer(data, kind, count, place)
        place += count * size
    return head, columns, times


def _joined(blocks: list[tuple[dict[str, Any], dict[Key, Array], Array]]) -> Trace:
    times = np.concatenate([block[2] for block in blocks]) if blocks else np.zeros(0)
    columns: dict[Key, Array] = {}
    devices: dict[str, Device] = {}
    reasons: dict[Key, Missing] = {}
    events: list[Event] = []
    start = 0
    for head, changing, _ in blocks:
        part = slice(start, start + head["count"])
        start = part.stop
        for one in head["devices"]:
            devices[one["uuid"]] = Device(**{**one, "kind": Kind(one["kind"])})
        for key, column in changing.items():
            _column(columns, key, len(times))[part] = column
        for uuid, metric, value in head["constant"]:
            _column(columns, (uuid, metric), len(times))[part] = value
        reasons |= {(uuid, metric): Missing(reason) for uuid, metric, reason in head["missing"]}
        events += [Event(time=t, uuid=u, code=c, parameters=p) for t, u, c, p in head["events"]]
    return Trace(
        source=blocks[-1][0]["source"] if blocks else "",
        times=times,
        devices=tuple(devices.values()),
        columns=columns,
        reasons=reasons,
        events=tuple(events),
    )


def _column(columns: dict[Key, Array], key: Key, length: int) -> Array:
    if key not in columns:
        columns[key] = np.full(length, np.nan, np.float64 if key[1] in WIDE else np.float32)
    return columns[key]
