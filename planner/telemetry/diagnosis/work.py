"""Rules about the work: what the GPU waits for, and which of its parts is the limit."""

import numpy as np

from planner.telemetry.diagnosis.judging import Hit, judge
from planner.telemetry.diagnosis.verdict import Confidence, Evidence, Outcome, Verdict
from planner.telemetry.diagnosis.view import View
from planner.telemetry.sample import Device


def _evidence(view: View, metric: str, value: float, threshold: str) -> Evidence:
    return Evidence(metric=metric, value=float(value), threshold=threshold, limit=view.limits[threshold])


def counters_contradict(view: View) -> Verdict:
    """Profiling counters read zero on a busy GPU: they are stuck (seen after Xid 31), so nothing is built on them."""

    def test(view: View, device: Device) -> Hit | None:
        active, busy = view.values(device, "sm_active"), view.median(device, "utilization")
        power = view.power_ratio(device)
        if active.max() > 0.005 or busy < view.limits["hang_busy"] or power < 0.5:
            return None
        return Hit(evidence=(Evidence(metric="sm_active", value=float(active.max())), _busy(view, device)))

    return judge(view, "counters-contradict", test, needs=("sm_active", "utilization"), advice=("restart-profiler",))


def _busy(view: View, device: Device) -> Evidence:
    return Evidence(metric="utilization", value=view.median(device, "utilization"))


def sawtooth(view: View) -> Verdict:
    """Full, empty, full: the GPU waits for its input between steps."""

    def test(view: View, device: Device) -> Hit | None:
        busy = view.values(device, "utilization")
        high, low = np.percentile(busy, 95), np.percentile(busy, 5)
        if high < view.limits["sawtooth_high"] or low >= view.limits["sawtooth_low"]:
            return None
        middle = (high + low) / 2
        swings = int((np.diff((busy > middle).astype(int)) != 0).sum())
        if swings < 4:  # began or ended within the window: no rhythm
            return None
        evidence = [
            _evidence(view, "utilization_high", high, "sawtooth_high"),
            _evidence(view, "utilization_low", low, "sawtooth_low"),
            Evidence(metric="period_seconds", value=2 * view.seconds / swings),
        ]
        host = _host_evidence(view)
        confidence = Confidence.HIGH if host else Confidence.MEDIUM
        return Hit(evidence=(*evidence, *host), confidence=confidence)

    return judge(
        view, "sawtooth", test, needs=("utilization",), advice=("more-workers", "prefetch", "decode-on-gpu", "cache")
    )


def _host_evidence(view: View) -> tuple[Evidence, ...]:
    """What the host shows of a starving GPU: a core that is full, or waiting for disks."""
    found = []
    for host in view.hosts:
        for metric, threshold in (("cpu_busiest_core", "host_core"), ("io_wait", "io_wait")):
            value = view.median(host, metric)
            if np.isfinite(value) and value > view.limits[threshold]:
                found.append(_evidence(view, metric, value, threshold))
    return tuple(found)


def host_bound(view: View) -> Verdict:
    """The GPU is half idle while the processor is full."""
    if not view.hosts:
        return Verdict(rule="host-bound", outcome=Outcome.NOT_EVALUATED, missing=("cpu",))
    host = view.hosts[0]

    def test(view: View, device: Device) -> Hit | None:
        busy = view.median(device, "utilization")
        core, every = view.median(host, "cpu_busiest_core"), view.median(host, "cpu")
        held = view.last(device, "memory_used")
        works = busy >= view.limits["busy"] or (isinstance(held, float) and held > 1e9)
        if busy >= view.limits["host_gpu"] or not works:
            return None
        if core > view.limits["host_core"]:
            return Hit(
                evidence=(_busy(view, device), _evidence(view, "cpu_busiest_core", core, "host_core")),
                confidence=Confidence.MEDIUM,
            )
        if every > view.limits["host_all"]:
            return Hit(evidence=(_busy(view, device), _evidence(view, "cpu", every, "host_all")))
        return None

    return judge(view, "host-bound", test, needs=("utilization",), advice=("less-python", "more-cores", "more-workers"))


