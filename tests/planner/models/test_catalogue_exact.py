"""Every catalogue model's count, computed from its configuration, against the reference."""

from functools import lru_cache

import pytest

from planner.models.catalogue import TOLERANCE, entries, specify
from planner.models.exactness import Check, checks


@lru_cache(maxsize=1)
def _checks() -> tuple[Check, ...]:
    return checks()


def _built() -> list[Check]:
    return [check for check in _checks() if check.entry.parameters_from == "transformers"]


def test_every_configuration_builds():
    assert [(check.entry.id, check.problem) for check in _checks() if check.computed is None] == []


def test_every_count_is_exact():
    misses = [(check.entry.id, f"{check.difference:.4%}") for check in _built() if not check.exact]
    assert len(_built()) == 445
    assert misses == []


def test_counts_derived_by_hand_or_published_agree_too():
    others = [check for check in _checks() if check.entry.parameters_from != "transformers"]
    misses = [(check.entry.id, f"{check.difference:.4%}") for check in others if abs(check.difference) > 0.001]
    assert len(others) == 21
    assert misses == []


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.id)
def test_counts_shown_are_within_two_percent(entry):
    assert specify(entry).total_parameters == pytest.approx(entry.parameters, rel=TOLERANCE)


def test_active_counts():
    misses = [
        (check.entry.id, f"{check.active_difference:.3%}") for check in _built() if abs(check.active_difference) > 0.005
    ]
    assert misses == []
