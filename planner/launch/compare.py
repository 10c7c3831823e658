"""A reading put onto a plan, and what of a plan was lost on the way out and back."""

from typing import Any

from planner.launch.types import Reading, names
from planner.plan.fields import Section
from planner.plan.plan import Plan, resolve
from planner.plan.table import FIELDS
from planner.result import InputError

UNSAID = names(
    """
    task method model model_config gpu gpus gpus_per_node link network host price input_tokens output_tokens
    train_tokens_millions serve_tokens_millions sequence_length
    """
)
"""What configurations may be silent about: the present plan's value stays."""

_SAID = {Section.BASIC, Section.METHOD, Section.PRECISION, Section.EXECUTION, Section.PARALLEL, Section.ENGINE}
_NEVER_SAID = frozenset(
    {"gpu", "engine", "input_tokens", "output_tokens", "image_size", "images_per_sample", "padding_mask"}
)


def onto(plan: Plan, reading: Reading) -> Plan:
    """The plan that a reading describes; what it does not say, and no configuration would, is the present plan's."""
    kept = {name: value for name, value in plan.chosen.items() if name in UNSAID}
    for name in ("task", "model"):  # shown by default, and kept as shown
        kept.setdefault(name, plan.values[name])
    if "model" in reading.chosen or "model_config" in reading.chosen:
        kept.pop("model", None)
        kept.pop("model_config", None)
    chosen = {**kept, **reading.chosen}
    try:
        return resolve(_shorter(chosen))
    except InputError:
        return resolve({name: value for name, value in chosen.items() if name not in ("model", "model_config")})


def _shorter(chosen: dict[str, Any]) -> dict[str, Any]:
    """Requests cut to the longest sequence that an engine is told to hold."""
    longest = chosen.get("max_model_length")
    if not longest or chosen.get("task") != "serve":
        return chosen
    values = resolve(chosen).values
    if values["input_tokens"] + values["output_tokens"] <= longest:
        return chosen
    answer = max(1, min(values["output_tokens"], longest // 5))
    return {**chosen, "input_tokens": max(1, longest - answer), "output_tokens": answer}


def lost(plan: Plan, read_back: Plan) -> list[tuple[str, Any]]:
    """Fields, with the plan's value, that came back different: what the framework cannot say."""
    return [
        (field.id, plan.values[field.id])
        for field in FIELDS
        if (field.section in _SAID or field.id in ("workers", "pinned", "gpus_per_node"))
        and field.id not in _NEVER_SAID
        and plan.uses(field.id)
        and _meaning(plan, field.id) != _meaning(read_back, field.id)
    ]


def _meaning(plan: Plan, field_id: str) -> Any:
    """A field's value as the planner takes it: no longest sequence means the request's own."""
    value = plan.values[field_id]
    if field_id == "max_model_length" and not value:
        return plan.values["input_tokens"] + plan.values["output_tokens"]
    if field_id == "gpus_per_node":
        return min(value, plan.values["gpus"])
    return value
