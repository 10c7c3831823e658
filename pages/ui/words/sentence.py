"""A sentence for a code: how the tables of notices, problems and changes are looked up."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pages.ui.text import Text

Sentence = Callable[[Text, Mapping[str, Any]], str]
"""From the reader's language and a code's parameters to a sentence."""


def said(table: Mapping[str, Sentence], text: Text, code: str, parameters: Mapping[str, Any]) -> str:
    """The sentence of a code; a code without one is shown with its parameters."""
    sentence = table.get(code)
    if sentence is None:
        return " ".join([code, *(f"{name}={value}" for name, value in parameters.items())])
    return sentence(text, parameters)


def listed(text: Text, values: Iterable[Any], limit: int = 8) -> str:
    """The first `limit` of some values, for a sentence."""
    shown = [text.isolate(str(value)) for value in values]
    return text.join([*shown[:limit], *(["…"] if len(shown) > limit else [])])
