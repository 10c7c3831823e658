"""Rules that compare the GPUs of one machine with each other."""

import numpy as np

from planner.telemetry.diagnosis.judging import Hit, judge
from planner.telemetry.diagnosis.verdict import Confidence, Evidence, Outcome, Verdict
from planner.telemetry.diagnosis.view import View
from planner.telemetry.sample import Device


def unused_gpu(view: View) -> Verdict:
    """A GPU stands still for minutes while another one works."""
    columns = {device.uuid: view.whole.values(device.uuid, "utilization") for device in view.cards}
    if len(view.cards) < 2:
        return Verdict(rule="unused-gpu", outcome=Outcome.NOT_EVALUATED, missing=("several-gpus",))

    def test(view: View, device: Device) -> Hit | None:
        siblings = [c for uuid, c in columns.items() if uuid != device.uuid]
        others = np.max(np.nan_to_num(siblings), axis=0) > view.limits["unused_sibling"]
        seconds = view.longest((columns[device.uuid] <= 0) & others)
        limit = view.limits["unused_seconds"]
        if seconds < limit:
            return None
        evidence = (
            Evidence(metric="unused_seconds", value=seconds, threshold="unused_seconds", limit=limit, uuid=device.uuid),
        )
        return Hit(evidence=evidence, seconds=seconds, confidence=Confidence.MEDIUM)

    return judge(view, "unused-gpu", test, needs=("utilization",), advice=("world-size",), at_once=True)


def _alike(cards: list[Device]) -> list[Device]:
    """The largest group of one model: different cards differ by nature."""
    names = [device.name.split(" · ")[0] for device in cards]
    most = max(names, key=names.count, default="")
    return [device for device, name in zip(cards, names, strict=True) if name == most]


def imbalance(view: View) -> Verdict:
    """Some GPUs of one model wait for others: they are less busy, or draw much less power."""
    rule = "imbalance"
    busy_cards = _alike([device for device in view.cards if view.is_busy(device)])
    if len(busy_cards) < 2 or not view.enough:
        return Verdict(rule=rule, outcome=Outcome.NOT_EVALUATED, missing=("several-gpus",))
    evidence = []
    evaluated = False
    for metric, threshold in (("utilization", "imbalance_busy"), ("power", "imbalance_power")):
        found = [view.values(device, metric) for device in busy_cards]
        if not all(len(column) for column in found):
            continue
        evaluated = True
        limit = view.limits[threshold]
        if metric == "utilization":
            middles = np.array([column.mean() for column in found])
            spread = float((middles.max() - middles.mean()) / middles.mean())
        else:
            middles = np.array([np.median(column) for column in found])
            spread = float((middles.max() - middles.min()) / middles.mean())
        if spread > limit:
            slowest = busy_cards[int(middles.argmin())].uuid
            evidence.append(Evidence(metric=threshold, value=spread, threshold=threshold, limit=limit, uuid=slowest))
    if not evaluated:
        return Verdict(rule=rule, outcome=Outcome.NOT_EVALUATED, missing=("utilization", "power"))
    if not evidence:
        return Verdict(rule=rule, outcome=Outcome.NOT_FOUND)
    return Verdict(
        rule=rule,
        outcome=Outcome.FOUND,
        uuids=tuple(dict.fromkeys(one.uuid for one in evidence)),
        confidence=Confidence.MEDIUM,
        evidence=tuple(evidence),
        seconds=view.seconds,
        advice=("even-batches", "slow-node", "pipeline-stages"),
    )
