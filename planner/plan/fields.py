"""What an input of a plan is. The inputs themselves are the table in `planner.plan.table`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Values = Mapping[str, Any]
"""A complete set of a plan's values by field id, "spec" (the ModelSpec) and "card" (the Gpu) included."""


class Kind(StrEnum):
    """What a field holds."""

    INTEGER = "integer"
    NUMBER = "number"
    CHOICE = "choice"
    FLAG = "flag"
    MODEL = "model"  # a catalogue id, transformer-<N>b, or custom (then model_config holds the configuration)
    CONFIG = "config"  # a configuration, as an object
    GPU = "gpu"  # an id of planner.hardware.catalogue, or custom (then gpu_config holds its figures)
    CPU = "cpu"


class Section(StrEnum):
    """Where a field stands in a form. BASIC is always in view."""

    BASIC = "basic"
    METHOD = "method"
    PRECISION = "precision"
    EXECUTION = "execution"
    PARALLEL = "parallel"
    MACHINE = "machine"
    INPUT = "input"
    ENGINE = "engine"
    GOAL = "goal"


TRAINING = ("train", "finetune")
SERVING = ("serve",)
ALL = (*TRAINING, *SERVING)


def always(_: Values) -> bool:
    """A field that applies to every plan of its tasks."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One input. `default` may depend on the fields above it in the table."""

    id: str
    kind: Kind
    section: Section
    default: Any | Callable[[Values], Any]
    tasks: tuple[str, ...] = ALL
    low: float = 0
    high: float = 0
    choices: tuple[str, ...] = ()
    unit: str = ""
    applies: Callable[[Values], bool] = always

    def default_for(self, values: Values) -> Any:
        return self.default(values) if callable(self.default) else self.default

    def used_in(self, values: Values) -> bool:
        return values["task"] in self.tasks and self.applies(values)
