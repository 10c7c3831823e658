"""The Compare page without a browser: links in and out, what differs, the best of a row, what is wrong."""

from urllib.parse import parse_qsl, urlencode

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import desk
from pages.ui.compare import pasted
from pages.ui.compare.links import entry, link
from pages.ui.compare.metrics import best_of, metrics
from pages.ui.text import text_in
from planner.store.items import Kind
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


def test_a_note_goes_with_the_link() -> None:
    app = compare({**ONE, "note": "Cheap <b>\u202e"}, TWO)
    assert "Cheap &lt;b&gt;" in shown(app)
    app.text_input(key="compare.note.1").set_value("Fast").run()
    assert dict(parse_qsl(app.query_params["c.2"]))["note"] == "Fast"
    one = entry(urlencode({**ONE, "name": "A", "note": "B"}))
    assert entry(link(one)) == one


def test_what_is_the_same_is_behind_a_fold() -> None:
    app = compare(ONE, TWO)
    assert "Inputs that are the same in all" not in shown(app)
    assert any("inputs are the same in all" in one.label for one in app.expander)


def test_the_address_is_there_again_after_another_page() -> None:
    app = compare(ONE, TWO)
    app.switch_page("pages/accuracy.py").run()
    app.query_params.clear()
    app.switch_page("pages/compare.py").run()
    assert "c.2" in app.query_params


def test_the_plan_page_s_button_opens_the_comparison() -> None:
    app = run(**ONE)
    app.button(key="compare-open").click().run()
    assert not app.exception
    assert "l40s" in app.query_params["c.1"]


@pytest.mark.usefixtures("empty_store")
def test_links_of_every_kind_can_be_pasted() -> None:
    plan = desk.desk().create(Kind.PLAN, "Kept", {"schema": 1, "gpus": 2}).id
    assert [one.name for one in pasted.entries(f"http://here/?saved={plan}&lang=ar")] == ["Kept"]
    assert pasted.entries(f"http://here/?{urlencode(TWO)}#x")[0].plan.values["gpu"] == TWO["gpu"]
    whole = urlencode({"c.1": urlencode(ONE), "c.2": urlencode(TWO), "lang": "en"})
    assert len(pasted.entries(f"http://here/compare?{whole}")) == 2
    assert pasted.entries("hello") == []
    with pytest.raises(LookupError):
        pasted.entries("?saved=nonsense")


@pytest.mark.usefixtures("empty_store")
def test_a_comparison_is_kept_and_opened_by_its_short_link() -> None:
    content = {"plans": [{"name": n, "note": "why", "plan": {"schema": 1, "gpus": g}} for n, g in (("A", 2), ("B", 4))]}
    id = desk.desk().create(Kind.COMPARISON, "Two", content).id
    app = run()
    app.query_params["saved"] = id
    app.switch_page("pages/compare.py").run()
    assert not app.exception
    assert "saved" not in app.query_params
    assert dict(parse_qsl(app.query_params["c.2"])) == {"name": "B", "note": "why", "gpus": "4"}


def test_a_short_link_that_leads_nowhere_is_told() -> None:
    app = run()
    app.query_params["saved"] = "nonsense"
    app.switch_page("pages/compare.py").run()
    assert "no such item" in app.error[0].value
