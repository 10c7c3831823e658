"""The same plan in every precision, side by side."""

from dataclasses import dataclass

from planner.estimate import estimate
from planner.plan.checks import problems_of
from planner.plan.plan import Plan, choices_of
from planner.plan.request import request_of
from planner.plan.table import BY_ID
from planner.result import Estimate, InputError, Problem

USUAL_FORMATS = ("bf16", "fp8", "int8", "awq-int4", "gptq-int4", "nf4", "mxfp4", "nvfp4", "gguf-q8_0", "gguf-q4_k_m")
"""Weight formats worth a row; the full list is in the input's menu."""


@dataclass(frozen=True, slots=True)
class Row:
    """One precision: the plan in it, and its estimate, or why it cannot be."""

    id: str
    plan: Plan | None
    estimate: Estimate | None
    problems: tuple[Problem, ...] = ()


def precision_field(plan: Plan) -> str:
    """The field that holds the precision of this plan's task."""
    return "weight_format" if plan.values["task"] == "serve" else "precision"


def compare(plan: Plan) -> tuple[Row, ...]:
    """A row for each precision, the plan's own among them."""
    field = precision_field(plan)
    options = choices_of(BY_ID[field])
    if field == "weight_format":
        options = tuple(option for option in options if option in {*USUAL_FORMATS, plan.values[field]})
    return tuple(_row(plan, field, option) for option in options)


def _row(plan: Plan, field: str, option: str) -> Row:
    try:
        changed = plan.with_changes(**{field: option})
        problems = problems_of(changed)
        if problems:
            return Row(option, None, None, problems)
        return Row(option, changed, estimate(request_of(changed)))
    except InputError as error:
        return Row(option, None, None, error.problems)
