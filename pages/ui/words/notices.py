"""Sentences for the notices of a result."""

from collections.abc import Mapping
from typing import Any

from pages.ui.text import Text
from pages.ui.words.sentence import Sentence, listed, said
from planner.result import Notice


def notice(text: Text, found: Notice) -> str:
    """The sentence of a notice."""
    return said(NOTICES, text, found.code, found.parameters)


def _unchecked(text: Text, q: Mapping[str, Any]) -> str:
    names = {
        "many-gpus": text.t("more than 512 GPUs"),
        "diffusion": text.t("diffusion pipelines"),
        "method": text.t("this fine-tuning method"),
        "optimizer": text.t("this optimizer"),
        "fp8-memory": text.t("the memory of FP8 training"),
        "offload": text.t("offloading"),
        "parallel-memory": text.t("the memory of pipeline, context and expert parallel"),
        "long-sequence": text.t("sequences this long"),
        "recurrent-activations": text.t("the activations of recurrent layers"),
        "engine": text.t("the memory of this engine"),
        "image-serving": text.t("serving image networks"),
    }
    parts = text.join([names.get(part, part) for part in q["parts"]])
    return text.t("Computed, but never checked against a measurement: {parts}.", parts=parts)


NOTICES: dict[str, Sentence] = {
    "unchecked": _unchecked,
    "longer-than-trained": lambda text, q: text.t(
        "{length} tokens are more than the {positions} that the model was made for.",
        length=q["length"],
        positions=q["positions"],
    ),
    "weights-only": lambda text, q: text.t(
        "Of diffusion pipelines only the weights are counted: the activations of denoising and decoding come on top."
    ),
    "speed-unknown-diffusion": lambda text, q: text.t("Speed is not estimated for diffusion models: their memory is."),
    "speed-unknown-gpu": lambda text, q: text.t(
        "No peak arithmetic rate is published for {gpu}, so its speed is not estimated.", gpu=q["gpu"]
    ),
    "recorded-parameters": lambda text, q: text.t(
        "The configuration of this model does not give its size; the published count of {parameters} parameters "
        "is used.",
        parameters=text.count(q["parameters"]),
    ),
    "assumed-architecture": lambda text, q: text.t(
        "This model type is not known; it is read as a usual transformer. Assumed: {assumed}.",
        assumed=listed(text, q["assumed"]),
    ),
    "memory-not-reported": lambda text, q: text.t(
        "The memory that {gpu} reports was not found; its nominal size, less a usual share, is used.", gpu=q["gpu"]
    ),
    "unified-memory": lambda text, q: text.t(
        "{gpu} shares its memory with the CPU: what the system and other programs hold is not counted.", gpu=q["gpu"]
    ),
}
