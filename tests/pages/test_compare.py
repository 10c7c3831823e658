"""The Compare page without a browser: links in and out, what differs, the best of a row, what is wrong."""

from urllib.parse import parse_qsl, urlencode

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.compare.links import entry
from pages.ui.compare.metrics import best_of, metrics
from pages.ui.text import text_in
from tests.pages.test_plan import run, shown

SERVE = {"task": "serve", "model": "Qwen/Qwen3-8B"}
ONE, TWO = {**SERVE, "gpu": "l40s"}, {**SERVE, "gpu": "h100-sxm5-80gb"}


def compare(*plans: dict[str, str], language: str = "en") -> AppTest:
    app = run(language)
    for place, plan in enumerate(plans, start=1):
        app.query_params[f"c.{place}"] = urlencode(plan)
    app.switch_page("pages/compare.py").run()
    assert not app.exception
    return app


@pytest.mark.parametrize("language", ["en", "ar"])
def test_two_plans_stand_side_by_side(language: str) -> None:
    page = shown(compare({**ONE, "name": "Small"}, {**TWO, "name": "Large"}, language=language))
    assert "Small" in page
    assert "Large" in page
    assert page.count('class="gp-bar"') == 2
    assert "▲" in page


def test_only_what_differs_is_listed() -> None:
    page = shown(compare({**ONE, "name": "A"}, {**TWO, "name": "B"}))
    table = page.partition("Inputs that differ</caption>")[2].partition("</table>")[0]
    assert "GPU" in table
    assert "Qwen3-8B" not in table


def test_the_comparison_is_its_link() -> None:
    app = compare(ONE, {**TWO, "name": "Large"})
    assert dict(parse_qsl(app.query_params["c.2"])) == {**TWO, "name": "Large"}
    app.button(key="compare.out.0").click().run()
    assert "c.2" not in app.query_params
    app.button(key="compare.undo").click().run()
    assert dict(parse_qsl(app.query_params["c.1"]))["gpu"] == "l40s"
    app.button(key="compare.up.1").click().run()
    assert dict(parse_qsl(app.query_params["c.1"]))["name"] == "Large"


def test_a_bad_plan_spoils_no_other() -> None:
    app = compare(
        ONE, {**TWO, "gpus": "-3"}, {**TWO, "gpu": "l4"}, {"task": "train", "gpus": "2", "tensor_parallel": "3"}
    )
    assert any("−3" in error.value for error in app.error)
    assert shown(app).count('class="gp-bar"') == 2


def test_the_plan_page_s_plan_is_added() -> None:
    app = run(model="Qwen/Qwen3-8B", gpu="l40s")
    app.switch_page("pages/compare.py").run()
    app.button(key="compare.this").click().run()
    assert "Qwen3-8B" in app.query_params["c.1"]


def test_names_are_only_text() -> None:
    page = shown(compare({**ONE, "name": "<img src=x>\u202e"}, TWO))
    assert "<img" not in page
    assert "\u202e" not in page


def test_the_best_is_among_those_that_fit() -> None:
    speed = next(metric for metric in metrics(text_in("en")) if metric.better > 0)
    plans = [entry(urlencode(plan)) for plan in (ONE, TWO, ONE)]
    assert best_of(speed, [1.0, 2.0, 3.0], plans, [True, True, False]) == {1}
    assert best_of(speed, [2.0, 2.0, None], plans, [True, True, True]) == set()
    mixed = [*plans[:2], entry("task=train")]
    assert best_of(speed, [1.0, 2.0, 3.0], mixed, [True, True, True]) == set()
