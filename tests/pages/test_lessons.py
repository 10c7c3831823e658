"""The lessons' words, numbers, figures and hand-outs, in both languages, without a browser."""

import logging
import re

import pytest

from pages.ui import pdf as paper
from pages.ui.learn import glossary, handout, pdf, state
from pages.ui.learn.lesson import Chart
from pages.ui.learn.lessons import LESSONS
from pages.ui.learn.prose import FOLDER, prose
from pages.ui.text import LANGUAGES, plain, text_in
from planner.teaching.answers import Verdict, judge

# Digits that are part of a name ("fp32", "GPT-2", "8-bit"), not a number that could be wrong.
NAME = re.compile(r"[A-Za-zµ][\w.+-]*\d[\w.+-]*|\b\d+-bit\b|\b\d+ بت\b")
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
each_language = pytest.mark.parametrize("language", LANGUAGES)


@each_lesson
@each_language
def test_a_lesson_is_whole(lesson, language):
    words = prose(language, lesson.id)
    assert words.title
    assert words.lead
    for kind, least in {"text": 2, "figure": 1, "formula": 1, "task": 1, "hint": 1, "answer": 1, "wrong": 1}.items():
        assert len(words.of(kind)) >= least, kind
    assert all(part.heading for part in words.of("text"))
    assert lesson.case.url.startswith("https://")


@each_lesson
def test_both_languages_use_the_same_numbers_and_all_of_them(lesson):
    english, arabic = (prose(language, lesson.id) for language in LANGUAGES)
    assert english.places == arabic.places
    assert english.places == set(lesson.numbers(text_in("en")))
    assert [part.kind for part in english.parts] == [part.kind for part in arabic.parts]


@each_lesson
@each_language
def test_every_number_is_computed(lesson, language):
    words = (FOLDER / language / f"{lesson.id}.md").read_text("utf-8")
    words = re.sub(r"{\w+}", "", re.sub(r"^## \w+", "", words, flags=re.MULTILINE))
    assert re.findall(r"\S*[\d٠-٩]\S*", NAME.sub("", words)) == []


@each_lesson
def test_numbers_read_the_same_in_both_languages(lesson):
    english, arabic = (lesson.numbers(text_in(language)) for language in LANGUAGES)
    for name, shown in english.items():
        assert _digits(shown) == _digits(arabic[name]), name
        assert shown not in ("–", "0", ""), name


def _digits(shown: str) -> list[str]:
    return re.findall(r"\d[\d.,]*", plain(shown))


@each_lesson
@each_language
def test_every_option_draws_the_figure(lesson, language):
    text = text_in(language)
    for control in lesson.controls:
        for option in control.options:
            stage = lesson.stage({**lesson.defaults(), control.id: option})
            assert stage.possible, (control.id, option)
            drawings = lesson.figure(text, stage)
            assert drawings
            assert lesson.terms(stage)
            for chart in (drawing for drawing in drawings if isinstance(drawing, Chart)):
                assert chart.rows
                assert all(len(row) == len(chart.columns) for row in chart.rows)


@each_lesson
@each_language
def test_the_answer_as_it_is_shown_is_right(lesson, language):
    answer = lesson.task.answer()
    shown = answer.shown(text_in(language))
    assert judge(shown, lesson.task.unit, answer.value, lesson.task.tolerance).verdict is Verdict.RIGHT
    wrong = lesson.task.answer().value * 5
    assert judge(str(wrong), lesson.task.unit, answer.value, lesson.task.tolerance).verdict is not Verdict.RIGHT


@each_lesson
@each_language
def test_the_hand_out_needs_nothing_else(lesson, language):
    text = text_in(language)
    page = handout.html(text, lesson, lesson.stage(lesson.defaults()))
    assert f'dir="{text.direction}"' in page
    assert not re.findall(r'(?:src|href)="(?!https://|#)', page)
    assert "url(data:font/woff2" in page
    assert "http://" not in re.sub(r"http://www\.w3\.org/\S+", "", page)
    assert "<math" in page
    charts = [piece for piece in lesson.figure(text, lesson.stage(lesson.defaults())) if isinstance(piece, Chart)]
    assert page.count('class="gp-sketch"') == len(charts)
    assert prose(language, lesson.id).title in page
    assert not re.findall(r"{\w+}", re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL))


@each_lesson
@each_language
def test_the_pdf_has_every_letter_and_the_answer_on_a_sheet_of_its_own(lesson, language, caplog):
    with caplog.at_level(logging.WARNING, "fpdf"):
        made = pdf.document(text_in(language), lesson, lesson.stage(lesson.defaults()))
    assert [record.message for record in caplog.records if record.name.startswith("fpdf")] == []
    assert made.startswith(b"%PDF")
    assert made.count(b"/Type /Page\n") >= 2


@each_lesson
def test_a_link_carries_the_state(lesson):
    for control in lesson.controls:
        for option in control.options:
            values = {**lesson.defaults(), control.id: option}
            place = {"lesson": lesson.id, "step": 3, "values": values}
            assert state.parse(state.query_of(place)) == place


def test_a_bad_link_opens_what_it_can():
    lesson = LESSONS[0]
    query = {"lesson": lesson.id, "step": "²", lesson.controls[0].id: "<script>", "nonsense": "1"}
    assert state.parse(query) == {"lesson": lesson.id, "step": None, "values": lesson.defaults()}
    assert state.parse({"lesson": "../../etc/passwd"})["lesson"] == ""
    assert state.parse({"lesson": lesson.id, "step": "-1"})["step"] is None


def test_the_glossary_has_the_same_terms_in_both_languages():
    english, arabic = (glossary.entries(language) for language in LANGUAGES)
    assert {entry.id for entry in english} == {entry.id for entry in arabic}
    assert len(english) >= 30
    for entry in arabic:
        assert re.search(r"[A-Za-z]", entry.name), f"{entry.id}: the English name is missing"
        assert re.search("[\u0600-\u06ff]", entry.meaning), entry.id
    assert all(entry.meaning.endswith(".") for entry in (*english, *arabic))


@each_lesson
def test_formulas_are_typeset_on_a_line_or_two(lesson):
    for term in lesson.terms(lesson.stage(lesson.defaults())):
        outlines, (width, height) = paper._formula(term.formula.latex)
        assert b"<path" in outlines
        assert width > 2
        assert height < 20, term.formula.latex
