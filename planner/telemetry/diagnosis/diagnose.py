"""Runs the rules in their order: health, throttling, balance, what the work waits for, memory."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from planner.telemetry.diagnosis import balance, health, memory, work
from planner.telemetry.diagnosis.judging import Hit, judge
from planner.telemetry.diagnosis.thresholds import limits
from planner.telemetry.diagnosis.verdict import Diagnosis, Evidence, Outcome, Verdict
from planner.telemetry.diagnosis.view import Steps, View
from planner.telemetry.sample import Device, Missing
from planner.telemetry.trace import Trace

RULES = (
    health.gpu_lost,
    health.thermal,
    health.power_brake,
    health.power_capped,
    health.slow_clocks,
    health.link_degraded,
    balance.unused_gpu,
    balance.imbalance,
    work.counters_contradict,
    work.sawtooth,
    work.host_bound,
    work.copy_bound,
    work.launch_bound,
    work.communication_bound,
    work.busy_at_low_power,
    work.hang,
    work.bandwidth_bound,
    work.tensor_cores_unused,
    memory.memory_tight,
    memory.memory_held,
)
"""In the order in which they are told. `memory-room` and `healthy` follow, since they build on these."""

_OF_IDLE_GPUS = {"gpu-lost", "unused-gpu", "memory-tight", "memory-held", "host-bound"}


def diagnose(
    trace: Trace, changed: Mapping[str, float] | None = None, steps: Steps | None = None, end: float | None = None
) -> Diagnosis:
    """All verdicts on the last minute of a trace (and, for rules that take longer, on all of it).

    `changed` sets thresholds otherwise; `steps` tells of the training loop what telemetry can't. `end` (seconds since
    1970) ends the minute earlier: for a log, where work stopped before the log did.
    """
    view = View(trace, limits(changed), steps, end)
    verdicts = [rule(view) for rule in RULES]
    verdicts.append(memory.memory_room(view, next(one for one in verdicts if one.rule == "launch-bound")))
    idle = _idle(view)
    if idle.outcome is Outcome.FOUND and len(idle.uuids) == len(view.cards):
        verdicts = [_not_of_idle(one) for one in verdicts]
    verdicts.append(_unmeasurable(view))
    verdicts.append(idle)
    verdicts.append(_consistent(memory.healthy(view), verdicts))
    times = view.part.times
    start, end = (float(times[0]), float(times[-1])) if len(times) else (0.0, 0.0)
    return Diagnosis(verdicts=tuple(verdicts), start=start, end=end, readings=len(times))


def _idle(view: View) -> Verdict:
    """Nothing runs: how the work runs cannot be judged."""

    def test(view: View, device: Device) -> Hit | None:
        busy = view.values(device, "utilization")
        if float(np.percentile(busy, 95)) >= view.limits["busy"]:
            return None
        evidence = Evidence(
            metric="utilization", value=float(np.median(busy)), threshold="busy", limit=view.limits["busy"]
        )
        return Hit(evidence=(evidence,))

    return judge(view, "idle", test, needs=("utilization",))


def _not_of_idle(verdict: Verdict) -> Verdict:
    if verdict.rule in _OF_IDLE_GPUS or verdict.outcome is Outcome.NOT_EVALUATED:
        return verdict
    return Verdict(rule=verdict.rule, outcome=Outcome.NOT_EVALUATED, missing=("load",))


def _unmeasurable(view: View) -> Verdict:
    """Partitioned GPUs have no utilisation of their own: said once, plainly."""
    hidden = tuple(
        device.uuid
        for device in view.gpus
        if view.whole.reason(device.uuid, "utilization") is Missing.UNDER_MIG
        or (device.mig and not view.whole.has(device.uuid, "utilization"))
    )
    outcome = Outcome.FOUND if hidden else Outcome.NOT_FOUND
    return Verdict(rule="mig-unmeasurable", outcome=outcome, uuids=hidden)


def _consistent(healthy: Verdict, verdicts: list[Verdict]) -> Verdict:
    """A GPU with a finding is not called healthy."""
    judged = {uuid for one in verdicts if one.outcome in (Outcome.FOUND, Outcome.UNDECIDED) for uuid in one.uuids}
    left = tuple(uuid for uuid in healthy.uuids if uuid not in judged)
    if healthy.outcome is Outcome.FOUND and not left:
        return Verdict(rule="healthy", outcome=Outcome.NOT_FOUND)
    return replace(healthy, uuids=left)


def assume(trace: Trace, values: Mapping[str, float]) -> Trace:
    """The trace with figures that the user supplies where it has none: a power limit in W, a memory size in bytes."""
    columns = dict(trace.columns)
    for device in trace.gpus:
        for metric, value in values.items():
            if not trace.has(device.uuid, metric):
                columns[(device.uuid, metric)] = np.full(len(trace.times), value, np.float32)
    return replace(trace, columns=columns)
