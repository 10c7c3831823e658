"""Alerts: after their time, once, again only after they were over; gaps begin anew."""

import pytest

from planner.telemetry.alerts import ALERTS, CLEARED, FIRED, AlertWatch, alerts_of, readings_of
from planner.telemetry.sample import Device, Missing, Reading, Sample
from planner.telemetry.trace import trace_of

DEVICE = Device(uuid="GPU-1", name="H100")
QUIET = {
    "utilization": 0.5,
    "memory_used": 10.0,
    "memory_total": 100.0,
    "power": 600.0,
    "power_limit": 700.0,
    "temperature": 60.0,
    "temperature_slowdown": 90.0,
    "event_reasons": 0.0,
    "xid": 0.0,
    "lost": 0.0,
}
LOUD = {
    "lost": {"lost": 1.0},
    "errors": {"xid": 79.0},
    "throttled": {"event_reasons": 64.0},
    "hot": {"temperature": 88.0},
    "memory-full": {"memory_used": 96.0},
    "memory-held": {"utilization": 0.0, "memory_used": 60.0},
    "low-power": {"utilization": 1.0, "power": 390.0},
}


def reading(time, **changes):
    return Reading(time=float(time), samples=(Sample(device=DEVICE, values=QUIET | changes),))


def events(*readings):
    watch = AlertWatch()
    return [(e.time, e.code, e.parameters["alert"]) for one in readings for e in watch.see(one)]


@pytest.mark.parametrize("alert", ALERTS, ids=lambda one: one.id)
def test_fires_once_after_its_time_and_is_over_once(alert):
    loud, quiet = int(alert.seconds) + 50, 20
    seen = events(
        *(reading(t) for t in range(10)),
        *(reading(10 + t, **LOUD[alert.id]) for t in range(loud)),
        *(reading(10 + loud + t) for t in range(quiet)),
    )
    assert seen == [(10 + alert.seconds, FIRED, alert.id), (10 + loud, CLEARED, alert.id)]


def test_hovering_around_the_limit_fires_once():
    hover = [reading(t, memory_used=96.0 if t < 30 or t % 2 else 93.0) for t in range(200)]
    assert [code for _, code, _ in events(*hover)] == [FIRED]


def test_it_is_ready_again_when_it_was_over():
    high, low = {"memory_used": 96.0}, {"memory_used": 50.0}
    times = [reading(t, **(low if 40 <= t < 60 else high)) for t in range(100)]
    assert [code for _, code, _ in events(*times)] == [FIRED, CLEARED, FIRED]


def test_a_gap_resets_the_timer():
    times = [*range(15), *range(100, 115)]
    assert events(*(reading(t, memory_used=96.0) for t in times)) == []


def test_rare_readings_are_no_gaps():
    rare = [reading(30 * t, memory_used=96.0) for t in range(6)]
    assert [code for _, code, _ in events(*rare)] == [FIRED]
    assert [code for _, code, _ in events(*(one for one in rare for _ in range(6)))] == [FIRED], "asked more often"


def test_what_cannot_be_told_does_not_fire():
    changes = dict.fromkeys(QUIET, Missing.NOT_SUPPORTED)
    assert events(*(reading(t, **changes) for t in range(1000))) == []


def test_user_errors_do_not_page_anyone():
    assert events(*(reading(t, xid=31.0) for t in range(100))) == []


def test_a_trace_fires_as_its_readings_did():
    readings = [reading(t, **(LOUD["hot"] if t > 20 else {})) for t in range(100)]
    trace = trace_of(readings, "test")
    assert [(e.time, e.parameters["alert"]) for e in alerts_of(trace)] == [(51.0, "hot")]
    assert next(iter(readings_of(trace))).samples[0].values == pytest.approx(QUIET)
