"""Sentences of launch and import: what a framework cannot say, what was not read, what was assumed."""

from collections.abc import Mapping
from typing import Any

from pages.ui import labels
from pages.ui.text import Text
from pages.ui.words.problems import problem
from pages.ui.words.sentence import Sentence, said
from planner.launch.types import Unread
from planner.plan.fields import Kind
from planner.plan.table import BY_ID
from planner.result import Notice


def note(text: Text, found: Notice) -> str:
    """What a framework cannot say of the plan."""
    return said(NOTES, text, found.code, found.parameters)


def unread(text: Text, found: Unread) -> str:
    """An option that is not in the plan, and why."""
    parameters = {"option": found.option, "value": found.value, **found.parameters}
    return said(UNREAD, text, found.code, parameters)


def assumption(text: Text, found: Notice) -> str:
    """What a text does not say, and what was taken instead."""
    return said(ASSUMPTIONS, text, found.code, found.parameters)


def _field(text: Text, q: Mapping[str, Any]) -> str:
    one = BY_ID.get(str(q["field"]))
    return labels.field(text, one) if one else str(q["field"])


def _value(text: Text, q: Mapping[str, Any]) -> str:
    value, one = q["value"], BY_ID.get(str(q["field"]))
    if isinstance(value, bool):
        return text.t("yes") if value else text.t("no")
    if isinstance(value, str) and one is not None and one.kind is Kind.CHOICE:
        return labels.choice(text, one.id, value)
    return text.number(value) if isinstance(value, int | float) else str(value)


NOTES: dict[str, Sentence] = {
    "not-expressed": lambda text, q: text.t(
        "This framework cannot say “{field}: {value}”; the files take what is nearest to it.",
        field=_field(text, q),
        value=_value(text, q),
    ),
    "model-is-yours": lambda text, q: text.t(
        "The model is one of your own: put its name or its path where the files name the model."
    ),
}

UNREAD: dict[str, Sentence] = {
    "not-planned": lambda text, q: text.t(
        "{option} = {value}: has no counterpart in the plan.", option=q["option"], value=str(q["value"])
    ),
    "no-word": lambda text, q: text.t(
        "{option} = {value}: no choice of “{field}” corresponds to it.",
        option=q["option"],
        value=str(q["value"]),
        field=_field(text, q),
    ),
    "bad-value": lambda text, q: text.t(
        "{option} = {value}: {reason}", option=q["option"], value=str(q["value"]), reason=problem(text, q["problem"])
    ),
    "unknown-model": lambda text, q: text.t(
        "{option} = {value}: this model is not in the catalogue; the present model stays.",
        option=q["option"],
        value=str(q["value"]),
    ),
    "model-incomplete": lambda text, q: text.t(
        "{option} = {value}: not enough is said about the model's shape.", option=q["option"], value=str(q["value"])
    ),
    "layers-on-host": lambda text, q: text.t(
        "{option} = {value}: layers left to the CPU are planned as if they were on the GPU.",
        option=q["option"],
        value=str(q["value"]),
    ),
}

ASSUMPTIONS: dict[str, Sentence] = {
    "framework-default": lambda text, q: text.t(
        "{field}: {value}, the framework's default.", field=_field(text, q), value=_value(text, q)
    ),
    "engine-own": lambda text, q: text.t(
        "{field}: {value}, as this framework always does it.", field=_field(text, q), value=_value(text, q)
    ),
    "model-by-name": lambda text, q: text.t(
        "“{given}” is taken for {model}.", given=str(q["given"]), model=str(q["model"])
    ),
    "model-by-shape": lambda text, q: text.t(
        "The model is described by its shape alone: {layers} layers, {hidden} wide.",
        layers=q["layers"],
        hidden=q["hidden"],
    ),
    "vocabulary-assumed": lambda text, q: text.t(
        "The vocabulary is not said; {value} tokens are taken.", value=q["value"]
    ),
    "lengths-kept": lambda text, q: text.t(
        "An engine is not told how long requests are: the present plan's prompt and answer stay."
    ),
    "format-of-checkpoint": lambda text, q: text.t(
        "The format of the weights is the checkpoint's own; the usual one of the model is taken."
    ),
    "gpus-unknown": lambda text, q: text.t("The number of GPUs is not said; the present plan's stays."),
    "batch-not-whole": lambda text, q: text.t(
        "A global batch of {global_batch} is no whole number of micro-batches of {micro} in all; it is rounded down.",
        global_batch=q["global_batch"],
        micro=q["micro"],
    ),
    "auto-left": lambda text, q: text.t(
        "Left to the trainer (“auto”): {options}. The present plan's values stay.", options=str(q["options"])
    ),
    "config-elsewhere": lambda text, q: text.t("More is said in {file}, which was not pasted.", file=str(q["file"])),
    "recompute-rounded": lambda text, q: text.t(
        "Recomputing {layers} of {of} layers is planned as the nearest whole share.", layers=q["layers"], of=q["of"]
    ),
    "recompute-uniform": lambda text, q: text.t(
        "Checkpoints every {layers} layers are planned as one at each layer.", layers=q["layers"]
    ),
    "padding-shorter": lambda text, q: text.t(
        "Batches are padded to their longest sample: sequences are planned at full length."
    ),
    "stage-as-sft": lambda text, q: text.t(
        "The stage “{stage}” is planned as supervised fine-tuning; a second model in memory is not counted.",
        stage=str(q["stage"]),
    ),
}
