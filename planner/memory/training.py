"""Memory of a training step on the fullest GPU."""

from functools import cached_property

from planner.memory.activations import ACTIVATIONS, RECOMPUTED
from planner.memory.adapters import ADAPTER
from planner.memory.gradients import GRADIENTS
from planner.memory.logits import LOGITS
from planner.memory.optimizer import OPTIMIZER
from planner.memory.overhead import CACHED, RESERVE, fragmentation_bytes, outside_terms
from planner.memory.path import path_of
from planner.memory.phases import stage_phases
from planner.memory.sharding import stages
from planner.memory.weights import WEIGHTS
from planner.numeric import Number, is_array, maximum, minimum, where
from planner.result import Memory, Phase, Term, total
from planner.workload import Training

STANDING = frozenset({WEIGHTS.id, ADAPTER.id, OPTIMIZER.id})
"""Terms that stay from step to step."""


def training_memory(request: Training) -> Memory:
    """Memory of `request` on the fullest GPU, in bytes: phases, what the allocator adds, and what stands outside it.

    Numeric fields may be arrays; the result's values are then arrays too.
    """
    path = path_of(request)
    found = [
        _Held(request, stage_phases(request, path, stage))
        for stage in stages(request.model, request.layout, request.gradient_accumulation_steps)
    ]
    first, last = found[0], found[-1]
    fuller = True if first is last else first.allocated >= last.allocated
    allocated = maximum(first.allocated, last.allocated)
    step = allocated - where(fuller, first.standing, last.standing)
    outside, capacity = outside_terms(request), request.cluster.gpu.memory_bytes
    reserve = fragmentation_bytes(request, step)
    room = maximum(0, capacity - allocated - reserve - total(outside))
    idle = where(fuller, first.idle, last.idle)
    return Memory(
        phases=_fuller(fuller, first.phases, last.phases),
        reserve=RESERVE.term(reserve, step=step),
        cached=CACHED.term(minimum(idle, room), idle=idle, room=room),
        outside=outside,
        capacity=capacity,
    )


class _Held:
    """A pipeline stage: its phases, and what of them the allocator's share follows from."""

    def __init__(self, request: Training, phases: tuple[Phase, ...]) -> None:
        self.phases = phases
        self.allocated = maximum(*(phase.total for phase in phases))
        self.standing = sum(term.value for term in phases[0].terms if term.id in STANDING)
        self.idle = _idle(request, phases)


def _idle(request: Training, phases: tuple[Phase, ...]) -> Number:
    """Bytes cached for another phase than the peak's.

    Logits blocks or layer blocks, whichever is smaller; what is collected over the backward pass fills the freed logits
    blocks. Sharded gradients are made on the stream that reduces them, so activations can't take their blocks.
    """
    values = {phase.id: {term.id: term.value for term in phase.terms} for phase in phases}
    loss, backward = values["loss"], values["backward"]
    collected = backward[ACTIVATIONS.id] - loss[ACTIVATIONS.id]
    idle = maximum(
        0, minimum(maximum(values["forward"][LOGITS.id], loss[LOGITS.id]), backward[RECOMPUTED.id]) - collected
    )
    if request.layout.sharding.divides_parameters:
        idle = idle + minimum(values["optimizer"][GRADIENTS.id], backward[ACTIVATIONS.id] + backward[RECOMPUTED.id])
    return idle


def _fuller(choose: Number, first: tuple[Phase, ...], last: tuple[Phase, ...]) -> tuple[Phase, ...]:
    """The phases of whichever stage is fuller, layout by layout."""
    if not is_array(choose):
        return first if choose else last
    return tuple(_FullerPhase(choose, one, other) for one, other in zip(first, last, strict=True))


class _FullerPhase(Phase):
    """A phase of the fuller stage. Its terms are put together only when they are asked for: a search needs totals."""

    _choose: Number
    _one: Phase
    _other: Phase

    def __init__(self, choose: Number, one: Phase, other: Phase) -> None:
        self.__dict__.update(id=one.id, _choose=choose, _one=one, _other=other)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The terms, each of the fuller stage."""
        pairs = zip(self._one.terms, self._other.terms, strict=True)
        return tuple(_chosen(self._choose, one, other) for one, other in pairs)

    @cached_property
    def total(self) -> Number:
        """As `Phase.total`."""
        return where(self._choose, self._one.total, self._other.total)


def _chosen(choose: Number, one: Term, other: Term) -> Term:
    inputs = {key: where(choose, one.inputs[key], other.inputs[key]) for key in one.inputs}
    return Term(one.formula, where(choose, one.value, other.value), inputs)