def copy_bound(view: View) -> Verdict:
    """The GPU mostly moves data over PCIe."""

    def test(view: View, device: Device) -> Hit | None:
        share, sm = view.pcie_share(device), view.median(device, "sm_active")
        rate = max(view.median(device, "pcie_transmit"), view.median(device, "pcie_receive"))
        if share > view.limits["copy_link"]:
            return Hit(evidence=(_evidence(view, "pcie_share", share, "copy_link"),))
        if rate >= view.limits["copy_rate"] and sm < view.limits["copy_sm"]:
            evidence = (_evidence(view, "pcie_rate", rate, "copy_rate"), _evidence(view, "sm_active", sm, "copy_sm"))
            return Hit(evidence=evidence, confidence=Confidence.MEDIUM)
        return None

    needs = ("pcie_transmit", "pcie_receive")
    return judge(view, "copy-bound", test, needs=needs, advice=("pinned-memory", "keep-on-gpu", "less-offload"))


def launch_bound(view: View) -> Verdict:
    """Kernels are always there, but small ones: most of the GPU has nothing to do."""

    def test(view: View, device: Device) -> Hit | None:
        busy, sm = view.median(device, "utilization"), view.median(device, "sm_active")
        if not busy > view.limits["launch_busy"] or not sm < view.limits["launch_sm"]:
            return None
        evidence = [_busy(view, device), _evidence(view, "sm_active", sm, "launch_sm")]
        used = view.used_share(device)
        free = 1 - np.nanmax(used) if np.isfinite(used).any() else float("nan")
        if np.isfinite(free):
            evidence.append(_evidence(view, "memory_free_share", free, "launch_free"))
        sure = np.isfinite(free) and free > view.limits["launch_free"]
        return Hit(evidence=tuple(evidence), confidence=Confidence.HIGH if sure else Confidence.MEDIUM)

    needs = ("utilization", "sm_active")
    advice = ("larger-batch", "compile", "cuda-graphs", "fused-optimizer")
    return judge(view, "launch-bound", test, needs=needs, advice=advice)


def communication_bound(view: View) -> Verdict:
    """All GPUs are busy, draw little power together, and their links are full: they exchange more than they compute."""
    rule, advice = "communication-bound", ("overlap", "accumulate", "bucket-size", "topology")
    steps = view.steps
    if steps is not None and steps.communication is not None:
        found = steps.communication > view.limits["communication_share"]
        evidence = _evidence(view, "communication_share", steps.communication, "communication_share")
        outcome = Outcome.FOUND if found else Outcome.NOT_FOUND
        return Verdict(rule=rule, outcome=outcome, evidence=(evidence,), advice=advice if found else ())
    if len(view.cards) < 2:
        return Verdict(rule=rule, outcome=Outcome.NOT_EVALUATED, missing=("several-gpus",))
    shares = [view.pcie_share(device) for device in view.cards]
    if not all(np.isfinite(share) for share in shares):
        return Verdict(rule=rule, outcome=Outcome.NOT_EVALUATED, missing=("pcie_transmit", "communication_share"))

    def test(view: View, device: Device) -> Hit | None:
        share = view.pcie_share(device)
        if share <= view.limits["communication_link"] or not _all_under_powered(view):
            return None
        evidence = _evidence(view, "pcie_share", share, "communication_link")
        return Hit(evidence=(evidence, _power(view, device)), confidence=Confidence.MEDIUM)

    return judge(view, rule, test, needs=("utilization", "power", "power_limit"), advice=advice)


def _power(view: View, device: Device) -> Evidence:
    return _evidence(view, "power_ratio", view.power_ratio(device), "low_power")


def _all_under_powered(view: View) -> bool:
    ratios = [view.power_ratio(device) for device in view.cards]
    busy = [view.median(device, "utilization") > view.limits["communication_busy"] for device in view.cards]
    return all(busy) and all(ratio < view.limits["low_power"] for ratio in ratios)


