"""What a name stood for, and what had to be assumed to say so."""

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from planner.result import InputError, Problem

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Named(Generic[Found]):
    """What a text means, with the assumptions made: short English notes for the row's record."""

    value: Found
    assumed: tuple[str, ...] = ()


def refuse(code: str, field: str, text: str, **parameters: Any) -> InputError:
    """The error of a text that cannot be told."""
    return InputError([Problem(code, field, text[:200], parameters)])
