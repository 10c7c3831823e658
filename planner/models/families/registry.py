"""Which function builds which `model_type`. A family file declares its own; nothing else needs an edit."""

from collections.abc import Callable

from planner.models.config import Config
from planner.models.spec import ModelSpec

Builder = Callable[[Config], ModelSpec]

BUILDERS: dict[str, Builder] = {}
"""Builders by model_type; filled when the family modules are imported and never changed afterwards."""


def family(*model_types: str) -> Callable[[Builder], Builder]:
    """Declare that the decorated function turns configurations of these `model_type`s into a `ModelSpec`."""

    def register(builder: Builder) -> Builder:
        for model_type in model_types:
            if BUILDERS.setdefault(model_type, builder) is not builder:
                raise ValueError(f"two families claim {model_type!r}")
        return builder

    return register
