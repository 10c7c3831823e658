"""The Accuracy page without a browser: both languages, filters, and the reader's own measurement."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.accuracy import measurements

APP = str(Path(__file__).parents[2] / "app.py")


def run(language: str = "en", **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    for key, value in {"lang": language, **query}.items():
        app.query_params[key] = value
    app.run()
    return app.switch_page("pages/accuracy.py").run()


@pytest.mark.parametrize("language", ["en", "ar"])
def test_it_draws_in_both_languages(language: str) -> None:
    app = run(language)
    assert not app.exception
    assert not app.error
    assert len(app.selectbox) >= 1


def test_filters_narrow_what_is_shown() -> None:
    app = run()
    app.multiselect(key="gpu_name").select("a10g").run()
    assert not app.exception
    assert not app.error


def test_a_measurement_of_ones_own_is_kept_listed_deleted_and_brought_back(empty_store: None) -> None:
    app = run()
    app.number_input[0].set_value(20.0)
    next(button for button in app.button if button.label == "Add").click().run()
    assert not app.exception
    (kept,) = measurements.every()
    assert kept.measured == 20.0 * 2**30
    again = run()  # another visit
    assert any(kept.title in str(html.proto.body) for html in again.get("html"))
    again.selectbox(key="own-which").select(kept.id).run()
    again.button(key="own-delete").click().run()
    assert measurements.every() == ()
    again.button(key="own-undo").click().run()
    assert measurements.every() == (kept,)
