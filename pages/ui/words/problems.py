"""Sentences for the problems of an input: what was wrong, and what would do."""

import re
from collections.abc import Mapping
from typing import Any

from pages.ui import labels
from pages.ui.text import Text
from pages.ui.words.file_problems import FILE_PROBLEMS
from pages.ui.words.sentence import Sentence, listed, said
from planner.plan.table import BY_ID
from planner.result import Problem


def problem(text: Text, found: Problem) -> str:
    """The sentence of a problem."""
    known = BY_ID.get(found.field)
    name = labels.field(text, known) if known else text.isolate(found.field)
    value = _visible(found.value) if isinstance(found.value, str) else found.value
    return said(PROBLEMS, text, found.code, {"field": name, "value": value, **found.parameters})


_INVISIBLE = re.compile("[\u0000-\u001f\u200b-\u200f\u202a-\u202e\u2060-\u206f]")


def _visible(value: str) -> str:
    """What the user gave, short, and without characters that would turn the sentence around it."""
    plain = _INVISIBLE.sub("", value)
    return plain if len(plain) <= 80 else f"{plain[:79]}…"


def _nearest(text: Text, q: Mapping[str, Any]) -> str:
    if not q.get("nearest"):
        return ""
    return " " + text.t("Did you mean {names}?", names=listed(text, q["nearest"], 3))


