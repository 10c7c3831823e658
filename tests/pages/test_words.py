"""Every stable id of the planner has words: ids are read from the planner's source, so a new one is noticed."""

import re
from pathlib import Path

import pytest

from pages.ui import labels, words
from pages.ui.text import plain, text_in
from pages.ui.words import changes, launch, notices, problems, results
from planner.plan.fields import Kind
from planner.plan.table import FIELDS
from planner.result import Bound, Notice, Problem, Status

PLANNER = Path(__file__).parents[2] / "planner"
SOURCE = "\n".join(path.read_text("utf-8") for path in sorted(PLANNER.rglob("*.py")))
EN, AR = text_in("en"), text_in("ar")


def ids(pattern: str) -> set[str]:
    found = set(re.findall(pattern, SOURCE))
    assert found, pattern
    return found


def test_every_notice_has_a_sentence() -> None:
    assert ids(r'Notice\(\s*"([a-z0-9-]+)"') - set(notices.NOTICES) - set(launch.NOTES) == set()


def test_every_problem_has_a_sentence() -> None:
    codes = ids(r'Problem\(\s*"([a-z0-9-]+)"') | ids(r'fail\(\s*"([a-z0-9-]+)"')
    assert codes - set(problems.PROBLEMS) == set()


def test_every_change_has_a_sentence() -> None:
    assert ids(r'Change\(\s*"([a-z0-9-]+)"') - set(changes.CHANGES) == set()


def test_every_memory_term_has_a_name() -> None:
    assert ids(r'id="(mem\.[a-z_.]+)"') - set(results.terms(EN)) == set()


def test_every_phase_has_words() -> None:
    assert ids(r'[Pp]hase\("([a-z]+)"') - set(results.phases(EN)) == set()


def test_every_bound_and_status_has_words() -> None:
    assert {bound.value for bound in Bound} == set(results.bounds(EN))
    assert {status.value for status in Status} == set(results.statuses(EN))


@pytest.mark.parametrize("text", [EN, AR], ids=["en", "ar"])
def test_every_input_has_a_label_that_is_not_its_id(text) -> None:
    for field in FIELDS:
        if field.kind is not Kind.CONFIG:  # these have no widget
            assert not labels.field(text, field).startswith(field.id), field.id


def test_an_id_without_words_is_shown_not_hidden() -> None:
    assert words.term(EN, "mem.unheard-of") == "mem.unheard-of"
    assert words.notice(EN, Notice("unheard-of", parameters={"size": 3})) == "unheard-of size=3"


def test_a_problem_says_what_was_wrong_and_what_would_do() -> None:
    found = Problem("out-of-range", "micro_batch_size", 0, {"low": 1, "high": 65536})
    assert words.problem(EN, found) == "Micro-batch size: 0 is outside what can be planned. Give 1 to 65,536."
    assert "حجم الدفعة المصغّرة" in words.problem(AR, found)


def test_a_problem_of_a_configuration_names_its_key() -> None:
    found = Problem("missing-key", "text_config.hidden_size", None)
    assert "text_config.hidden_size" in words.problem(EN, found)


def test_an_unknown_name_is_met_with_near_ones() -> None:
    found = Problem("unknown-gpu", "gpu", "rtx 4091", {"nearest": ("geforce-rtx-4090",)})
    assert plain(words.problem(EN, found)) == "No GPU is called “rtx 4091”. Did you mean geforce-rtx-4090?"


def test_a_change_says_its_values() -> None:
    sets = {"micro_batch_size": 1, "gradient_accumulation_steps": 4}
    assert words.change(EN, "smaller-micro-batch", sets) == "Micro-batch 1 with 4 accumulation steps"
    assert words.change(EN, "weights-awq-int4", {"weight_format": "awq-int4"}) == "Store the weights as AWQ-INT4"


def test_a_gpu_is_named_as_people_name_it() -> None:
    assert words.change(EN, "other-gpu", {"gpu": "geforce-rtx-5090"}) == "GeForce RTX 5090 instead"
