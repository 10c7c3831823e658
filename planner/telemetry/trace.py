"""Readings over time: `Trace`, which never changes, and `Ring`, the bounded buffer that fills while someone watches."""

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from planner.telemetry.sample import Device, Kind, Missing, Reading

Array: TypeAlias = NDArray[Any]
Key: TypeAlias = tuple[str, str]
"""A UUID and a metric."""

WIDE = {"energy"}  # a counter whose differences matter: needs more than the 24 bits of a float32


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened: an alert that fired or cleared."""

    time: float
    uuid: str
    code: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Columns of values by device and metric over common times; NaN where there is none, with the latest reason."""

    source: str
    times: Array
    devices: tuple[Device, ...]
    columns: Mapping[Key, Array]
    reasons: Mapping[Key, Missing] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    notes: tuple[str, ...] = ()
    unknown_columns: tuple[str, ...] = ()

    @property
    def gpus(self) -> tuple[Device, ...]:
        return tuple(device for device in self.devices if device.kind is not Kind.HOST)

    def values(self, uuid: str, metric: str) -> Array:
        """The values of one metric, one for each time; NaN where missing."""
        found = self.columns.get((uuid, metric))
        return found if found is not None else np.full(len(self.times), np.nan)

    def reason(self, uuid: str, metric: str) -> Missing:
        """Why the metric is missing where it is."""
        return self.reasons.get((uuid, metric), Missing.NOT_IN_SOURCE)

    def has(self, uuid: str, metric: str) -> bool:
        """Whether the metric has any value."""
        column = self.columns.get((uuid, metric))
        return column is not None and not bool(np.isnan(column).all())

    def last(self, uuid: str, metric: str) -> float | Missing:
        """The newest value, or why there is none now."""
        column = self.columns.get((uuid, metric))
        if column is None or not len(column) or np.isnan(column[-1]):
            return self.reason(uuid, metric)
        return float(column[-1])

    def latest(self, uuid: str, metric: str, within: float = 60.0) -> float | Missing:
        """The newest value that is at most `within` seconds older than the end, or why there is none."""
        column = self.columns.get((uuid, metric))
        if column is not None and len(column):
            first = int(np.searchsorted(self.times, self.times[-1] - within))
            present = np.flatnonzero(~np.isnan(column[first:]))
            if len(present):
                return float(column[first + present[-1]])
        return self.reason(uuid, metric)

    def between(self, start: float, end: float) -> "Trace":
        """The part from `start` to `end`, both seconds since 1970 and included."""
        first, last = np.searchsorted(self.times, start, "left"), np.searchsorted(self.times, end, "right")
        return Trace(
            source=self.source,
            times=self.times[first:last],
            devices=self.devices,
            columns={key: column[first:last] for key, column in self.columns.items()},
            reasons=self.reasons,
            events=tuple(event for event in self.events if start <= event.time <= end),
            notes=self.notes,
            unknown_columns=self.unknown_columns,
        )


class Ring:
    """The last readings, bounded: columns are allocated when a metric first has a value. Safe between threads."""

    def __init__(self, capacity: int = 3600, source: str = "") -> None:
        self.capacity, self.source = capacity, source
        self._lock = threading.Lock()
        self._events: deque[Event] = deque(maxlen=1000)
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._times = np.zeros(self.capacity)
            self._columns: dict[Key, Array] = {}
            self._devices: dict[str, Device] = {}
            self._reasons: dict[Key, Missing] = {}
            self._count = 0
            self._events.clear()

    @property
    def bytes(self) -> int:
        """Memory that the columns take."""
        with self._lock:
            return int(self._times.nbytes + sum(column.nbytes for column in self._columns.values()))

    def add(self, reading: Reading) -> None:
        """Append one reading; the oldest falls out when full. A clock that was set back begins anew."""
        with self._lock:
            last = self._times[(self._count - 1) % self.capacity] if self._count else -np.inf
            if reading.time < last:
                self._count = 0
            if reading.time == last or not reading.samples:
                return
            place = self._count % self.capacity
            self._times[place] = reading.time
            for column in self._columns.values():
                column[place] = np.nan
            for sample in reading.samples:
                self._devices[sample.device.uuid] = sample.device
                for metric, value in sample.values.items():
                    self._store((sample.device.uuid, metric), place, value)
            self._count += 1

    def _store(self, key: Key, place: int, value: float | Missing) -> None:
        if isinstance(value, Missing):
            self._reasons[key] = value
            return
        column = self._columns.get(key)
        if column is None:
            column = np.full(self.capacity, np.nan, np.float64 if key[1] in WIDE else np.float32)
            self._columns[key] = column
        column[place] = value

    def note(self, event: Event) -> None:
        """Keep an event beside the readings."""
        with self._lock:
            self._events.append(event)

    def trace(self, seconds: float | None = None) -> Trace:
        """A copy of what is held, oldest first: everything, or the last `seconds`."""
        with self._lock:
            filled = min(self._count, self.capacity)
            order = (np.arange(self._count - filled, self._count)) % self.capacity
            times = self._times[order]
            if seconds is not None and filled:
                kept = int(np.searchsorted(times, times[-1] - seconds))
                order, times = order[kept:], times[kept:]
            return Trace(
                source=self.source,
                times=times,
                devices=tuple(self._devices.values()),
                columns={key: column[order] for key, column in self._columns.items()},
                reasons=dict(self._reasons),
                events=tuple(self._events),
            )


def trace_of(readings: Iterable[Reading], source: str, **about: Any) -> Trace:
    """Readings in order of time as a trace."""
    rows = sorted(readings, key=lambda reading: reading.time)
    columns: dict[Key, Array] = {}
    devices: dict[str, Device] = {}
    reasons: dict[Key, Missing] = {}
    for place, reading in enumerate(rows):
        for sample in reading.samples:
            devices.setdefault(sample.device.uuid, sample.device)
            for metric, value in sample.values.items():
                key = (sample.device.uuid, metric)
                if isinstance(value, Missing):
                    reasons[key] = value
                    continue
                if key not in columns:
                    columns[key] = np.full(len(rows), np.nan, np.float64 if metric in WIDE else np.float32)
                columns[key][place] = value
    times = np.array([reading.time for reading in rows])
    return Trace(source=source, times=times, devices=tuple(devices.values()), columns=columns, reasons=reasons, **about)
