"""Names of what lessons have beyond the plan: their own controls and options."""

from functools import lru_cache
from typing import Any

from pages.ui.text import Text
from planner.teaching.answers import Unit, Verdict


def control(text: Text, control_id: str) -> str:
    """The name of a lesson's own control."""
    return _controls(text)[control_id]


def option(text: Text, control_id: str, value: Any) -> str:
    """The name of an option of a lesson's own control."""
    return _options(text).get((control_id, value), str(value))


@lru_cache
def _controls(text: Text) -> dict[str, str]:
    return {}


@lru_cache
def _options(text: Text) -> dict[tuple[str, Any], str]:
    return {}


def heading(text: Text, kind: str) -> str:
    """The heading of a part that has none of its own."""
    return {
        "figure": text.t("See it"),
        "formula": text.t("How it is computed"),
        "task": text.t("Try it"),
        "answer": text.t("The answer"),
        "wrong": text.t("Where this goes wrong"),
    }.get(kind, "")


def unit(text: Text, one: Unit) -> str:
    """What an answer counts, as the label of its field says it."""
    return {
        Unit.BYTES: text.isolate("GiB"),
        Unit.SECONDS: text.p("unit", "s"),
        Unit.PERCENT: "%",
        Unit.COUNT: text.p("unit", "a number"),
    }[one]


def verdict(text: Text, one: Verdict) -> str:
    """What a learner hears about an answer."""
    return {
        Verdict.RIGHT: text.t("Right."),
        Verdict.CLOSE: text.t("Close, but not close enough. What is still missing, or counted twice?"),
        Verdict.UNIT: text.t("The digits are right, the unit is not: look at GB against GiB, bits against bytes."),
        Verdict.HIGH: text.t("Too high."),
        Verdict.LOW: text.t("Too low."),
        Verdict.UNREADABLE: text.t("Please type a number, with its unit if you like."),
    }[one]
