"""The Learn page without a browser: lessons, tasks, presenting, links."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.learn.lessons import LESSONS
from pages.ui.learn.prose import prose
from pages.ui.text import LANGUAGES, text_in

APP = str(Path(__file__).parents[2] / "app.py")
each_language = pytest.mark.parametrize("language", LANGUAGES)


def run(language: str = "en", **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    app.switch_page("pages/learn.py")
    app.query_params["lang"] = language
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    assert not app.error
    return app


def shown(app: AppTest) -> str:
    html = " ".join(element.proto.body for element in app.get("html"))
    return html + " ".join(element.value for element in app.markdown)


@each_language
def test_the_list_names_every_lesson(language: str) -> None:
    app = run(language)
    labels = [button.label for button in app.button]
    for lesson in LESSONS:
        assert any(prose(language, lesson.id).title in label for label in labels)
    assert re.findall(r"{\w+}", shown(app)) == []


@each_language
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_a_lesson_draws_and_its_task_is_solved(lesson, language: str) -> None:
    app = run(language, lesson=lesson.id)
    assert prose(language, lesson.id).title in shown(app)
    answer = lesson.task.answer()
    app.text_input(key=f"learn.{lesson.id}.typed").set_value(answer.shown(text_in(language)))
    next(button for button in app.button if button.label == text_in(language).t("Check")).click()
    app.run()
    assert not app.exception
    assert [element.value for element in app.success] == [text_in(language).t("Right.")]
    numbers = lesson.numbers(text_in(language))
    assert prose(language, lesson.id).of("answer")[0].filled(numbers) in shown(app)


def test_a_wrong_answer_is_told_apart_and_hints_come_one_by_one() -> None:
    app = run(lesson="memory")
    app.text_input(key="learn.memory.typed").set_value("112")
    next(button for button in app.button if button.label == "Check").click()
    app.run()
    assert "unit" in app.warning[0].value
    for count in (1, 2):
        app.button(key="learn.memory.more").click().run()
        assert len(app.info) == count
    assert "learn.memory.more" not in [button.key for button in app.button]
    app.button(key="learn-reset").click().run()
    assert not app.info
    assert not app.warning


def test_a_control_changes_figure_and_link() -> None:
    app = run(lesson="memory")
    assert "Fits" in shown(app)
    app.select_slider(key="learn.memory.in.micro_batch_size").set_value(32).run()
    assert app.query_params["micro_batch_size"] == "32"
    assert "Does not fit" in shown(app)


def test_a_link_opens_the_teachers_state() -> None:
    app = run(lesson="memory", micro_batch_size="32", step="4")
    assert "Does not fit" in shown(app)
    assert app.button(key="learn-next")


@each_language
def test_presenting_shows_one_part_at_a_time_and_hides_the_answer(language: str) -> None:
    app = run(language, lesson="memory")
    words, numbers = prose(language, "memory"), LESSONS[0].numbers(text_in(language))
    answer = words.of("answer")[0].filled(numbers)
    app.button(key="learn-present").click().run()
    seen = 0
    for _ in range(20):
        if app.button(key="learn-next").disabled:
            break
        if words.of("task")[0].filled(numbers) in shown(app) and not seen:
            assert answer not in shown(app)
            seen += 1
        app.button(key="learn-next").click().run()
        assert not app.exception
    assert seen == 1
    app.button(key="learn-back").click().run()
    assert answer in shown(app)
    app.button(key="learn-reset").click().run()
    assert words.title in shown(app)
    app.button(key="learn-close").click().run()
    assert app.button(key="learn-present")


def test_a_bad_link_opens_the_lesson_at_its_defaults() -> None:
    app = run(lesson="batch", gpu="<script>alert(1)</script>", micro_batch_size="9999", step="-3")
    assert app.select_slider(key="learn.batch.in.micro_batch_size").value == 8
    assert "<script>alert" not in shown(app)


@each_language
def test_the_glossary_is_searched(language: str) -> None:
    app = run(language, lesson="glossary")
    assert "all-reduce" in shown(app).lower()
    app.text_input(key="learn-find").set_value("roofline").run()
    assert 'id="roofline"' in shown(app)
    assert 'id="token"' not in shown(app)
    app.text_input(key="learn-find").set_value("<b>xyz").run()
    assert '<dl class="gp-glossary"' not in shown(app)
