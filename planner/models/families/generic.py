"""An unknown architecture with the familiar keys: built as a Llama-like decoder, and what was assumed is told."""

from planner.models.config import Config
from planner.models.spec import ModelSpec
from planner.result import InputError, Problem


def build_assumed(config: Config) -> ModelSpec:
    """A Llama-like decoder."""
    raise InputError([Problem("missing-key", f"{config.path}hidden_size", None)])
