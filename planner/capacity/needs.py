"""A plan as a workload of a portfolio: the fewest GPUs that hold it and its GPU-hours, by the planner."""

from typing import Any

from planner.plan.plan import Plan
from planner.plan.request import request_of
from planner.recommend.candidates import batches, counts
from planner.recommend.options import options, work_of
from planner.recommend.wishes import parse_wishes
from planner.result import InputError, Problem
from planner.units import HOUR

MOST_GPUS = 4096


def row_of(plan: Plan) -> dict[str, Any]:
    """The workload's row: on the plan's GPU the fewest that hold it (powers of two, or the plan's own number).

    A serving plan is a service. Raises `InputError` where nothing fits, where the plan does not say how much it trains
    ("missing-value"), or where the GPU's speed is not known ("unknown-speed").
    """
    request, (wishes, _) = request_of(plan), parse_wishes({})
    work = work_of(request)
    serves = plan.values["task"] == "serve"
    if not serves and not work.asked:
        field = "train_images_millions" if plan.uses("train_images_millions") else "train_tokens_millions"
        raise InputError([Problem("missing-value", field)])
    found = options(request.cluster.gpu, batches(plan, counts(MOST_GPUS, plan.values["gpus"])), work, wishes)
    smallest = next((one for one in found if one.fits), None)
    if smallest is None:
        raise InputError([Problem("nothing-fits", "gpus", MOST_GPUS)])
    if not serves and smallest.seconds is None:
        raise InputError([Problem("unknown-speed", "gpu", plan.values["gpu"])])
    hours = 0.0 if serves else smallest.gpus * (smallest.seconds or 0.0) / HOUR
    return {
        "name": f"{plan.values['task']} {plan.spec.name}"[:100],
        "gpus": smallest.gpus,
        "gpu_hours": round(hours, 2),
        "gpu_types": plan.values["gpu"],
        "priority": 5,
    }
