"""Typed, bounded reading of a model's configuration, which is hostile until proven otherwise."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from planner.result import InputError, Problem

LARGEST = 10**8
"""No width, count or vocabulary of a real model is larger; a larger one is a mistake or an attack."""

_REQUIRED = object()


class Config:
    """A read-only view of one level of a Hugging Face style configuration.

    Each getter takes the key's names in order of preference (families name the same thing differently). A missing
    required key, a wrong type or a value out of range raises `InputError` naming the field, the value and the range.
    """

    def __init__(self, values: Mapping[str, Any], path: str = "") -> None:
        self.values = values
        self.path = path

    def _find(self, names: Sequence[str], default: Any) -> tuple[str, Any]:
        for name in names:
            if self.values.get(name) is not None:
                return f"{self.path}{name}", self.values[name]
        if default is _REQUIRED:
            raise InputError([Problem("missing-key", f"{self.path}{names[0]}", None, {"accepted": list(names)})])
        return f"{self.path}{names[0]}", default

    def integer(self, *names: str, default: Any = _REQUIRED, low: int = 1, high: int = LARGEST) -> Any:
        """A whole number in [low, high]; `default` (which may be None) where no name has a value."""
        field, value = self._find(names, default)
        if value is default:
            return value
        if isinstance(value, float) and math.isfinite(value) and value == int(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise InputError([Problem("not-an-integer", field, value, {"low": low, "high": high})])
        if not low <= value <= high:
            raise InputError([Problem("out-of-range", field, value, {"low": low, "high": high})])
        return value

    def number(self, *names: str, default: Any = _REQUIRED, low: float = 0.0, high: float = float(LARGEST)) -> Any:
        """A finite number in [low, high]."""
        field, value = self._find(names, default)
        if value is default:
            return value
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError([Problem("not-a-number", field, value, {"low": low, "high": high})])
        if not low <= value <= high:
            raise InputError([Problem("out-of-range", field, value, {"low": low, "high": high})])
        return value

    def flag(self, *names: str, default: bool = False) -> bool:
        """True or false."""
        field, value = self._find(names, default)
        if not isinstance(value, bool):
            raise InputError([Problem("not-a-flag", field, value)])
        return value

    def text(self, *names: str, default: Any = _REQUIRED) -> Any:
        """A short string."""
        field, value = self._find(names, default)
        if value is default:
            return value
        if not isinstance(value, str) or len(value) > 200:
            raise InputError([Problem("not-a-text", field, str(value)[:200])])
        return value

    def items(self, *names: str, default: Any = _REQUIRED, longest: int = 10_000) -> Any:
        """A list, as it is; its elements are unchecked."""
        field, value = self._find(names, default)
        if value is default:
            return value
        if not isinstance(value, list | tuple) or len(value) > longest:
            raise InputError([Problem("not-a-list", field, type(value).__name__, {"longest": longest})])
        return list(value)

    def integers(self, *names: str, default: Any = _REQUIRED, low: int = 0, high: int = LARGEST) -> Any:
        """A list of whole numbers in [low, high]."""
        field, _ = self._find(names, default)
        values = self.items(*names, default=default)
        if values is default:
            return values
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise InputError([Problem("out-of-range", field, value, {"low": low, "high": high})])
        return values

    def child(self, *names: str) -> "Config":
        """A nested configuration; required."""
        field, value = self._find(names, _REQUIRED)
        if not isinstance(value, Mapping):
            raise InputError([Problem("not-an-object", field, type(value).__name__)])
        return Config(value, f"{field}.")

    def has(self, *names: str) -> bool:
        """Whether any of the names has a value."""
        return any(self.values.get(name) is not None for name in names)
