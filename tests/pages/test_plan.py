"""The Plan page without a browser: inputs, links, presets, bad input."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from planner.plan.plan import resolve, to_query
from planner.plan.presets import PRESETS
from planner.solve import solve

APP = str(Path(__file__).parents[2] / "app.py")


def run(language: str = "en", **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["lang"] = language
    for key, value in query.items():
        app.query_params[key] = value
    app.run()
    assert not app.exception
    return app


def shown(app: AppTest) -> str:
    """Everything that is drawn as HTML."""
    return " ".join(element.proto.body for element in app.get("html"))


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("id", PRESETS)
def test_presets_draw_an_answer_in_both_languages(id: str, language: str) -> None:
    app = run(language, **to_query(resolve(PRESETS[id])))
    page = shown(app)
    assert 'class="gp-headline' in page
    assert 'class="gp-bar"' in page
    assert 'class="gp-tiles"' in page
    assert not app.error


def test_an_input_changes_plan_and_link() -> None:
    app = run()
    app.number_input(key="in.micro_batch_size").set_value(2).run()
    assert app.query_params["micro_batch_size"] == "2"
    assert "Tight" in shown(app) or "Fits" in shown(app)


def test_a_hidden_value_is_kept() -> None:
    app = run(gpus="2", tensor_parallel="2")
    app.number_input(key="in.gpus").set_value(1).run()
    app.number_input(key="in.gpus").set_value(2).run()
    assert app.query_params["tensor_parallel"] == "2"


def test_an_impossible_plan_computes_nothing_and_keeps_the_inputs() -> None:
    app = run(gpus="8", tensor_parallel="3", micro_batch_size="2")
    assert 'class="gp-tiles"' not in shown(app)
    assert any("32" in error.value for error in app.error)
    assert app.number_input(key="in.micro_batch_size").value == 2


def test_a_bad_link_value_is_named_beside_its_field() -> None:
    app = run(gpus="many", micro_batch_size="2")
    assert any("many" in error.value for error in app.error)
    assert app.number_input(key="in.gpus").value == 1
    assert app.number_input(key="in.micro_batch_size").value == 2


@pytest.mark.parametrize("value", ["<script>alert(1)</script>", "\u202egpu\u202c", "١٢٣", "9" * 5000])
def test_hostile_values_are_shown_as_text(value: str) -> None:
    app = run(gpus=value, model=value, gpu=value)
    assert app.error
    assert "<script>alert" not in shown(app)


def test_a_gpu_of_unknown_speed_still_gets_its_memory() -> None:
    page = shown(run(gpu="rtx-5050-laptop", method="qlora"))
    assert 'class="gp-bar"' in page


@pytest.mark.parametrize("model", ["timm/resnet50", "google-t5/t5-3b", "openai/whisper-large-v2", "transformer-13b"])
def test_every_kind_of_model_can_be_planned(model: str) -> None:
    assert 'class="gp-headline' in shown(run(model=model, gpu="a100-sxm4-80gb"))


def test_serving_with_every_engine() -> None:
    for engine in ("vllm", "sglang", "tensorrt-llm", "llama.cpp", "transformers"):
        assert 'class="gp-headline' in shown(run(task="serve", engine=engine, gpu="h100-sxm5-80gb"))


def test_a_widget_seen_first_in_a_later_run_shows_the_plan() -> None:
    """A run may be cut off before the browser sees it; the next must tell the values again, as defaults."""
    page = run(model="Qwen/Qwen3-8B", micro_batch_size="8", gpu="l40s")
    page.run()
    assert page.number_input(key="in.micro_batch_size").proto.default == 8
    for key, shown in (("in.model", "Qwen3-8B"), ("in.gpu", "L40S")):
        proto = page.selectbox(key=key).proto
        assert shown in proto.options[proto.default]


def test_limits_are_solved_for_and_can_be_applied() -> None:
    app = run(task="serve", model="Qwen/Qwen3-8B", gpu="l40s")
    app.session_state["curves"] = "Limits"
    app.run()
    assert not app.exception
    solution = solve(resolve({"task": "serve", "model": "Qwen/Qwen3-8B", "gpu": "l40s"}), "concurrency")
    assert f"up to {solution.value}" in shown(app).replace("\u2068", "").replace("\u2069", "").replace(",", "")
    app.button(key="limits-concurrency").click().run()
    assert app.query_params["concurrency"] == str(solution.value)


def test_a_card_of_ones_own_in_a_link_needs_nothing_else() -> None:
    card = {"name": "Next card", "memory_gib": 64.0, "bandwidth_gbs": 2000.0, "bf16": 400.0}
    query = to_query(resolve({"gpu": "custom", "gpu_config": card}))
    app = run(**query)
    assert "Next card" in shown(app)
    assert app.selectbox(key="in.gpu").value == "custom"
    app.selectbox(key="in.gpu").set_value("l40s").run()
    assert app.query_params["gpu"] == "l40s"
    hardware = run(**query)
    hardware.switch_page("pages/hardware.py").run()
    assert not hardware.exception
    assert "Next card" in shown(hardware)
