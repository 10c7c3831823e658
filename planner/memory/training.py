"""Memory of a training step on the fullest GPU."""

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
from planner.numeric import Number, maximum, minimum, where
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
        stage_phases(request, path, stage)
        for stage in stages(request.model, request.layout, request.gradient_accumulation_steps)
    ]
    phases = found[0] if len(found) == 1 else _fuller(found[0], found[1])
    totals = {phase.id: phase.total for phase in phases}
    allocated = maximum(*totals.values())
    outside, capacity = outside_terms(request), request.cluster.gpu.memory_bytes
    idle = _idle(request, phases)
    standing = sum(term.value for term in phases[0].terms if term.id in STANDING)
    reserve = fragmentation_bytes(request, allocated - standing)
    room = maximum(0, capacity - allocated - reserve - total(outside))
    return Memory(
        phases=phases,
        reserve=RESERVE.term(reserve, step=allocated - standing),
        cached=CACHED.term(minimum(idle, room), idle=idle, room=room),
        outside=outside,
        capacity=capacity,
    )


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


def _fuller(first: tuple[Phase, ...], last: tuple[Phase, ...]) -> tuple[Phase, ...]:
    """The phases of whichever stage has the larger peak."""
    choose = maximum(*(phase.total for phase in first)) >= maximum(*(phase.total for phase in last))
    return tuple(
        Phase(one.id, tuple(_chosen(choose, a, b) for a, b in zip(one.terms, other.terms, strict=True)))
        for one, other in zip(first, last, strict=True)
    )


def _chosen(choose: Number, one: Term, other: Term) -> Term:
    inputs = {key: where(choose, one.inputs[key], other.inputs[key]) for key in one.inputs}
    return Term(one.formula, where(choose, one.value, other.value), inputs)
