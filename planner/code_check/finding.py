"""What the check answers: findings with stable ids, each with its place, its weight and its repair."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """How much it usually costs: high (often a third of the speed, or a wrong result), medium, low."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One rule's finding. `lines` are all places, `line` the first; `code` is the text found there.

    `fix` is a short sample of the repaired code. `sets` are fields of a plan that say the repair, `was` the same
    fields as the script has them: both empty where a plan does not know of it.
    """

    id: str
    severity: Severity
    line: int
    lines: tuple[int, ...]
    code: str
    fix: str
    sets: Mapping[str, Any] = field(default_factory=dict)
    was: Mapping[str, Any] = field(default_factory=dict)
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """Findings, those that cost most first; the frameworks seen; and the code itself, for showing it."""

    findings: tuple[Finding, ...]
    frameworks: tuple[str, ...]
    text: str
    loops: int
    """Training loops (or steps that a framework calls) that were found."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule and the node where it was met."""

    id: str
    node: ast.AST


Hits = Iterator[Hit]
