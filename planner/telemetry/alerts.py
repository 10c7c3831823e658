"""Alerts over any source: a condition must hold for a while, fires once, and is ready again only when it has cleared.

A gap in the readings resets every timer: what happened in between is not known.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from planner.telemetry.diagnosis.health import CRITICAL_XIDS
from planner.telemetry.sample import EventReason, Reading, Sample
from planner.telemetry.trace import Event, Trace

GAP_SECONDS = 10.0
"""Readings further apart begin anew, unless they usually come more rarely than that."""
FIRED, CLEARED = "alert", "alert-over"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """`level` of a sample (None: cannot be told) at or over `fires` for `seconds` fires; under `clears` it is over."""

    id: str
    level: Callable[[Sample], float | None]
    fires: float
    clears: float
    seconds: float
    source: str


def _value(sample: Sample, metric: str) -> float | None:
    found = sample.metric(metric)
    return found if isinstance(found, float) else None


def _ratio(sample: Sample, metric: str, of: str) -> float | None:
    value, whole = _value(sample, metric), _value(sample, of)
    return None if value is None or not whole else value / whole


def _memory(sample: Sample) -> float | None:
    used, total = _value(sample, "memory_used"), _value(sample, "memory_total")
    if used is None or not total:
        return None
    return used / (total - (_value(sample, "memory_reserved") or 0.0))


def _hot(sample: Sample) -> float | None:
    """Degrees over 3 below the card's own slow-down threshold; over 85 C where it tells none."""
    now = _value(sample, "temperature")
    limit = _value(sample, "temperature_slowdown")
    return None if now is None else now - (limit - 3.0 if limit else 85.0)


def _throttled(sample: Sample) -> float | None:
    bits = _value(sample, "event_reasons")
    return None if bits is None else float(bool(int(bits) & (EventReason.THERMAL | EventReason.POWER_BRAKE)))


def _idle_held(sample: Sample) -> float | None:
    busy, held = _value(sample, "utilization"), _memory(sample)
    return None if busy is None or held is None else (held if busy < 0.10 else 0.0)


def _under_powered(sample: Sample) -> float | None:
    """How far power is under its limit while the GPU says that it is busy all the time."""
    busy, power = _value(sample, "utilization"), _ratio(sample, "power", "power_limit")
    return None if busy is None or power is None else (1 - power if busy >= 0.98 else 0.0)


def _errors(sample: Sample) -> float | None:
    xid, ecc, failed = (_value(sample, name) for name in ("xid", "ecc_uncorrected", "remap_failed"))
    if xid is None and ecc is None and failed is None:
        return None
    return float((xid is not None and int(xid) in CRITICAL_XIDS) or bool(ecc) or bool(failed))


ALERTS: tuple[Alert, ...] = (
    Alert(id="lost", level=lambda s: _value(s, "lost"), fires=1, clears=1, seconds=0, source="NVML, GPU is lost"),
    Alert(id="errors", level=_errors, fires=1, clears=1, seconds=0, source="nvidia_gpu_exporter, shipped rules"),
    Alert(id="throttled", level=_throttled, fires=1, clears=1, seconds=10, source="our choice"),
    Alert(id="hot", level=_hot, fires=0, clears=-3, seconds=30, source="gpu-pulse: 30 s, clears 3 C below"),
    Alert(id="memory-full", level=_memory, fires=0.95, clears=0.90, seconds=20, source="gpu-pulse"),
    Alert(id="memory-held", level=_idle_held, fires=0.50, clears=0.50, seconds=900, source="gpu-pulse, all-smi"),
    Alert(id="low-power", level=_under_powered, fires=0.35, clears=0.30, seconds=120, source="two recorded runs"),
)


@dataclass
class _State:
    since: float | None = None
    fired: bool = False


@dataclass
class AlertWatch:
    """Follows readings in order and tells what fired and what is over."""

    alerts: tuple[Alert, ...] = ALERTS
    _states: dict[tuple[str, str], _State] = field(default_factory=dict)
    _last: float | None = None
    _intervals: deque[float] = field(default_factory=lambda: deque[float](maxlen=5))

    def see(self, reading: Reading) -> tuple[Event, ...]:
        """The events of one more reading."""
        if reading.time == self._last:  # a server that was asked again before it had anything new
            return ()
        if self._last is not None:
            passed = reading.time - self._last
            usual = min((one for one in self._intervals if one > 0), default=0.0)
            if not 0 < passed <= max(GAP_SECONDS, 3 * usual):
                for state in self._states.values():
                    state.since = None
            self._intervals.append(passed)
        self._last = reading.time
        found: list[Event] = []
        for sample in reading.gpus:
            for alert in self.alerts:
                event = self._follow(alert, sample, reading.time)
                if event:
                    found.append(event)
        return tuple(found)

    @property
    def active(self) -> tuple[tuple[str, str], ...]:
        """UUID and alert of everything that has fired and is not over."""
        return tuple(key for key, state in self._states.items() if state.fired)

    def _follow(self, alert: Alert, sample: Sample, time: float) -> Event | None:
        uuid = sample.device.uuid
        state = self._states.setdefault((uuid, alert.id), _State())
        level = alert.level(sample)
        if level is None:  # cannot be told: the timer begins anew, what has fired stays
            state.since = None
            return None
        if state.fired:
            if level < alert.clears:
                state.fired, state.since = False, None
                return Event(time=time, uuid=uuid, code=CLEARED, parameters={"alert": alert.id})
            return None
        if level < alert.fires:
            state.since = None
            return None
        state.since = time if state.since is None else state.since
        if time - state.since < alert.seconds:
            return None
        state.fired = True
        parameters: Mapping[str, object] = {"alert": alert.id, "level": level, "name": sample.device.name}
        return Event(time=time, uuid=uuid, code=FIRED, parameters=parameters)


def alerts_of(trace: Trace) -> tuple[Event, ...]:
    """What would have fired during a trace."""
    watch = AlertWatch()
    return tuple(event for reading in readings_of(trace) for event in watch.see(reading))


def readings_of(trace: Trace) -> Iterable[Reading]:
    """The readings that a trace is made of."""
    by_device = {
        device.uuid: [(metric, column) for (uuid, metric), column in trace.columns.items() if uuid == device.uuid]
        for device in trace.devices
    }
    for place, time in enumerate(trace.times):
        samples = tuple(
            Sample(
                device=device,
                values={
                    m: float(column[place]) for m, column in by_device[device.uuid] if column[place] == column[place]
                },
            )
            for device in trace.devices
        )
        yield Reading(time=float(time), samples=samples)
