"""What a rule answers."""

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """A rule that lacks an input was not evaluated: that is no clean bill of health."""

    FOUND = "found"
    NOT_FOUND = "not-found"
    UNDECIDED = "undecided"
    NOT_EVALUATED = "not-evaluated"


class Confidence(StrEnum):
    """How far the evidence carries."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One figure a verdict rests on. `threshold` names the limit it was compared with."""

    metric: str
    value: float
    threshold: str = ""
    limit: float | None = None
    uuid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One rule's answer."""

    rule: str
    outcome: Outcome
    uuids: tuple[str, ...] = ()
    confidence: Confidence = Confidence.HIGH
    evidence: tuple[Evidence, ...] = ()
    seconds: float = 0.0
    missing: tuple[str, ...] = ()  # inputs that were not there
    between: tuple[str, ...] = ()  # undecided: the rules it may be
    advice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """All verdicts in the order of the rules, and the part of the trace they judge."""

    verdicts: tuple[Verdict, ...]
    start: float
    end: float
    readings: int

    def with_outcome(self, *outcomes: Outcome) -> tuple[Verdict, ...]:
        """The verdicts of these outcomes."""
        return tuple(verdict for verdict in self.verdicts if verdict.outcome in outcomes)

    @property
    def main(self) -> Verdict | None:
        """The first thing that was found: health before throttling before the rest."""
        found = self.with_outcome(Outcome.FOUND, Outcome.UNDECIDED)
        return found[0] if found else None
