"""Saving a plan and finding it again, without a browser: links, names, conflicts, the library."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import desk
from planner.store.items import Kind
from tests.pages.test_plan import run, shown

pytestmark = pytest.mark.usefixtures("empty_store")


def saved(name: str = "Plan", **content: object) -> str:
    return desk.desk().create(Kind.PLAN, name, {"schema": 1, **content}, tags=["demo"]).id


def library(language: str = "en") -> AppTest:
    app = run(language)
    app.switch_page("pages/saved.py").run()
    assert not app.exception
    return app


def save_as(app: AppTest, name: str | None = None) -> AppTest:
    app.button(key="save-open").click().run()
    if name is not None:
        app.text_input(key="save.name.False").set_value(name)
    app.button(key="save.do").click().run()
    assert not app.exception
    return app


def test_a_plan_is_saved_and_opened_by_its_short_link() -> None:
    save_as(run(model="Qwen/Qwen3-8B", micro_batch_size="3"))
    (item,) = desk.desk().items(Kind.PLAN)
    assert item.content["micro_batch_size"] == 3
    again = run(saved=item.id)
    assert again.number_input(key="in.micro_batch_size").value == 3
    assert again.query_params["model"] == "Qwen/Qwen3-8B"
    assert "saved" not in again.query_params


def test_what_is_saved_says_when_it_is_not_there() -> None:
    app = run(saved="nonsense")
    assert "no such item" in app.error[0].value
    assert 'class="gp-tiles"' in shown(app)


def test_a_name_that_cannot_be_saves_nothing() -> None:
    app = save_as(run(), "  ")
    assert desk.desk().items(Kind.PLAN) == ()
    assert app.session_state["saved.failed"] == ["name: nothing was given."]


def test_a_stale_save_keeps_both() -> None:
    id = saved(gpus=2)
    app = run(saved=id)
    theirs = desk.desk().save(id, 1, content={"schema": 1, "gpus": 4})
    app.number_input(key="in.gpus").set_value(8).run()
    save_as(app)
    assert desk.desk().item(id) == theirs
    conflict = app.session_state["saved.conflict"]
    assert (conflict.mine.content["gpus"], conflict.theirs.content["gpus"]) == (8, 4)


def test_the_library_lists_finds_and_puts_away() -> None:
    first, second = saved("First", gpus=2), saved("Second")
    app = library()
    assert "First" in shown(app)
    app.text_input(key="saved.search").set_value("second demo").run()
    assert "First" not in shown(app)
    assert "Second" in shown(app)
    desk.desk().delete(second, 1)
    app.run()
    assert "No saved plan" in app.info[0].value
    app.text_input(key="saved.search").set_value("").run()
    assert first in shown(app)


@pytest.mark.parametrize("language", ["en", "ar"])
def test_names_are_text_and_nothing_else(language: str) -> None:
    saved("<script>alert(1)</script> \u202egnp")
    page = shown(library(language))
    assert "<script>alert(1)" not in page.replace("<script>(function", "")
    assert "&lt;script&gt;" in page


def test_an_empty_library_says_how_to_fill_it() -> None:
    assert "Save" in library().info[0].value


def test_without_a_database_the_plan_page_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    desk.store.clear()
    app = library()
    assert "DATABASE_URL" in app.error[0].value
    assert 'class="gp-tiles"' in shown(run())


def test_what_can_no_longer_be_read_is_named() -> None:
    app = run(saved=saved(gpu="no-such-gpu", micro_batch_size=3))
    assert any("no-such-gpu" in error.value for error in app.error)
    assert app.number_input(key="in.micro_batch_size").value == 3


@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_other_page_has_the_current_plan_in_its_sidebar(language: str) -> None:
    id = saved("<b>Kept</b>")
    app = run(language, model="Qwen/Qwen3-8B")
    app.session_state["menu"] = True
    app.switch_page("pages/accuracy.py").run()
    assert not app.exception
    assert f"?saved={id}" in shown(app)
    assert "<b>Kept</b>" not in shown(app)
    app.button(key="menu-save").click().run()
    app.button(key="save.do").click().run()
    assert desk.desk().items(Kind.PLAN, search="Qwen")[0].content["model"] == "Qwen/Qwen3-8B"
