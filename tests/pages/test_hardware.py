"""The Hardware page without a browser: options, wishes in the link, cards of one's own, and the plan they open."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import desk
from planner.store.items import Kind

ROOT = Path(__file__).parents[2]


def run(language: str = "en", **query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.run()
    app.query_params.clear()
    app.query_params["lang"] = language
    for key, value in query.items():
        app.query_params[key.replace("__", ".")] = value
    app.switch_page("pages/hardware.py").run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize(
    "plan", [{"task": "serve"}, {"method": "lora"}, {"model": "timm/resnet50", "task": "train"}], ids=str
)
def test_options_in_both_languages(plan: dict[str, str], language: str) -> None:
    app = run(language, **plan)
    page = shown(app)
    assert 'class="gp-headline gp-fits' in page
    assert page.count('class="gp-change"') == 16  # the best, and what is needed at least
    assert 'class="gp-table"' in page
    assert not app.error


def test_a_wish_goes_into_the_link_beside_the_plan() -> None:
    app = run(task="serve")
    app.selectbox(key="hw.in.vendor").set_value("AMD").run()
    assert app.query_params["hw.vendor"] == "AMD"
    assert app.query_params["task"] == "serve"
    assert "Instinct" in shown(app)
    app.selectbox(key="hw.in.vendor").set_value("any").run()
    assert "hw.vendor" not in app.query_params


def test_a_budget_that_nothing_meets_offers_the_smallest_that_something_does() -> None:
    app = run(task="serve", hw__budget="0.001")
    assert "gp-headline gp-does-not-fit" in shown(app)
    app.button(key="hw-relax-button-0").click().run()
    assert float(app.query_params["hw.budget"]) > 0.001
    assert "gp-headline gp-fits" in shown(app)


def test_what_would_be_needed_where_nothing_fits() -> None:
    page = shown(run(model="deepseek-ai/DeepSeek-V3", method="full", hw__most_gpus="8"))
    assert "gp-does-not-fit" in page
    assert 'class="gp-change"' in page
    assert "GPUs:" in page


def test_owned_cards_are_added_and_removed() -> None:
    app = run(task="serve")
    app.session_state["hw-owned"] = True
    app.run()
    assert app.selectbox(key="hw.own.gpu").value == "rtx-4090"  # the plan's
    app.number_input(key="hw.own.count").set_value(2)
    app.number_input(key="hw.own.price").set_value(1800.0)
    app.button(key="hw-own-add").click().run()
    assert app.query_params["hw.owned"] == "rtx-4090:2:1800"
    assert "owned, " in shown(app)
    app.session_state["hw-owned"] = True  # which a browser would have kept open
    app.run()
    app.button(key="hw-own-remove-rtx-4090").click().run()
    assert "hw.owned" not in app.query_params


def test_a_card_that_is_not_listed_is_checked_and_added() -> None:
    app = run(task="serve")
    app.session_state["hw-custom"] = True
    app.run()
    app.text_input(key="hw.new.name").set_value("Mine")
    app.number_input(key="hw.new.memory_gib").set_value(96.0)
    app.number_input(key="hw.new.bf16").set_value(500.0)
    app.button(key="hw-custom-add").click().run()
    assert "hw.custom" not in app.query_params  # the bandwidth is missing
    app.session_state["hw-custom"] = True
    app.run()
    assert any("bandwidth" in error.value for error in app.error)
    app.number_input(key="hw.new.bandwidth_gbs").set_value(3000.0)
    app.number_input(key="hw.new.price").set_value(0.01)
    app.button(key="hw-custom-add").click().run()
    assert json.loads(app.query_params["hw.custom"])["gpus"][0]["name"] == "Mine"
    assert "Cheapest: 1 × Mine" in shown(app)


def test_a_custom_card_with_a_hostile_name_is_shown_as_text() -> None:
    card = {"name": "<img src=x onerror=alert(1)>", "memory_gib": 96, "bandwidth_gbs": 3000, "bf16": 500, "price": 0.01}
    page = shown(run(task="serve", hw__custom=json.dumps({"gpus": [card]})))
    assert "<img src=x" not in page
    assert "&lt;img src=x" in page


def test_bad_wishes_are_named() -> None:
    app = run(hw__pue="9", hw__grid="Atlantis", hw__owned="nothing:1")
    messages = " ".join(error.value for error in app.error)
    assert "nothing" in messages
    assert 'class="gp-headline' in shown(app)


def test_stale_and_undated_prices_say_so() -> None:
    app = run(task="serve")
    app.selectbox(key="hw-browse").set_value("h100-sxm5-80gb").run()
    page = shown(app)
    assert "stale" in page
    assert "undated" in page


def test_apply_opens_the_plan_on_that_hardware() -> None:
    app = run(task="serve", concurrency="4")
    button = next(one for one in app.button if (one.key or "").startswith("hw-frontier-"))
    count, _, gpu = button.key.removeprefix("hw-frontier-").partition("x")
    button.click().run()
    assert app.query_params["gpu"] == gpu
    assert app.query_params["concurrency"] == "4"
    assert app.query_params.get("gpus", "1") == count


CARD = {"name": "Next <b>card</b>", "memory_gib": 64.0, "bandwidth_gbs": 2000.0, "bf16": 400.0, "price": 1.5}


@pytest.mark.usefixtures("empty_store")
def test_hardware_of_ones_own_is_kept_used_and_put_away() -> None:
    app = run(task="serve", hw__custom=json.dumps({"gpus": [CARD]}), hw__power_price="0.2")
    app.session_state["hw-kept"] = True
    app.run()
    app.button(key="hw-keep").click().run()
    assert not app.exception
    assert app.button(key="hw-keep").disabled
    (card,) = desk.desk().items(Kind.GPU)
    (terms,) = desk.desk().items(Kind.PRICE)
    assert card.content == CARD
    assert terms.content == {"power_price": "0.2"}

    later = run(task="serve")
    later.session_state["hw-kept"] = True
    later.run()
    later.button(key=f"hw-kept-use-{card.id}").click().run()
    later.button(key=f"hw-kept-use-{terms.id}").click().run()
    assert json.loads(later.query_params["hw.custom"])["gpus"] == [CARD]
    assert later.query_params["hw.power_price"] == "0.2"
    later.button(key=f"hw-kept-remove-{card.id}").click().run()
    assert desk.desk().items(Kind.GPU) == ()
    assert "<b>card" not in shown(later)


def test_a_card_of_ones_own_opens_the_plan() -> None:
    app = run(task="serve", hw__custom=json.dumps({"gpus": [CARD]}))
    app.session_state["hw-custom"] = True
    app.run()
    app.button(key="hw-custom-plan-0").click().run()
    assert not app.exception
    assert app.selectbox(key="in.gpu").value == "custom"
    assert app.query_params["gpu"] == "custom"
    assert app.query_params["gpu_config"]
