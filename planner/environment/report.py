"""The checks as a report to be copied, with what tells of a person or a machine taken out when asked."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from planner.environment.check import Check
from planner.environment.facts import Facts

_SECRETS = (
    (re.compile(r"(GPU|MIG)-[0-9a-f]{8}-[0-9a-f-]{27}", re.IGNORECASE), r"\1-…"),
    (re.compile(r"(?:/home|/Users)/[^/:\s\"']+|/root\b|[A-Z]:\\Users\\[^\\:\"']+"), "~"),
    (re.compile(r"(?i)(token|key|secret|password)=[^\s&:]+"), r"\1=…"),
    (re.compile(r"(?<=[/@=])\d{1,3}(?:\.\d{1,3}){3}\b"), "…"),  # an address, and no version
)


def redacted(text: str) -> str:
    """`text` without UUIDs, home folders, addresses and what looks like a secret."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def as_mapping(facts: Facts, checks: Sequence[Check], *, redact: bool = True) -> Mapping[str, Any]:
    """Everything as plain values, for JSON."""
    clean = redacted if redact else str
    return {
        "system": f"{facts.system} {facts.machine}",
        "kernel": facts.release,
        "container": facts.container,
        "wsl": facts.wsl,
        "python": clean(facts.python),
        "wheels": dict(sorted(facts.wheels.items())),
        "checks": [
            {
                "id": one.id,
                "state": one.state,
                "found": clean(one.found),
                "expected": clean(one.expected),
                "advice": one.advice,
                "how": one.how,
                "source": one.source,
            }
            for one in checks
        ],
    }


def as_text(facts: Facts, checks: Sequence[Check], *, redact: bool = True) -> str:
    """A plain table, for an issue or a message."""
    clean = redacted if redact else str
    lines = [f"{facts.system} {facts.machine}, kernel {facts.release}"]
    for one in checks:
        expected = f"  (expected: {clean(one.expected)})" if one.expected else ""
        lines.append(f"{one.state:<15}{one.id:<22}{clean(one.found)}{expected}".rstrip())
    return "\n".join(lines) + "\n"
