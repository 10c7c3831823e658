"""The whole app without a browser: language, frame, and what happens when a page fails."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import shell

APP = str(Path(__file__).parents[2] / "app.py")


def run(language: str | None = None, locale: str | None = None) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=30)
    if locale:
        app.context = {"locale": locale}
    if language:
        app.query_params["lang"] = language
    return app.run()


def toggle(app: AppTest) -> str:
    return app.button(key="gp-language").label


@pytest.mark.parametrize(("language", "other"), [("en", "عربي"), ("ar", "EN")])
def test_the_plan_page_draws_in_both_languages(language: str, other: str) -> None:
    app = run(language)
    assert not app.exception
    assert not app.error
    assert toggle(app) == other


def test_without_a_link_the_browsers_language_is_taken() -> None:
    assert toggle(run(locale="ar-EG")) == "EN"
    assert toggle(run(locale="fr-FR")) == "عربي"


def test_the_toggle_changes_the_language_and_the_address() -> None:
    app = run("en")
    app.button(key="gp-language").click().run()
    assert toggle(app) == "EN"
    assert app.query_params["lang"] == "ar"


def test_an_unknown_language_in_a_link_is_ignored() -> None:
    assert toggle(run("tlh")) == "عربي"


def test_the_frame_stays_on_later_runs() -> None:
    app = run("en")
    app.run()
    assert toggle(app) == "عربي"


def test_a_failing_page_says_so_in_words_and_logs_the_rest(monkeypatch, caplog) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(shell, "page_text", fail)
    app = run("ar")
    assert not app.exception
    (error,) = app.error
    assert "secret" not in error.value
    assert "حدث خطأ" in error.value
    (record,) = [one for one in caplog.records if one.name == "gpu_planner"]
    assert record.args[0] in error.value
    assert "secret detail" in caplog.text
