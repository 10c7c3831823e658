"""Rules about the card itself, asked first: is it there, too hot, held back, badly plugged in?"""

import numpy as np

from planner.telemetry.diagnosis.judging import Hit, judge
from planner.telemetry.diagnosis.verdict import Confidence, Evidence, Verdict
from planner.telemetry.diagnosis.view import View
from planner.telemetry.sample import Device, EventReason
from planner.telemetry.trace import Array

CRITICAL_XIDS = frozenset({48, 62, 64, 74, 79, 95, 119, 120})
"""Xids that need action on the card or the node, not in the program (NVIDIA's Xid catalogue)."""


def gpu_lost(view: View) -> Verdict:
    """The card left the bus, wants a reset, or reported a critical error."""

    def test(view: View, device: Device) -> Hit | None:
        for metric in ("lost", "recovery_action", "remap_failed", "xid"):
            value = view.last(device, metric)
            if isinstance(value, float) and (int(value) in CRITICAL_XIDS if metric == "xid" else value >= 1):
                return Hit(evidence=(Evidence(metric=metric, value=value, uuid=device.uuid),), seconds=0.0)
        return None

    def known(device: Device) -> bool:
        names = ("lost", "recovery_action", "remap_failed", "xid")
        return any(isinstance(view.last(device, name), float) for name in names)

    devices = [device for device in view.cards if known(device)]
    return judge(view, "gpu-lost", test, devices=devices, advice=("drain-node", "reset-gpu"), at_once=True)


def _bits(view: View, device: Device, mask: int) -> Array:
    return (view.values(device, "event_reasons").astype(int) & mask) > 0


def _under_load(view: View, device: Device) -> bool:
    return view.is_busy(device)


def thermal(view: View) -> Verdict:
    """Clocks are lowered because the GPU or its memory is too hot."""

    def test(view: View, device: Device) -> Hit | None:
        share = float(_bits(view, device, EventReason.THERMAL).mean())
        limit = view.limits["thermal_share"]
        if share <= limit or not _under_load(view, device):
            return None
        evidence = [Evidence(metric="thermal_share", value=share, threshold="thermal_share", limit=limit)]
        hottest = view.values(device, "temperature")
        if len(hottest):
            evidence.append(Evidence(metric="temperature", value=float(hottest.max())))
        return Hit(evidence=tuple(evidence))

    return judge(view, "thermal", test, needs=("event_reasons",), advice=("improve-cooling", "compare-neighbours"))


def power_brake(view: View) -> Verdict:
    """The supply signals that the card must slow down at once."""

    def test(view: View, device: Device) -> Hit | None:
        reasons = np.nan_to_num(view.whole.values(device.uuid, "event_reasons")).astype(int)
        seconds = view.longest((reasons & EventReason.POWER_BRAKE) > 0)
        limit = view.limits["brake_seconds"]
        if seconds <= limit:
            return None
        evidence = (Evidence(metric="brake_seconds", value=seconds, threshold="brake_seconds", limit=limit),)
        return Hit(evidence=evidence, seconds=seconds)

    return judge(view, "power-brake", test, needs=("event_reasons",), advice=("check-supply",), at_once=True)


def power_capped(view: View) -> Verdict:
    """The power limit was set below the card's own. At its own limit a loaded card is where it should be."""

    def test(view: View, device: Device) -> Hit | None:
        share = float(_bits(view, device, EventReason.POWER_CAP).mean())
        limit, own = view.median(device, "power_limit"), view.median(device, "power_limit_default")
        most = view.limits["capped_share"]
        if share <= most or limit >= own:
            return None
        return Hit(
            evidence=(
                Evidence(
                    metric="capped_share", value=share, threshold="capped_share", limit=view.limits["capped_share"]
                ),
                Evidence(metric="power_limit", value=limit, limit=own),
            )
        )

    needs = ("event_reasons", "power_limit", "power_limit_default")
    return judge(view, "power-capped", test, needs=needs, advice=("raise-power-limit",))


def slow_clocks(view: View) -> Verdict:
    """Busy at low clocks, and no reason is given: a battery, a power plan, a stuck state."""

    def test(view: View, device: Device) -> Hit | None:
        ratio = view.median(device, "sm_clock") / view.median(device, "sm_clock_max")
        busy, state = view.median(device, "utilization"), view.median(device, "performance_state")
        reasoned = _bits(view, device, ~EventReason.IDLE & 0xFFFF).any()
        if busy <= view.limits["slow_clock_busy"] or ratio >= view.limits["slow_clock"] or state <= 2 or reasoned:
            return None
        return Hit(
            evidence=(
                Evidence(metric="sm_clock_ratio", value=ratio, threshold="slow_clock", limit=view.limits["slow_clock"]),
                Evidence(metric="performance_state", value=state),
            ),
            confidence=Confidence.MEDIUM,
        )

    needs = ("utilization", "sm_clock", "sm_clock_max", "performance_state", "event_reasons")
    return judge(view, "slow-clocks", test, needs=needs, advice=("check-power-plan", "persistence-mode"))


def link_degraded(view: View) -> Verdict:
    """PCIe runs below what card and slot can do, under load (at idle that is normal)."""

    def test(view: View, device: Device) -> Hit | None:
        part, uuid = view.part, device.uuid
        loaded = part.values(uuid, "utilization") > view.limits["link_busy"]
        state = part.values(uuid, "performance_state")
        loaded &= np.isnan(state) | (state <= 2)
        if not loaded.any():
            return None
        generation, most = part.values(uuid, "pcie_generation"), part.values(uuid, "pcie_generation_max")
        width, widest = part.values(uuid, "pcie_width"), part.values(uuid, "pcie_width_max")
        below = float(((generation < most) | (width < widest))[loaded].mean())
        if below <= view.limits["link_share"]:
            return None
        return Hit(
            evidence=(
                Evidence(metric="link_share", value=below, threshold="link_share", limit=view.limits["link_share"]),
                Evidence(metric="pcie_generation", value=float(np.nanmedian(generation)), limit=float(np.nanmax(most))),
                Evidence(metric="pcie_width", value=float(np.nanmedian(width)), limit=float(np.nanmax(widest))),
            )
        )

    needs = ("utilization", "pcie_generation", "pcie_generation_max", "pcie_width", "pcie_width_max")
    return judge(view, "link-degraded", test, needs=needs, advice=("check-slot",))
