"""The numbers of GPUs to try, and for each the few layouts that could be best on any card: possible plans only."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.models.spec import ModelTask
from planner.numeric import ceil_div
from planner.plan.checks import problems_of
from planner.plan.plan import Plan
from planner.plan.request import request_of
from planner.result import InputError
from planner.workload import Request, Training

PARALLEL = ("tensor_parallel", "pipeline_parallel", "sharding")
"""The fields that a candidate may set where the user did not."""
_NUMBERS = (
    "data_parallel",
    "tensor_parallel",
    "pipeline_parallel",
    "context_parallel",
    "expert_parallel",
    "shard_group",
)
_DEGREES = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class Candidate:
    """One plan: what it sets beside the GPU, and its request on the plan's present GPU."""

    sets: Mapping[str, Any]
    request: Request

    @property
    def gpus(self) -> int:
        return int(self.request.layout.gpus)


@dataclass(frozen=True, slots=True)
class Batch:
    """Candidates that differ in numbers only, and the request that holds these as arrays."""

    candidates: tuple[Candidate, ...]
    request: Request


def counts(most: int, present: int) -> list[int]:
    """Powers of two up to `most`, and the plan's own number."""
    return sorted({count for count in (*(2**step for step in range(17)), present) if count <= most})


def batches(plan: Plan, numbers: Sequence[int]) -> tuple[Batch, ...]:
    """Every possible candidate for these numbers of GPUs, in as few array requests as can be."""
    groups: dict[tuple[Any, ...], list[Candidate]] = {}
    for number in numbers:
        for candidate in _candidates(plan, number):
            groups.setdefault(_kind(candidate.request), []).append(candidate)
    return tuple(_stack(group) for group in groups.values())


def _neutral(request: Request) -> Request:
    """Sequence parallel on, where tensor parallel is 1 and it does nothing: fewer kinds of candidates to compute."""
    if not isinstance(request, Training) or request.layout.tensor_parallel > 1:
        return request
    return dataclasses.replace(request, layout=dataclasses.replace(request.layout, sequence_parallel=True))


def _candidates(plan: Plan, number: int) -> Iterator[Candidate]:
    seen: set[tuple[tuple[str, Any], ...]] = set()
    for layout in _layouts(plan, number):
        sets = {"gpus": number, **{field: value for field, value in layout.items() if field not in plan.chosen}}
        if tuple(sets.items()) in seen:
            continue
        seen.add(tuple(sets.items()))
        try:
            changed = plan.with_changes(gpu=None, gpu_config=None, price=None, link=None, **sets)
            changed = _same_batch(plan, changed, sets)
        except InputError:
            continue
        if not any(problem.field not in ("gpu", "precision") for problem in problems_of(changed)):
            yield Candidate(sets, _neutral(request_of(changed)))


def _layouts(plan: Plan, number: int) -> Iterator[dict[str, Any]]:
    """The plan's own layout, then what brings a model onto more GPUs or uses them better."""
    yield {}
    if number == 1 or plan.spec.image is not None or plan.spec.task is ModelTask.DIFFUSION:
        return
    node = min(number, plan.values["gpus_per_node"])
    serving = plan.values["task"] == "serve"
    for degree in _DEGREES:
        if degree <= node:
            yield {"tensor_parallel": degree} if serving else {"tensor_parallel": degree, "sharding": "fsdp"}
    if serving:
        for degree in {1, node}:
            if number > degree:
                yield {"tensor_parallel": degree, "pipeline_parallel": number // degree}


def _same_batch(plan: Plan, changed: Plan, sets: dict[str, Any]) -> Plan:
    """Training keeps its global batch by accumulation, as far as a micro-batch on each GPU allows."""
    if not changed.uses("gradient_accumulation_steps"):
        return changed
    wanted, request = request_of(plan), request_of(changed)
    assert isinstance(wanted, Training)
    assert isinstance(request, Training)
    steps = ceil_div(int(wanted.global_batch_size), int(request.micro_batch_size * request.layout.data_parallel))
    if steps == request.gradient_accumulation_steps:
        return changed
    sets["gradient_accumulation_steps"] = max(1, steps)
    return changed.with_changes(gradient_accumulation_steps=max(1, steps))


def _kind(request: Request) -> tuple[Any, ...]:
    """Everything of a candidate's request that is not a number of `_NUMBERS`."""
    layout = request.layout
    return (
        *(getattr(layout, field.name) for field in dataclasses.fields(layout) if field.name not in _NUMBERS),
        request.cluster.gpus_per_node,
        request.cluster.inter_node,
    )


def _stack(group: list[Candidate]) -> Batch:
    first = group[0].request
    if len(group) == 1:  # plain numbers are quicker than arrays of one
        return Batch(tuple(group), first)
    numbers: dict[str, Any] = {
        name: np.array([getattr(one.request.layout, name) for one in group], dtype=np.float64) for name in _NUMBERS
    }
    changes: dict[str, Any] = {"layout": dataclasses.replace(first.layout, **numbers)}
    if isinstance(first, Training):
        steps = [one.request.gradient_accumulation_steps for one in group if isinstance(one.request, Training)]
        changes["gradient_accumulation_steps"] = np.array(steps, dtype=np.float64)
    # How many work is in the layout's degrees. The cluster's number says how many share a port of a node, which only
    # counts beyond one node: there it is the same for every candidate.
    changes["cluster"] = dataclasses.replace(first.cluster, gpus=max(one.gpus for one in group))
    return Batch(tuple(group), dataclasses.replace(first, **changes))
