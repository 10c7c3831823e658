"""Every input, choice and section has words in both languages."""

import pytest

import planner.estimate  # noqa: F401  declares every formula
from pages.ui import labels, words
from pages.ui.text import text_in
from planner.plan.fields import Kind, Section
from planner.plan.table import FIELDS
from planner.result import FORMULAS


@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_field_has_a_label(language: str) -> None:
    text = text_in(language)
    missing = [field.id for field in FIELDS if field.kind is not Kind.CONFIG and labels.field(text, field) == field.id]
    assert missing == []


def test_labels_differ_between_languages() -> None:
    english, arabic = text_in("en"), text_in("ar")
    names = [field for field in FIELDS if field.kind is not Kind.CONFIG and field.id != "compiled"]
    same = [field.id for field in names if labels.field(english, field) == labels.field(arabic, field)]
    assert same == []


@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_section_has_a_heading(language: str) -> None:
    assert all(labels.section(text_in(language), section) for section in Section)


@pytest.mark.parametrize("language", ["en", "ar"])
def test_choices_of_plain_words_have_names(language: str) -> None:
    """Ids with a hyphen or a word in them are ours; formats such as bf16 are their own names."""
    text = text_in(language)
    own = ("task", "method", "optimizer", "recompute", "attention", "loss", "sharding", "schedule", "engine", "link")
    missing = [
        (field.id, choice)
        for field in FIELDS
        if field.id in own
        for choice in field.choices
        if labels.choice(text, field.id, choice) == choice and choice not in ("llama.cpp",)
    ]
    assert missing == []


@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_formula_has_a_name(language: str) -> None:
    text = text_in(language)
    assert [id for id in FORMULAS if words.term(text, id) == id] == []
