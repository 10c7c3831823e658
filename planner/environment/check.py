"""What a check answers."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from planner.environment.facts import Facts


class State(StrEnum):
    """How a check stands. No NVIDIA hardware is not applicable, not a problem."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"
    NOT_APPLICABLE = "not-applicable"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One answer. `advice` is the id of what to do; `how` says what was looked at."""

    id: str
    state: State
    found: str = ""
    expected: str = ""
    advice: str = ""
    how: str = ""
    source: str = ""


Rule = Callable[[Facts], Check]
"""A check: from the facts to its answer."""


def has_hardware(facts: Facts) -> bool:
    """Whether there is any sign of an NVIDIA GPU."""
    return bool(facts.gpus or facts.nvidia_devices or facts.nvidia_nodes or facts.driver)


def maker(id: str, how: str) -> Callable[..., Check]:
    """Makes the answers of one check, from its state and what was found."""

    def make(state: State, found: str = "", expected: str = "", advice: str = "", source: str = "") -> Check:
        return Check(id=id, state=state, found=str(found), expected=expected, advice=advice, how=how, source=source)

    return make
