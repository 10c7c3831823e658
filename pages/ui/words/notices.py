"""Sentences for the notices of a result."""

from pages.ui.text import Text
from pages.ui.words.sentence import Sentence, listed, said
from planner.result import Notice


def notice(text: Text, found: Notice) -> str:
    """The sentence of a notice."""
    return said(NOTICES, text, found.code, found.parameters)


NOTICES: dict[str, Sentence] = {
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