PROBLEMS: dict[str, Sentence] = {
    **FILE_PROBLEMS,
    "empty": lambda text, q: text.t("{field}: nothing was given.", field=q["field"]),
    "not-solvable": lambda text, q: text.t("{field}: no largest value can be found for this input.", field=q["field"]),
    "too-long": lambda text, q: text.t(
        "{field}: {length} characters are too many for a name; at most {limit}.",
        field=q["field"],
        length=q["length"],
        limit=q["limit"],
    ),
    "format-not-in-engine": lambda text, q: text.t(
        "{field}: {engine} does not read “{value}”. It reads {choices}.",
        field=q["field"],
        engine=str(q["engine"]),
        value=str(q["value"]),
        choices=listed(text, q["choices"]),
    ),
    "longer-than-limit": lambda text, q: text.t(
        "{field}: {value} tokens are less than the {asked} of input and output together.",
        field=q["field"],
        value=q["value"],
        asked=q["asked"],
    ),
    "not-a-choice": lambda text, q: text.t(
        "{field}: “{value}” is not one of the choices. Choose {choices}.",
        field=q["field"],
        value=str(q["value"]),
        choices=listed(text, q.get("choices", ())),
    ),
    "not-an-integer": lambda text, q: text.t(
        "{field}: “{value}” is not a whole number from {low} to {high}.",
        field=q["field"],
        value=str(q["value"]),
        low=q["low"],
        high=q["high"],
    ),
    "not-a-number": lambda text, q: text.t(
        "{field}: “{value}” is not a number from {low} to {high}.",
        field=q["field"],
        value=str(q["value"]),
        low=q["low"],
        high=q["high"],
    ),
    "out-of-range": lambda text, q: text.t(
        "{field}: {value} is outside what can be planned. Give {low} to {high}.",
        field=q["field"],
        value=q["value"],
        low=q["low"],
        high=q["high"],
    ),
    "not-a-flag": lambda text, q: text.t(
        "{field}: “{value}” is neither true nor false.", field=q["field"], value=str(q["value"])
    ),
    "not-a-text": lambda text, q: text.t("{field}: this is not text.", field=q["field"]),
    "not-a-list": lambda text, q: text.t(
        "{field}: a list of at most {longest} entries is needed.", field=q["field"], longest=q["longest"]
    ),
    "not-an-object": lambda text, q: text.t("{field}: a JSON object in braces is needed.", field=q["field"]),
    "not-a-packed-config": lambda text, q: text.t(
        "{field}: the link's configuration is damaged. Copy the whole link again.", field=q["field"]
    ),
    "too-large": lambda text, q: text.t(
        "{field}: more than {limit} characters. Give only the config.json.", field=q["field"], limit=q["limit"]
    ),
    "missing-gpu-config": lambda text, q: text.t(
        "Describe the GPU on the Hardware page, or choose one of the catalogue."
    ),
    "missing-config": lambda text, q: text.t("Paste the model's config.json, or choose a model of the catalogue."),
    "missing-key": lambda text, q: text.t(
        "The configuration lacks {field}. It is needed to know the model's size.", field=q["field"]
    ),
    "wrong-length": lambda text, q: text.t(
        "{field}: {value} entries, where the configuration asks for {low}.",
        field=q["field"],
        value=q["value"],
        low=q["low"],
    ),
    "length-mismatch": lambda text, q: text.t(
        "{field}: its length differs from that of the lists beside it.", field=q["field"]
    ),
    "impossible-config": lambda text, q: text.t(
        "The configuration contradicts itself: {reason}.", reason=str(q["reason"])
    ),
    "unknown-tower": lambda text, q: text.t(
        "The vision or audio part “{value}” is not known. Known: {accepted}.",
        value=str(q["value"]),
        accepted=listed(text, q["accepted"]),
    ),
    "unknown-model": lambda text, q: text.t("No model is called “{value}”.", value=str(q["value"])) + _nearest(text, q),
    "unknown-gpu": lambda text, q: text.t("No GPU is called “{value}”.", value=str(q["value"])) + _nearest(text, q),
    "ambiguous-gpu": lambda text, q: (
        text.t("Several GPUs are called “{value}”.", value=str(q["value"])) + _nearest(text, q)
    ),
    "unknown-layer": lambda text, q: text.t(
        "{field}: layers of the kind “{value}” are not known.", field=q["field"], value=str(q["value"])
    ),
    "unknown-cpu": lambda text, q: text.t("No CPU is called “{value}”.", value=str(q["value"])),
    "unknown-link": lambda text, q: text.t(
        "No network is called “{value}”. Known: {known}.", value=str(q["value"]), known=listed(text, q["known"])
    ),
    "unknown-field": lambda text, q: text.t("No input is called “{field}”; it was left out.", field=q["field"]),
    "unknown-schema": lambda text, q: text.t(
        "This plan was made by a version that is not known here ({value}); the defaults are shown.",
        value=str(q["value"]),
    ),
    "unknown-grid": lambda text, q: (
        text.t("No electricity grid is called “{value}”.", value=str(q["value"])) + _nearest(text, q)
    ),
    "missing-value": lambda text, q: text.t("{field} is needed.", field=q["field"]),
    "not-owned-cards": lambda text, q: text.t("“{value}” is not of the form GPU:number:price.", value=str(q["value"])),
    "unknown-peak": lambda text, q: text.t(
        "“{value}” has no arithmetic in {dtype}. It has {known}.",
        value=str(q["value"]),
        dtype=str(q["dtype"]),
        known=listed(text, q["known"]),
    ),
    "unknown-bandwidth": lambda text, q: text.t(
        "The memory bandwidth of “{value}” is not known.", value=str(q["value"])
    ),
    "no-nvlink": lambda text, q: text.t("“{gpu}” has no NVLink. Choose PCIe.", gpu=str(q["gpu"])),
    "precision-not-on-gpu": lambda text, q: text.t(
        "{gpu} has no arithmetic in {dtype}. Choose another precision or GPU.", gpu=q["gpu"], dtype=str(q["dtype"])
    ),
    "gpus-not-a-multiple": lambda text, q: text.t(
        "{gpus} GPUs cannot be divided into groups of {product} (tensor × pipeline × context parallel).",
        gpus=q["gpus"],
        product=q["product"],
    ),
    "not-divisible-model": lambda text, q: text.t("This model has no layers that tensor parallel could divide. Set 1."),
    "not-dividing-heads": lambda text, q: text.t(
        "Tensor parallel {value} does not divide the model's {heads} attention heads. Possible: {allowed}.",
        value=q["value"],
        heads=q["heads"],
        allowed=listed(text, q["allowed"], 12),
    ),
    "not-dividing-kv-heads": lambda text, q: text.t(
        "Tensor parallel {value} neither divides nor is a multiple of the model's {kv_heads} key-value heads.",
        value=q["value"],
        kv_heads=q["kv_heads"],
    ),
    "more-stages-than-layers": lambda text, q: text.t(
        "{value} pipeline stages of {chunks} chunks need more layers than the model's {layers}.",
        value=q["value"],
        chunks=q["chunks"],
        layers=q["layers"],
    ),
    "heads-not-shared": lambda text, q: text.t(
        "{field}: {value} key/value heads cannot be shared evenly by {heads} attention heads.",
        field=q["field"],
        value=q["value"],
        heads=q["heads"],
    ),
    "not-dividing-experts": lambda text, q: text.t(
        "Expert parallel {value} does not divide the model's {experts} experts.", value=q["value"], experts=q["experts"]
    ),
    "not-dividing-group": lambda text, q: text.t(
        "Expert parallel {value} does not divide the {group} GPUs that share the experts.",
        value=q["value"],
        group=q["group"],
    ),
    "not-dividing-sequence": lambda text, q: text.t(
        "A sequence of {sequence_length} tokens cannot be cut into twice {value} equal pieces for context parallel.",
        sequence_length=q["sequence_length"],
        value=q["value"],
    ),
    "not-dividing-ranks": lambda text, q: text.t(
        "A sharding group of {value} does not divide the {ranks} data-parallel GPUs.",
        value=q["value"],
        ranks=q["ranks"],
    ),
    "longer-than-positions": lambda text, q: text.t(
        "{field}: {value} tokens, but the model has only {positions} positions.",
        field=q["field"],
        value=q["value"],
        positions=q["positions"],
    ),
    "diffusion-serve-only": lambda text, q: text.t("Diffusion pipelines can be planned for serving only."),
    "method-needs-layers": lambda text, q: text.t(
        "This image model is known by its totals only; choose to train all its parameters."
    ),
    "unknown-framework": lambda text, q: text.t(
        "“{value}” is not known. Known: {known}.", value=str(q["value"]), known=listed(text, q["known"], 20)
    ),
    "framework-not-for-plan": lambda text, q: text.t(
        "{value} cannot run this plan. Able: {able}.", value=str(q["value"]), able=listed(text, q["able"], 20)
    ),
    "text-too-long": lambda text, q: text.t("This text is too long or too large to read. Paste only what matters."),
    "too-deep": lambda text, q: text.t(
        "{field}: nested more than {limit} levels deep.", field=q["field"], limit=q["limit"]
    ),
    "not-json": lambda text, q: text.t(
        "This is not valid JSON: line {line}, column {column}.", line=q["line"], column=q["column"]
    ),
    "not-utf8": lambda text, q: text.t("{field}: this is not UTF-8 text.", field=q["field"]),
    "duplicate-key": lambda text, q: text.t("“{value}” is there twice. Keep one.", value=str(q["value"])),
    "non-finite-number": lambda text, q: text.t("“{value}” is not a finite number.", value=str(q["value"])),
    "nothing-pasted": lambda text, q: text.t("There is no text. Paste something."),
    "not-recognised": lambda text, q: text.t(
        "No framework's options are recognised in this text. Known: {known}.", known=listed(text, q["known"], 20)
    ),
    "not-yaml": lambda text, q: text.t("This is not valid YAML: {reason}.", reason=str(q["reason"])),
    "not-toml": lambda text, q: text.t("This is not valid TOML: {reason}.", reason=str(q["reason"])),
    "not-python": lambda text, q: text.t("This is not valid Python: {reason}.", reason=str(q["reason"])),
    "not-a-notebook": lambda text, q: text.t("This is not a Jupyter notebook: {reason}.", reason=str(q["reason"])),
    "not-a-command": lambda text, q: text.t("This is not a valid command line: {reason}.", reason=str(q["reason"])),
    "not-a-configuration": lambda text, q: text.t("There are no options in this text."),
    "no-memory-in-log": lambda text, q: text.t(
        "This text says nothing about GPU memory. Paste the whole error, or the engine's log from its start."
    ),
    "nothing-fits": lambda text, q: text.t(
        "The plan does not fit on any number of these GPUs up to {count}. Choose a larger GPU.", count=q["value"]
    ),
    "unknown-speed": lambda text, q: text.t(
        "The speed of “{value}” is not known, so its GPU-hours cannot be told.", value=str(q["value"])
    ),
    "cannot-read-file": lambda text, q: text.t("The file could not be read: {reason}.", reason=str(q["reason"])),
}
