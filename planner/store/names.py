"""What people write: names, tags, notes, comments. HTML is only text here; signs that deceive the eye are taken out."""

import json
import re
from collections.abc import Iterable
from typing import Any

from planner.result import InputError, Problem

LONGEST_NAME = 120
LONGEST_TAG = 40
MOST_TAGS = 20
LONGEST_NOTES = 20_000
LARGEST_CONTENT = 2 * 1024 * 1024
"""Bytes of one item's content as JSON."""

_DECEIVING = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)
"""Control characters, invisible ones, and overrides of the text direction (U+202A to U+202E, U+2066 to U+2069)."""


def clean(text: str) -> str:
    """The text without signs that control, hide or turn round what is read. Line breaks and tabs stay."""
    return _DECEIVING.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def clean_name(raw: Any, field: str = "name", limit: int = LONGEST_NAME) -> str:
    """A name on one line. Raises `InputError`: "not-a-text", "empty", "too-long"."""
    name = " ".join(_text(raw, field).split())
    if not 0 < len(name) <= limit:
        code = "too-long" if name else "empty"
        raise InputError([Problem(code, field, name[:40], {"limit": limit, "length": len(name)})])
    return name


def clean_notes(raw: Any, field: str = "notes", *, needed: bool = False) -> str:
    """Text of several lines. Raises `InputError`: "not-a-text", "too-long", "empty" where some is `needed`."""
    notes = _text(raw, field).strip()
    if len(notes) > LONGEST_NOTES:
        raise InputError([Problem("too-long", field, notes[:40], {"limit": LONGEST_NOTES, "length": len(notes)})])
    if needed and not notes:
        raise InputError([Problem("empty", field, "", {"limit": LONGEST_NOTES, "length": 0})])
    return notes


def clean_tags(raw: Iterable[Any]) -> list[str]:
    """Tags without repetition, in their order. Raises `InputError`: as names do, and "not-a-list" for too many."""
    tags = list(dict.fromkeys(clean_name(tag, "tags", LONGEST_TAG) for tag in raw))
    if len(tags) > MOST_TAGS:
        raise InputError([Problem("not-a-list", "tags", len(tags), {"longest": MOST_TAGS})])
    return tags


def checked_content(content: Any) -> dict[str, Any]:
    """Content as it is kept: a JSON object of bounded size. Raises `InputError`: "not-an-object", "too-large"."""
    if not isinstance(content, dict):
        raise InputError([Problem("not-an-object", "content", type(content).__name__)])
    try:
        text = json.dumps(content, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError([Problem("not-an-object", "content", type(content).__name__)]) from error
    if len(text) > LARGEST_CONTENT:
        raise InputError([Problem("too-large", "content", None, {"limit": LARGEST_CONTENT})])
    found: dict[str, Any] = json.loads(text)
    return found


def _text(raw: Any, field: str) -> str:
    if not isinstance(raw, str):
        raise InputError([Problem("not-a-text", field, str(raw)[:40])])
    return clean(raw)
