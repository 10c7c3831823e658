"""How a rule for single GPUs becomes one verdict over all of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from planner.telemetry.diagnosis.verdict import Confidence, Evidence, Outcome, Verdict
from planner.telemetry.diagnosis.view import View
from planner.telemetry.sample import Device


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A rule applies to one GPU."""

    evidence: tuple[Evidence, ...]
    confidence: Confidence = Confidence.HIGH
    seconds: float | None = None  # None: the whole window


Test = Callable[[View, Device], Hit | None]


def judge(
    view: View,
    rule: str,
    test: Test,
    *,
    needs: Sequence[str] = (),
    advice: Sequence[str] = (),
    devices: Sequence[Device] | None = None,
    at_once: bool = False,
) -> Verdict:
    """Run `test` on every GPU that has the metrics it `needs`.

    Without enough readings nothing is evaluated, but for rules that hold `at_once` (a lost GPU is lost).
    """
    if not at_once and not view.enough:
        return Verdict(rule=rule, outcome=Outcome.NOT_EVALUATED, missing=("readings",))
    lacking: dict[str, None] = {}
    hits: list[tuple[Device, Hit]] = []
    evaluated = False
    for device in view.cards if devices is None else devices:
        lacks = [name for name in needs if name in view.missing(device, *needs)]
        if lacks:
            lacking.update(dict.fromkeys(lacks))
            continue
        evaluated = True
        hit = test(view, device)
        if hit:
            hits.append((device, hit))
    if not hits:
        outcome = Outcome.NOT_FOUND if evaluated else Outcome.NOT_EVALUATED
        return Verdict(rule=rule, outcome=outcome, missing=() if evaluated else tuple(lacking) or ("gpus",))
    _, worst = hits[0]
    longest = max(view.seconds if hit.seconds is None else hit.seconds for _, hit in hits)
    return Verdict(
        rule=rule,
        outcome=Outcome.FOUND,
        uuids=tuple(device.uuid for device, _ in hits),
        confidence=worst.confidence,
        evidence=worst.evidence,
        seconds=longest,
        missing=tuple(lacking),
        advice=tuple(advice),
    )
