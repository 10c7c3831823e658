"""Rules about memory, and the last one: nothing to find fault with."""

import numpy as np

from planner.telemetry.diagnosis.judging import Hit, judge
from planner.telemetry.diagnosis.verdict import Confidence, Evidence, Outcome, Verdict
from planner.telemetry.diagnosis.view import View
from planner.telemetry.sample import Device, EventReason

_MEMORY = ("memory_used", "memory_total")


def _over(view: View, device: Device, threshold: str) -> float:
    """Longest time with more than the threshold's share of memory in use, in seconds."""
    with np.errstate(invalid="ignore"):
        return view.longest(view.used_share(device) > view.limits[threshold])


def memory_tight(view: View) -> Verdict:
    """Nearly all memory is taken: the next allocation may fail."""

    def test(view: View, device: Device) -> Hit | None:
        seconds = _over(view, device, "tight_memory")
        if seconds < view.limits["tight_seconds"]:
            return None
        most = float(np.nanmax(view.used_share(device)))
        evidence = Evidence(
            metric="memory_share", value=most, threshold="tight_memory", limit=view.limits["tight_memory"]
        )
        return Hit(evidence=(evidence,), seconds=seconds)

    return judge(
        view, "memory-tight", test, needs=_MEMORY, advice=("headroom", "smaller-batch"), devices=view.gpus, at_once=True
    )


def memory_held(view: View) -> Verdict:
    """Memory is held for a quarter of an hour by something that does not compute."""

    def test(view: View, device: Device) -> Hit | None:
        idle = view.whole.values(device.uuid, "utilization") < view.limits["held_busy"]
        with np.errstate(invalid="ignore"):
            held = view.used_share(device) >= view.limits["held_memory"]
        seconds = view.longest(idle & held)
        if seconds < view.limits["held_seconds"]:
            return None
        most = float(np.nanmax(view.used_share(device)[idle & held]))
        evidence = (
            Evidence(metric="memory_share", value=most, threshold="held_memory", limit=view.limits["held_memory"]),
            Evidence(metric="held_seconds", value=seconds, threshold="held_seconds", limit=view.limits["held_seconds"]),
        )
        return Hit(evidence=evidence, seconds=seconds)

    needs = (*_MEMORY, "utilization")
    return judge(view, "memory-held", test, needs=needs, advice=("end-forgotten-process",), at_once=True)


def memory_room(view: View, launch: Verdict) -> Verdict:
    """More than half the memory was never used while kernels were too small: room for a larger batch."""
    if launch.outcome is Outcome.NOT_EVALUATED:
        return Verdict(rule="memory-room", outcome=Outcome.NOT_EVALUATED, missing=launch.missing)

    def test(view: View, device: Device) -> Hit | None:
        most = float(np.nanmax(view.used_share(device)))
        if device.uuid not in launch.uuids or most >= view.limits["room_memory"]:
            return None
        evidence = Evidence(
            metric="memory_share", value=most, threshold="room_memory", limit=view.limits["room_memory"]
        )
        return Hit(evidence=(evidence,))

    return judge(view, "memory-room", test, needs=_MEMORY, advice=("larger-batch", "less-recompute", "less-offload"))


def healthy(view: View) -> Verdict:
    """Well used, as far as telemetry can tell: SMs are active, or power is near its limit."""

    def test(view: View, device: Device) -> Hit | None:
        reasons = view.values(device, "event_reasons").astype(int)
        if len(reasons) and (reasons & ~(EventReason.POWER_CAP | EventReason.IDLE)).any():
            return None
        sm, power = view.median(device, "sm_active"), view.power_ratio(device)
        if np.isfinite(sm):
            if sm < view.limits["healthy_sm"]:
                return None
            evidence = Evidence(metric="sm_active", value=sm, threshold="healthy_sm", limit=view.limits["healthy_sm"])
            return Hit(evidence=(evidence,))
        if not power >= view.limits["healthy_power"]:
            return None
        limit = view.limits["healthy_power"]
        evidence = Evidence(metric="power_ratio", value=power, threshold="healthy_power", limit=limit)
        return Hit(evidence=(evidence,), confidence=Confidence.MEDIUM)

    known = [
        device
        for device in view.gpus
        if not view.missing(device, "sm_active") or not view.missing(device, "power", "power_limit")
    ]
    verdict = judge(view, "healthy", test, devices=known)
    if not known:
        return Verdict(rule="healthy", outcome=Outcome.NOT_EVALUATED, missing=("sm_active", "power_limit"))
    return verdict
