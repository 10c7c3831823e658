"""Errors by domain and quantity, coverage of the intervals, and whether "fits" was right."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from planner.validation.run import Outcome


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of sorted values lie: linear between neighbours."""
    place = share * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Errors of one quantity in one domain, in percent of what was measured."""

    domain: str
    quantity: str
    n: int
    median_abs_pct: float
    p90_abs_pct: float
    bias_pct: float  # median signed error
    coverage_90: float  # share of measurements inside the interval


Point = tuple[float, bool]
"""What is kept of a comparison: its relative error, and whether the interval held it. Tables may be very long."""


def group_of(domain: str, quantity: str, found: Sequence[Point]) -> Group:
    """Statistics of a group's comparisons; at least one."""
    sizes = sorted(abs(error) * 100 for error, _ in found)
    signed = sorted(error * 100 for error, _ in found)
    return Group(
        domain=domain,
        quantity=quantity,
        n=len(found),
        median_abs_pct=percentile(sizes, 0.5),
        p90_abs_pct=percentile(sizes, 0.9),
        bias_pct=percentile(signed, 0.5),
        coverage_90=sum(covered for _, covered in found) / len(found),
    )


@dataclass(slots=True)
class Verdicts:
    """Runs whose outcome is known, against "fits"."""

    n: int = 0
    correct: int = 0
    false_fits: int = 0  # said to fit, ran out of memory
    false_no_fits: int = 0  # said not to fit, ran

    def add(self, fits: bool, ran: bool) -> None:
        self.n += 1
        self.correct += fits == ran
        self.false_fits += fits and not ran
        self.false_no_fits += ran and not fits


@dataclass(slots=True)
class Summary:
    """Everything that a validation prints."""

    rows: int = 0
    predicted: int = 0
    unsupported: Counter[str] = field(default_factory=Counter)
    supported_by_quality: dict[str, tuple[int, int]] = field(default_factory=dict)  # predicted, rows
    comparisons: dict[tuple[str, str], list[Point]] = field(default_factory=lambda: defaultdict(list))
    verdicts: Verdicts = field(default_factory=Verdicts)

    def add(self, outcome: Outcome) -> None:
        """Count one row."""
        self.rows += 1
        done = outcome.skipped is None
        self.predicted += done
        had, of = self.supported_by_quality.get(outcome.quality, (0, 0))
        self.supported_by_quality[outcome.quality] = (had + done, of + 1)
        if outcome.skipped is not None:
            self.unsupported[outcome.skipped.reason] += 1
        for each in outcome.comparisons:
            self.comparisons[each.case.domain, each.quantity.value].append((each.error, each.covered))
        if outcome.case is not None and outcome.case.ran is not None and outcome.fits is not None:
            self.verdicts.add(outcome.fits, outcome.case.ran)

    @property
    def groups(self) -> list[Group]:
        return [group_of(*key, found) for key, found in sorted(self.comparisons.items())]

    def as_json(self) -> dict[str, Any]:
        """The summary as plain values."""
        return {
            "rows": self.rows,
            "predicted": self.predicted,
            "unsupported": dict(self.unsupported.most_common()),
            "groups": [
                {
                    "domain": g.domain,
                    "quantity": g.quantity,
                    "n": g.n,
                    "median_abs_pct": round(g.median_abs_pct, 2),
                    "p90_abs_pct": round(g.p90_abs_pct, 2),
                    "bias_pct": round(g.bias_pct, 2),
                    "coverage_90": round(g.coverage_90, 3),
                }
                for g in self.groups
            ],
            "verdicts": {
                "n": self.verdicts.n,
                "correct": self.verdicts.correct,
                "false_fits": self.verdicts.false_fits,
                "false_no_fits": self.verdicts.false_no_fits,
            },
        }


def summarise(found: Iterable[Outcome]) -> Summary:
    """The summary of outcomes."""
    summary = Summary()
    for outcome in found:
        summary.add(outcome)
    return summary
