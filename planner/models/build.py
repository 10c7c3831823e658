"""Configuration -> `ModelSpec`, whatever the family."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from planner.models.config import Config
from planner.models.spec import ModelSpec
from planner.result import InputError, Problem


def build(values: Mapping[str, Any], *, id: str = "", name: str = "") -> ModelSpec:
    """The model that a Hugging Face style configuration describes.

    An unknown `model_type` with a familiar set of keys is built as a Llama-like decoder, and says so in `assumed`.
    Raises `InputError` with the missing or wrong keys named.
    """
    from planner.models.families import generic  # importing the package registers every family
    from planner.models.families.registry import BUILDERS

    config = Config(values)
    model_type = config.text("model_type", default="")
    builder = BUILDERS.get(model_type, generic.build_assumed)
    try:
        spec = builder(config)
    except (ZeroDivisionError, OverflowError, IndexError, TypeError) as error:  # right types, but no model
        raise InputError([Problem("impossible-config", "model_type", model_type, {"reason": str(error)})]) from error
    return dataclasses.replace(spec, id=id or spec.id, name=name or id or spec.name, config=dict(values))
