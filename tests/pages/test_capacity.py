"""The Capacity page without a browser: the example, bad rows, a file, the simulation, the report."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui.capacity import rows as kept
from pages.ui.capacity.report import report
from pages.ui.capacity.result import placed
from pages.ui.report.web import html
from pages.ui.text import text_in
from planner.capacity.read import from_json, to_json
from tests.pages.test_plan import run, shown

pytestmark = pytest.mark.usefixtures("empty_store")


def capacity(language: str = "en") -> AppTest:
    app = run(language)
    app.switch_page("pages/capacity.py").run()
    app.button(key="capacity.example").click().run(timeout=60)
    assert not app.exception
    return app


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_example_is_placed_in_both_languages(language: str) -> None:
    page = shown(capacity(language))
    assert 'class="gp-tiles"' in page
    assert "Pre-train 13B" in page
    assert "2027-" in page.replace("\u2060", "") or "202" in page


def test_undo_brings_the_empty_tables_back() -> None:
    app = capacity()
    app.button(key="capacity.undo").click().run()
    assert 'class="gp-tiles"' not in shown(app)
    assert app.info


def test_pasted_rows_are_added_and_bad_ones_named() -> None:
    app = capacity()
    app.session_state["capacity.workloads.paste"] = True
    app.run()
    app.text_area(key="capacity.workloads.text").set_value("name,gpus,gpu_hours\nnew job,8,100\nbad,lots,1")
    app.button(key="capacity.workloads.add").click().run()
    assert "new job" in shown(app)
    assert any("workloads[11].gpus" in error.value and "lots" in error.value for error in app.error)


def test_demand_is_simulated() -> None:
    app = capacity()
    app.number_input(key="demand.years").set_value(50)
    app.button(key="demand.run").click().run(timeout=90)
    assert not app.exception
    assert "99" in shown(app).partition("Waiting, use and cost")[2]


def test_the_report_says_what_the_page_says() -> None:
    scenario, _, problems = from_json(json.dumps(to_json(kept.example())))
    assert problems == ()
    text = text_in("en")
    page = html(text, report(text, scenario, placed(scenario)))
    assert "Everything runs, and in time" in page
    assert "Pre-train 13B" in page


def test_the_plan_becomes_a_workload_once_it_says_how_much() -> None:
    app = capacity()
    app.session_state["plan.chosen"] = {"train_tokens_millions": 0.0}
    app.button(key="capacity.plan").click().run()
    assert any("needed" in error.value for error in app.error)
    app.session_state["plan.chosen"] = {"train_tokens_millions": 100.0}
    for _ in range(2):
        app.button(key="capacity.plan").click().run(timeout=30)
        assert not app.error
    names = [row["name"] for row in app.session_state["capacity.rows"]["workloads"]]
    assert len(names) == len(set(names)) == 11


def test_no_visitor_names_the_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler may run code here: only who runs the server may choose it."""
    app = capacity()
    assert not [one for one in app.text_input if "dask" in str(one.label).lower()]
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", "tcp://127.0.0.1:9")
    assert "tcp://127.0.0.1:9" in shown(app.run())
