"""The largest input that fits, and the fewest GPUs: exact searches on the planner's own memory, with the margin left.

Memory grows with every input that is solved for, so bisection is exact; each step of it is one call on an array.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.estimate import estimate, memory_of
from planner.parallel import Sharding
from planner.parallel_rules import divides, expert_group
from planner.plan.checks import problems_of
from planner.plan.plan import Plan
from planner.plan.request import request_of
from planner.plan.table import BY_ID
from planner.result import Estimate, InputError, Problem
from planner.workload import Training

POINTS = 64
"""Values of one array call: three calls narrow four orders of magnitude down to one value."""

SOLVABLE = (
    "micro_batch_size",
    "sequence_length",
    "lora_rank",
    "image_size",
    "concurrency",
    "input_tokens",
    "output_tokens",
    "model",
    "gpus",
)
"""Fields that can be solved for: the fewest of the last, the largest of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The answer of one search. `value` is None where not even the easiest value fits."""

    field: str
    value: int | str | None
    plan: Plan  # with that value; with the easiest one where none fits
    estimate: Estimate
    next_short_bytes: float | None  # what the next value lacks; None where a limit other than memory ends the search

    @property
    def margin_bytes(self) -> float:
        """Bytes of the GPU that stay free; negative where nothing fits."""
        return float(self.estimate.memory.spare)


def solvable(plan: Plan) -> tuple[str, ...]:
    """The fields of `SOLVABLE` that apply to a plan."""
    return tuple(id for id in SOLVABLE if BY_ID[id].used_in(plan.values))


def solve(plan: Plan, field: str) -> Solution:
    """The fewest GPUs, or the largest value of any other field of `solvable`. Raises `InputError` for others."""
    if field not in solvable(plan):
        raise InputError([Problem("not-solvable", field, None, {"choices": list(solvable(plan))})])
    return fewest_gpus(plan) if field == "gpus" else largest(plan, field)


def largest(plan: Plan, field: str) -> Solution:
    """The largest value of `field` with which the plan fits, all else as it is."""
    if field == "model":
        return _largest_model(plan)
    request: Any = request_of(plan)
    step, low, high = _range(plan, field)

    def spare(values: Sequence[int]) -> list[float]:
        array = step * np.asarray(values, dtype=np.float64)
        changed = _with_field(request, field, array)
        return np.broadcast_to(np.asarray(memory_of(changed).spare, dtype=np.float64), array.shape).tolist()

    count = _last_that_fits(spare, low, high)
    value = step * (low if count is None else count)
    beyond = None if count == high else -spare([low if count is None else count + 1])[0]
    return _solution(plan, field, None if count is None else value, {field: value}, beyond)


def _with_field(request: Any, field: str, values: Any) -> Any:
    if field == "lora_rank":
        return dataclasses.replace(request, method=dataclasses.replace(request.method, rank=values))
    return dataclasses.replace(request, **{field: values})


def _range(plan: Plan, field: str) -> tuple[int, int, int]:
    """Step of a field, and its least and most steps: within the table's limits, the model's positions, the layout."""
    known, step = BY_ID[field], 1
    low, high = int(known.low), int(known.high)
    values = plan.values
    positions = next((table.rows for table in plan.spec.embeddings if table.role == "position"), high)
    if field == "sequence_length":
        context = values["context_parallel"] if plan.uses("context_parallel") else 1
        step = 2 * context if context > 1 else 1
        high = min(high, positions)
    elif field in ("input_tokens", "output_tokens"):
        other = values["output_tokens" if field == "input_tokens" else "input_tokens"]
        longest = values["max_model_length"] if plan.uses("max_model_length") else 0
        high = max(low, min(high, positions - other, longest - other if longest else high))
    return step, max(1, -(-low // step)), high // step


def _last_that_fits(spare: Callable[[Sequence[int]], list[float]], low: int, high: int) -> int | None:
    """The last of `low` to `high` with memory to spare; None where the first has none. `spare` falls throughout."""
    good, bad = low - 1, high + 1
    while bad - good > 1:
        inside = np.unique(np.geomspace(good + 1, bad - 1, POINTS).round().astype(np.int64)).tolist()
        if bad - good > 4 * POINTS and good >= low:  # evenly once the order of magnitude is known
            inside = np.unique(np.linspace(good + 1, bad - 1, POINTS).round().astype(np.int64)).tolist()
        for value, room in zip(inside, spare(inside), strict=True):
            if room < 0:
                bad = value
                break
            good = value
    return None if good < low else good


def _solution(
    plan: Plan, field: str, value: int | str | None, sets: dict[str, Any], next_short: float | None
) -> Solution:
    changed = plan.with_changes(**sets)
    return Solution(
        field=field, value=value, plan=changed, estimate=estimate(request_of(changed)), next_short_bytes=next_short
    )


# The size of a model


def _sizes() -> list[str]:
    """Generated models of 1 million to 10 trillion parameters, three digits each."""
    found = []
    for letter in "mbt":
        top = 10 if letter == "t" else 1000
        found += [f"transformer-{n / 100:g}{letter}" for n in range(100, 1000)]
        found += [f"transformer-{n / 10:g}{letter}" for n in range(100, 1000) if n / 10 < top]
        found += [f"transformer-{n}{letter}" for n in range(100, 1000) if n < top]
    return found


def _largest_model(plan: Plan) -> Solution:
    """The largest generated transformer that fits, to three digits; sizes that the layout cannot divide are skipped."""
    sizes = _sizes()

    def room(index: int) -> float | None:
        try:
            changed = plan.with_changes(model=sizes[index], model_config=None)
        except InputError:
            return None
        return None if problems_of(changed) else float(memory_of(request_of(changed)).spare)

    good, bad, short = -1, len(sizes), None
    while bad - good > 1:
        middle = (good + bad) // 2
        index = next((i for i in range(middle, bad) if (spare := room(i)) is not None), None)
        if index is None:
            bad = middle
        elif spare is not None and spare >= 0:
            good = index
        else:
            bad, short = middle, None if spare is None else -spare
    first = next(i for i in range(len(sizes)) if room(i) is not None) if good < 0 else good
    value = None if good < 0 else sizes[good]
    return _solution(plan, "model", value, {"model": sizes[first], "model_config": None}, short)


# The number of GPUs


def fewest_gpus(plan: Plan) -> Solution:
    """The fewest GPUs that hold the plan with its own degrees: data parallel alone grows, and the batch with it."""
    request: Any = request_of(plan)
    layout = request.layout
    fixed = int(layout.tensor_parallel * layout.pipeline_parallel * layout.context_parallel)
    counts = np.arange(1, int(BY_ID["gpus"].high) // fixed + 1)
    counts = counts[_allowed(plan, request, counts, fixed)]
    for start in range(0, len(counts), 4096):
        part = counts[start : start + 4096].astype(np.float64)
        spare = np.broadcast_to(np.asarray(memory_of(_spread(request, part, fixed)).spare), part.shape)
        fitting = np.flatnonzero(spare >= 0)
        if len(fitting):
            first = int(counts[start + fitting[0]])
            before = spare[fitting[0] - 1] if fitting[0] else None
            return _solution(
                plan, "gpus", first * fixed, _degrees(plan, first * fixed), None if before is None else -float(before)
            )
    return _solution(plan, "gpus", None, _degrees(plan, int(counts[-1]) * fixed), None)


def _degrees(plan: Plan, gpus: int) -> dict[str, Any]:
    """The plan's degrees held fast while the GPUs change: some defaults follow from their number."""
    held = ("tensor_parallel", "sharding", "shard_group")
    return {"gpus": gpus, **{name: plan.values[name] for name in held if plan.uses(name)}}


def _allowed(plan: Plan, request: Any, counts: Any, fixed: int) -> Any:
    """Which replica counts the layout's own groups divide into."""
    layout, serving = request.layout, not isinstance(request, Training)
    group = expert_group(counts * fixed, layout.tensor_parallel, layout.pipeline_parallel, serving)
    allowed = divides(group, layout.expert_parallel)
    if layout.sharding is Sharding.HSDP and layout.shard_group:
        allowed &= divides(counts * layout.context_parallel, layout.shard_group)
    if plan.values["gpus"] > 1 and fixed == 1 and layout.sharding is not Sharding.NONE:
        allowed &= counts > 1  # one GPU has nothing to share with, and would be another plan
    return allowed


def _spread(request: Any, replicas: Any, fixed: int) -> Any:
    cluster = dataclasses.replace(request.cluster, gpus=replicas * fixed)
    layout = dataclasses.replace(request.layout, data_parallel=replicas)
    return dataclasses.replace(request, cluster=cluster, layout=layout)
