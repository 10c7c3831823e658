"""The Layouts page without a browser: what is found, what is varied, the plan it opens, and why not another."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]
PRETRAIN = {
    "task": "train",
    "model": "meta-llama/Llama-3.1-8B",
    "gpu": "h100-sxm5-80gb",
    "gpus": "16",
    "micro_batch_size": "1",
    "gradient_accumulation_steps": "4",
    "precision": "bf16-master",
}


def run(language: str = "en", **query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.run()
    app.query_params.clear()
    app.query_params["lang"] = language
    for key, value in query.items():
        app.query_params[key.replace("__", ".")] = value
    app.switch_page("pages/layouts.py").run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    return " ".join(element.proto.body for element in app.get("html"))


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize(
    "plan",
    [PRETRAIN, {"task": "serve", "gpus": "4"}, {"model": "timm/resnet50", "task": "train", "gpus": "8"}],
    ids=lambda plan: f"{plan['task']}-{plan['gpus']}",
)
def test_layouts_in_both_languages(plan: dict[str, str], language: str) -> None:
    app = run(language, **plan)
    page = shown(app)
    assert 'class="gp-headline gp-fits' in page
    assert 'class="gp-change"' in page
    assert not app.error


def test_apply_opens_the_plan_with_the_layout() -> None:
    app = run(**PRETRAIN)
    app.button(key="layouts-0").click().run()
    assert not app.exception
    assert app.query_params["sharding"]
    assert app.query_params["gpus"] == "16"
    assert 'class="gp-headline gp-does-not-fit' not in shown(app)


def test_the_batch_and_the_choices_go_into_the_link() -> None:
    app = run(**PRETRAIN)
    app.number_input(key="ly.in.batch").set_value(96).run()
    assert app.query_params["ly.batch"] == "96"
    app.toggle(key="ly.in.fewer").set_value(True).run()
    assert app.query_params["ly.fewer"] == "true"
    assert app.query_params["model"] == PRETRAIN["model"]
    app.toggle(key="ly.in.fewer").set_value(False).run()
    assert "ly.fewer" not in app.query_params
    assert not app.exception


@pytest.mark.parametrize("batch", ["0", "-4", "many", "9" * 30, "٣"])
def test_a_wrong_batch_in_the_link_is_not_chosen(batch: str) -> None:
    app = run(**PRETRAIN, ly__batch=batch)
    assert app.number_input(key="ly.in.batch").value == 64


def test_why_not_the_own_layout() -> None:
    assert "It does not fit" in shown(run(**PRETRAIN, sharding="none"))
    page = shown(run(**PRETRAIN, pipeline_parallel="16", sharding="none"))
    assert "Pipeline bubble" in page
    app = run(**PRETRAIN, tensor_parallel="3")
    assert "It is not possible" in shown(app)
    assert app.error


def test_nothing_fits_and_what_would_help() -> None:
    page = shown(run(**{**PRETRAIN, "model": "meta-llama/Llama-3.1-405B", "gpus": "8"}))
    assert 'class="gp-headline gp-does-not-fit' in page
    assert "GPUs, a layout fits" in page


def test_no_layout_helps_an_impossible_plan() -> None:
    app = run(**{**PRETRAIN, "gpu": "v100-sxm2-32gb", "precision": "fp8"})
    assert 'class="gp-headline gp-unknown' in shown(app)
    assert app.error


def test_more_gpus_than_are_searched_are_refused() -> None:
    app = run(**{**PRETRAIN, "gpus": "32768"})
    assert 'class="gp-headline gp-unknown' in shown(app)
    assert app.error
