"""Which public rule speaks about a measured quantity, and what it says."""

from dataclasses import dataclass

from planner.baselines import rules
from planner.parallel import Sharding
from planner.validation.case import Case, Quantity
from planner.workload import MethodKind, Serving, Training

_PEAKS = (Quantity.ALLOCATED, Quantity.RESERVED, Quantity.DEVICE, Quantity.UNSTATED)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A rule by its stable id, and its answer in the quantity's unit."""

    rule: str  # accelerate, deepspeed, weights-1.2, 6nd
    value: float


def baseline(case: Case, quantity: Quantity) -> Baseline | None:
    """The rule's answer; None where no public rule speaks about the quantity."""
    request = case.request
    if isinstance(request, Serving):
        if request.model.image is None and quantity in (*_PEAKS, Quantity.WEIGHTS) and not case.whole_machine:
            return Baseline("weights-1.2", rules.serving_bytes(request))
        return None
    if quantity in _PEAKS:
        return _memory(request)
    return _time(request, quantity)


def _memory(request: Training) -> Baseline | None:
    if request.model.image is not None or request.method.kind is not MethodKind.FULL:
        return None
    if request.layout.sharding in (Sharding.NONE, Sharding.HSDP):
        return Baseline("accelerate", rules.accelerate_training_bytes(request.model))
    return Baseline("deepspeed", rules.deepspeed_bytes(request))


def _time(request: Training, quantity: Quantity) -> Baseline | None:
    seconds = rules.training_seconds(request)
    if seconds is None:
        return None
    if quantity is Quantity.STEP_TIME:
        return Baseline("6nd", seconds)
    if quantity is Quantity.SAMPLES_RATE:
        return Baseline("6nd", float(request.global_batch_size) / seconds)
    if quantity is Quantity.TOKENS_RATE:
        return Baseline("6nd", float(request.global_batch_size * request.sequence_length) / seconds)
    return None
