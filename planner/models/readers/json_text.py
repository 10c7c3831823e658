"""JSON from strangers: bounded in size, depth and number of values before it is parsed."""

import json
import math
import re
from itertools import accumulate
from typing import Any, NoReturn

from planner.result import InputError, Problem

MIB = 2**20

_NOT_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[^\][{},"]+', re.DOTALL)
"""Strings, an unclosed last one too, and all that is neither string, bracket nor comma. Never backtracks."""

_STEP = {"[": 1, "{": 1, "]": -1, "}": -1, ",": 0}


def fail(code: str, value: Any = None, *, field: str = "file", **parameters: Any) -> NoReturn:
    """Raise the one problem found with an uploaded file."""
    raise InputError([Problem(code, field, value, parameters)])


def _decode(data: bytes | str, limit: int) -> str:
    if len(data) > limit:
        fail("too-large", len(data), limit=limit)
    try:
        if isinstance(data, str):
            data.encode()  # refuses lone surrogates
            return data.removeprefix("\ufeff")
        return data.decode("utf-8-sig")
    except UnicodeError as error:
        fail("not-utf8", None, reason=str(error)[:100])


def _check_structure(text: str, depth: int, most: int) -> None:
    """Depth of nesting and number of values, from the brackets and commas outside strings."""
    structure = _NOT_STRUCTURE.sub("", text)
    if len(structure) > most:
        fail("too-large", len(structure), limit=most)
    deepest = max(accumulate(map(_STEP.__getitem__, structure)), default=0)
    if deepest > depth:
        fail("too-deep", deepest, limit=depth)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        fail("duplicate-key", next(name for name in found if names.count(name) > 1)[:200])
    return found


def _integer(digits: str) -> int:
    if len(digits) > 300:  # beyond what a float holds; nothing counted has as many digits
        fail("non-finite-number", digits[:20])
    return int(digits)


def parse_json(
    data: bytes | str, *, limit: int = 2 * MIB, depth: int = 32, most: int = 4_000_000, infinite: bool = False
) -> dict[str, Any]:
    """The JSON object in `data`: at most `limit` bytes, `depth` levels and `most` brackets and commas.

    Keys may not repeat. NaN and infinities are refused, or, where `infinite`, read as None (some published
    configurations hold an Infinity). Raises `InputError`: too-large, not-utf8, too-deep, not-json (with line and
    column), duplicate-key, non-finite-number, not-an-object.
    """
    text = _decode(data, limit)
    _check_structure(text, depth, most)

    def constant(name: str) -> None:
        if not infinite:
            fail("non-finite-number", name)

    def number(digits: str) -> float | None:
        value = float(digits)
        return value if math.isfinite(value) else constant(digits[:20])  # type: ignore[func-returns-value]

    try:
        value = json.loads(
            text, parse_constant=constant, parse_float=number, parse_int=_integer, object_pairs_hook=_unique
        )
    except json.JSONDecodeError as error:
        fail("not-json", error.msg, line=error.lineno, column=error.colno)
    except RecursionError:
        fail("too-deep", None, limit=depth)
    if not isinstance(value, dict):
        fail("not-an-object", type(value).__name__)
    if "\\u" in text:
        _refuse_surrogates(value)
    return value


def _refuse_surrogates(value: dict[str, Any]) -> None:
    """Escapes can spell half a character, which no file or page can be written with."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeError as error:
        fail("not-utf8", None, reason=str(error)[:100])
