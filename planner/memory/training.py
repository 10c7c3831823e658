"""Memory of a training step on the fullest GPU."""

from planner.memory.overhead import RESERVE, outside_terms, reserve_bytes
from planner.memory.path import path_of
from planner.memory.phases import stage_phases
from planner.memory.sharding import stages
from planner.numeric import Number, maximum, minimum, where
from planner.result import Memory, Phase, Term, total
from planner.workload import Training


def training_memory(request: Training) -> Memory:
    """Memory of `request` on the fullest GPU, in bytes: phases, the allocator's reserve, and what stands outside it.

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
    idle = maximum(0, _idle(phases))
    reserve = reserve_bytes(allocated, idle, capacity - allocated - total(outside))
    return Memory(
        phases=phases,
        reserve=RESERVE.term(reserve, allocated=allocated, idle=idle),
        outside=outside,
        capacity=capacity,
    )


def _idle(phases: tuple[Phase, ...]) -> Number:
    """Bytes of large logits blocks or of layer blocks, whichever is smaller: at the peak one of the two lies idle."""
    values: dict[str, Number] = {}
    for phase in phases:
        for term in phase.terms:
            if term.id in ("mem.logits", "mem.activations.recomputed"):
                values[term.id] = maximum(values.get(term.id, 0), term.value)
    return minimum(values["mem.logits"], values["mem.activations.recomputed"])


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
