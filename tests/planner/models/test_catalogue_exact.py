"""Every catalogue model's count, computed from its configuration, against the reference."""

from functools import lru_cache

import pytest

from planner.models.catalogue import TOLERANCE, entries, specify
from planner.models.exactness import Check, checks
from planner.models.spec import ModelTask


@lru_cache(maxsize=1)
def _checks() -> tuple[Check, ...]:
    return checks()


def _built() -> list[Check]:
    return [check for check in _checks() if check.entry.parameters_from == "transformers"]


def test_every_configuration_builds():
    assert [(check.entry.id, check.problem) for check in _checks() if check.computed is None] == []


def test_most_counts_are_exact():
    misses = [(check.entry.id, f"{check.difference:.4%}") for check in _built() if not check.exact]
    assert len(_built()) == 445
    assert len(_built()) - len(misses) >= 390, misses


def test_nearly_every_language_model_is_exact():
    misses = [c.entry.id for c in _built() if c.entry.task is ModelTask.CAUSAL_LM and not c.exact]
    assert len(misses) <= 10, misses


def test_counts_derived_by_hand_agree_too():
    derived = [check for check in _checks() if check.entry.parameters_from == "formula"]
    misses = [(check.entry.id, f"{check.difference:.4%}") for check in derived if abs(check.difference) > TOLERANCE]
    assert len(derived) == 19
    assert len(misses) <= 3, misses


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.id)
def test_counts_shown_are_within_two_percent(entry):
    assert specify(entry).total_parameters == pytest.approx(entry.parameters, rel=TOLERANCE)


def test_active_counts():
    misses = [
        (check.entry.id, f"{check.active_difference:.3%}") for check in _built() if abs(check.active_difference) > 0.005
    ]
    assert misses == []
