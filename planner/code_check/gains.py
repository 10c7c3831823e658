"""What a repair would bring to a plan: the plan with the script's fault against the plan without it."""

from dataclasses import dataclass

from planner.code_check.finding import Finding
from planner.estimate import estimate
from planner.plan.checks import problems_of
from planner.plan.plan import Plan
from planner.plan.request import request_of
from planner.result import Estimate, InputError


@dataclass(frozen=True, slots=True)
class Gain:
    """`speed`: work per second as repaired over as it is; `memory`: the same of memory. `fits`: as repaired.

    `applied`: the plan has the repair already.
    """

    speed: float | None
    memory: float
    fits: bool
    applied: bool


def gain(finding: Finding, plan: Plan) -> Gain | None:
    """The repair's effect on this plan; None where the plan does not know of it or one of both is no possible plan."""
    if not finding.sets or not all(plan.uses(name) for name in finding.sets):
        return None
    before, after = _estimate(plan, finding.was), _estimate(plan, finding.sets)
    if before is None or after is None:
        return None
    applied = all(plan.values.get(name) == value for name, value in finding.sets.items())
    memory = float(after.memory.required / before.memory.required)
    return Gain(after.relative_rate(before), memory, bool(after.fits), applied)


def _estimate(plan: Plan, changes: object) -> Estimate | None:
    try:
        changed = plan.with_changes(**dict(changes))  # type: ignore[call-overload]
        return None if problems_of(changed) else estimate(request_of(changed))
    except InputError:
        return None
