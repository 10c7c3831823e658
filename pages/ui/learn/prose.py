"""The words of a lesson: one Markdown file a language, in parts, with named places for numbers.

A file starts with `# Title` and a lead; then each `## kind` or `## kind: Heading` opens a part, in reading order.
Kinds: text, figure, formula, task, hint, answer, wrong. Text in braces is a number that the planner computes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "assets" / "lessons"
KINDS = ("text", "figure", "formula", "task", "hint", "answer", "wrong")

_PART = re.compile(r"^## (\w+)(?:: *(.+))?$", re.MULTILINE)
_PLACE = re.compile(r"{(\w+)}")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a lesson that a presenter reveals at once."""

    kind: str
    heading: str
    body: str

    def filled(self, numbers: Mapping[str, str]) -> str:
        """The words with their numbers."""
        return fill(self.body, numbers)


@dataclass(frozen=True, slots=True)
class Prose:
    """A lesson's words in one language."""

    title: str
    lead: str
    parts: tuple[Part, ...]

    def of(self, kind: str) -> tuple[Part, ...]:
        """The parts of one kind."""
        return tuple(part for part in self.parts if part.kind == kind)

    @property
    def places(self) -> frozenset[str]:
        """Names of all numbers that the words ask for."""
        return frozenset(_PLACE.findall(" ".join([self.lead, *(part.body for part in self.parts)])))


def fill(words: str, numbers: Mapping[str, str]) -> str:
    """`words` with each {name} replaced by its number."""
    return _PLACE.sub(lambda place: numbers[place[1]], words)


@lru_cache(maxsize=64)
def prose(language: str, lesson_id: str) -> Prose:
    """The words of a lesson."""
    source = (FOLDER / language / f"{lesson_id}.md").read_text("utf-8")
    head, *rest = _PART.split(source)
    title, _, lead = head.strip().partition("\n")
    parts = [
        Part(kind, (heading or "").strip(), body.strip())
        for kind, heading, body in zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    ]
    unknown = {part.kind for part in parts} - set(KINDS)
    if unknown:
        raise ValueError(f"{language}/{lesson_id}.md has parts of unknown kinds: {sorted(unknown)}")
    return Prose(title.removeprefix("#").strip(), lead.strip(), tuple(parts))