def busy_at_low_power(view: View) -> Verdict:
    """Busy all the time, at far less power than the limit, and no counter says what for.

    Utilisation and power alone cannot tell small kernels from waiting for other GPUs, nor from work that is bound by
    memory: the verdict stays open, and says what would settle it.
    """
    rule = "busy-at-low-power"
    told = [device for device in view.cards if not view.missing(device, "sm_active")]
    if told and len(told) == len(view.cards):
        return Verdict(rule=rule, outcome=Outcome.NOT_FOUND)

    def test(view: View, device: Device) -> Hit | None:
        busy, ratio = view.median(device, "utilization"), view.power_ratio(device)
        if device in told or busy <= view.limits["launch_busy"] or not ratio < view.limits["low_power"]:
            return None
        return Hit(evidence=(_busy(view, device), _power(view, device)), confidence=Confidence.LOW)

    verdict = judge(view, rule, test, needs=("utilization", "power", "power_limit"), advice=("larger-batch", "overlap"))
    if verdict.outcome is not Outcome.FOUND:
        return verdict
    several = ("communication-bound",) if len(view.cards) > 1 else ()
    return Verdict(
        rule=rule,
        outcome=Outcome.UNDECIDED,
        uuids=verdict.uuids,
        confidence=Confidence.LOW,
        evidence=verdict.evidence,
        seconds=verdict.seconds,
        between=("launch-bound", *several, "bandwidth-bound"),
        missing=("sm_active", *(("communication_share",) if several else ())),
        advice=verdict.advice,
    )


def hang(view: View) -> Verdict:
    """No step ends any more while the GPUs spin. Told by the progress of steps only: flat power is no sign of it."""
    steps = view.steps
    if steps is None or steps.last is None:
        return Verdict(rule="hang", outcome=Outcome.NOT_EVALUATED, missing=("step_progress",))
    last = steps.last

    def test(view: View, device: Device) -> Hit | None:
        waited = float(view.whole.times[-1]) - last
        limit = view.limits["hang_steps"]
        busy, ratio = view.median(device, "utilization"), view.power_ratio(device)
        if waited < limit * steps.seconds or busy < view.limits["hang_busy"] or ratio >= view.limits["low_power"]:
            return None
        evidence = (_evidence(view, "steps_missed", waited / steps.seconds, "hang_steps"), _busy(view, device))
        return Hit(evidence=evidence, seconds=waited)

    return judge(view, "hang", test, needs=("utilization",), advice=("dump-stacks",))


def bandwidth_bound(view: View) -> Verdict:
    """Memory is busy and tensor cores are not: normal for decoding and element-wise work."""

    def test(view: View, device: Device) -> Hit | None:
        memory, tensor = view.median(device, "dram_active"), view.median(device, "tensor_active")
        if memory < view.limits["bandwidth_dram"] or tensor >= view.limits["bandwidth_tensor"]:
            return None
        return Hit(
            evidence=(
                _evidence(view, "dram_active", memory, "bandwidth_dram"),
                _evidence(view, "tensor_active", tensor, "bandwidth_tensor"),
            )
        )

    needs = ("dram_active", "tensor_active")
    return judge(view, "bandwidth-bound", test, needs=needs, advice=("quantize", "fuse", "larger-batch"))


def tensor_cores_unused(view: View) -> Verdict:
    """SMs work, tensor cores do not: the arithmetic is in a type or shape that they don't take."""

    def test(view: View, device: Device) -> Hit | None:
        sm, tensor = view.median(device, "sm_active"), view.median(device, "tensor_active")
        capability = view.median(device, "compute_capability")
        memory = view.median(device, "dram_active")
        if sm <= view.limits["tensor_sm"] or tensor >= view.limits["tensor_low"] or capability < 7.0:
            return None
        if memory >= view.limits["bandwidth_dram"]:
            return None  # memory is the limit: tensor cores would not help
        evidence = (
            _evidence(view, "sm_active", sm, "tensor_sm"),
            _evidence(view, "tensor_active", tensor, "tensor_low"),
        )
        return Hit(evidence=evidence)

    needs = ("sm_active", "tensor_active")
    return judge(view, "tensor-cores-unused", test, needs=needs, advice=("mixed-precision", "multiples-of-eight"))
