"""What a search varies: the choices, and the numbers they stand beside."""

from dataclasses import dataclass
from itertools import product
from typing import Any

from planner.parallel import Offload, Sharding
from planner.plan.checks import problems_of, trains_in
from planner.plan.plan import Plan
from planner.result import Problem
from planner.workload import Recompute, TrainingPrecision

MOST_GPUS = 16_384


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is chosen by name rather than by number; the numbers vary within."""

    sharding: Sharding = Sharding.NONE
    shard_group: int = 0
    recompute: Recompute = Recompute.NONE
    offload_optimizer: Offload = Offload.NONE
    offload_parameters: Offload = Offload.NONE
    precision: TrainingPrecision = TrainingPrecision.BF16


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """The layouts to look at. A global batch is kept whole: data parallel x micro-batch x accumulation."""

    gpus: tuple[int, ...]  # numbers of GPUs to use, most first
    global_batch_size: int  # sequences or images of one optimizer step; requests at once when serving
    shardings: tuple[Sharding, ...]
    recomputes: tuple[Recompute, ...]
    offloads: tuple[tuple[Offload, Offload], ...]  # optimizer, parameters
    precisions: tuple[TrainingPrecision, ...]

    def choices(self, sharding: Sharding, shard_group: int) -> tuple[Choice, ...]:
        """Named choices beside one way of sharding. Parameters leave the GPU only where they are gathered anyway."""
        return tuple(
            Choice(
                sharding=sharding,
                shard_group=shard_group,
                recompute=recompute,
                offload_optimizer=optimizer,
                offload_parameters=parameters,
                precision=precision,
            )
            for recompute, (optimizer, parameters), precision in product(
                self.recomputes, self.offloads, self.precisions
            )
            if parameters is Offload.NONE or sharding.divides_parameters
        )


OFFLOADS = ((Offload.NONE, Offload.NONE), (Offload.CPU, Offload.NONE), (Offload.CPU, Offload.CPU))
"""NVMe frees no more of the GPU than the host's memory does, and is slower."""


def space_of(
    plan: Plan,
    *,
    global_batch_size: int | None = None,
    fewer_gpus: bool = True,
    offload: bool = True,
    any_precision: bool = False,
) -> Space:
    """The space around a plan: its work, its GPUs and halves of them, and every way to lay the work out.

    `any_precision` tries every training precision that the GPU has; else the plan's own, which decides what is learnt.
    """
    gpus = plan.values["gpus"]
    counts = [gpus]
    while fewer_gpus and counts[-1] % 2 == 0:
        counts.append(counts[-1] // 2)
    if plan.values["task"] == "serve":
        return Space(
            gpus=tuple(counts),
            global_batch_size=global_batch_size or plan.values["concurrency"],
            shardings=(Sharding.NONE,),
            recomputes=(Recompute.NONE,),
            offloads=OFFLOADS[:1],
            precisions=(TrainingPrecision.BF16,),
        )
    precision = TrainingPrecision(plan.values["precision"])
    gpu = plan.card
    return Space(
        gpus=tuple(counts),
        global_batch_size=global_batch_size or global_batch_of(plan),
        shardings=_shardings(plan),
        recomputes=tuple(Recompute) if plan.uses("recompute") else (Recompute.NONE,),
        offloads=OFFLOADS if offload else OFFLOADS[:1],
        precisions=tuple(one for one in TrainingPrecision if trains_in(gpu, one)) if any_precision else (precision,),
    )


_NO_LAYOUT: dict[str, Any] = {
    "tensor_parallel": 1,
    "pipeline_parallel": None,
    "context_parallel": None,
    "expert_parallel": None,
    "sequence_parallel": None,
    "schedule": None,
    "virtual_stages": None,
    "sharding": None,
    "shard_group": None,
    "offload_optimizer": None,
    "offload_parameters": None,
    "recompute": None,
    "recompute_every": None,
    "micro_batch_size": 1,
    "gradient_accumulation_steps": None,
}


def base_of(plan: Plan) -> Plan:
    """The plan without its layout: what a search starts from. What is impossible about it no layout helps."""
    return plan.with_changes(**_NO_LAYOUT)


def impossible(base: Plan) -> tuple[Problem, ...]:
    """What of a plan's work no layout can help, and more GPUs than are searched."""
    gpus = base.values["gpus"]
    limits = {"low": 1, "high": MOST_GPUS, "unit": "GPUs"}
    found = problems_of(base)
    return found if gpus <= MOST_GPUS else (*found, Problem("out-of-range", "gpus", gpus, limits))


def _shardings(plan: Plan) -> tuple[Sharding, ...]:
    """ZeRO-3 and FSDP divide the same: the plan's own of the two stands for both."""
    whole = Sharding.ZERO3 if plan.uses("sharding") and plan.values["sharding"] == "zero3" else Sharding.FSDP
    return (Sharding.NONE, Sharding.ZERO1, Sharding.ZERO2, whole, Sharding.HSDP)


def global_batch_of(plan: Plan) -> int:
    """Sequences (or images) of one optimizer step of the plan as it stands."""
    values = plan.values
    model = 1
    for degree in ("tensor_parallel", "pipeline_parallel", "context_parallel"):
        model *= values[degree] if plan.uses(degree) else 1
    return int(values["micro_batch_size"] * values["gradient_accumulation_steps"] * max(1, values["gpus"] // model))
