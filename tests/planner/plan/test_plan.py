"""A plan through its forms: link, JSON, values; bad input is named, and the rest stays."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.plan import checks
from planner.plan.fields import Kind
from planner.plan.plan import Plan, choices_of, from_json, parse, resolve, to_json, to_query
from planner.plan.presets import PRESETS
from planner.plan.request import request_of
from planner.plan.table import BY_ID, FIELDS
from planner.result import InputError

TINY = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 1000,
}


def values_of(field):
    """A strategy for legal values of a field."""
    if field.kind is Kind.INTEGER:
        return st.integers(int(field.low), int(min(field.high, 10**6)))
    if field.kind is Kind.NUMBER:
        return st.floats(field.low, min(field.high, 1e6)).map(lambda x: float(f"{x:g}"))
    if field.kind is Kind.FLAG:
        return st.booleans()
    if field.kind is Kind.CHOICE:
        return st.sampled_from(choices_of(field))
    return {
        "model": st.sampled_from(["meta-llama/Llama-3.1-8B", "Qwen/Qwen3-30B-A3B", "timm/resnet50", "transformer-3b"]),
        "gpu": st.sampled_from(["rtx-4090", "h100-sxm5-80gb", "t4"]),
        "host": st.sampled_from(["epyc-9654"]),
    }[field.id]


SIMPLE = [field for field in FIELDS if field.kind is not Kind.CONFIG]
chosen_values = st.fixed_dictionaries({}, optional={field.id: values_of(field) for field in SIMPLE})


@settings(max_examples=150, deadline=None)
@given(chosen_values)
def test_link_and_json_round_trip(chosen):
    plan = resolve(chosen)
    for again, problems in (parse(to_query(plan)), from_json(json.loads(json.dumps(to_json(plan))))):
        assert problems == ()
        assert again.chosen == plan.chosen


@settings(max_examples=150, deadline=None)
@given(chosen_values)
def test_a_plan_is_possible_or_says_why_not(chosen):
    plan = resolve(chosen)
    problems = checks.problems_of(plan)
    assert all(problem.field in BY_ID and problem.code for problem in problems)
    if not problems:
        request_of(plan)


def test_own_model_travels_in_the_link():
    plan = resolve({"model": "custom", "model_config": TINY})
    again, problems = parse(to_query(plan))
    assert problems == ()
    assert again.spec.total_parameters == plan.spec.total_parameters


@pytest.mark.parametrize(
    ("field", "bad", "code"),
    [
        ("gpus", "0", "out-of-range"),
        ("gpus", "-1", "out-of-range"),
        ("gpus", "1e30", "out-of-range"),
        ("gpus", "NaN", "not-an-integer"),
        ("gpus", "inf", "not-an-integer"),
        ("gpus", "two", "not-an-integer"),
        ("gpus", "1.5", "not-an-integer"),
        ("gpus", True, "not-an-integer"),
        ("memory_fraction", "1.01", "out-of-range"),
        ("memory_fraction", math.nan, "not-a-number"),
        ("pinned", "maybe", "not-a-flag"),
        ("precision", "bf17", "not-a-choice"),
        ("gpu", "rtx-9999-ultra", "unknown-gpu"),
        ("model", "no/such-model", "unknown-model"),
        ("model", "", "empty"),
        ("model", "x" * 5000, "too-long"),
        ("model_config", "not base64!", "not-a-packed-config"),
        ("model_config", [1], "not-an-object"),
    ],
)
def test_a_bad_value_is_named_and_the_rest_stays(field, bad, code):
    plan, problems = parse({"micro_batch_size": "2", field: bad})
    assert plan.chosen["micro_batch_size"] == 2
    assert field not in plan.chosen
    assert code in [problem.code for problem in problems]
    assert all(problem.field.split(".")[0] in {field, "file"} for problem in problems)


def test_unknown_fields_are_named():
    _, problems = parse({"batch": "4"})
    assert [(p.code, p.field) for p in problems] == [("unknown-field", "batch")]


def test_a_packed_bomb_is_refused_without_unpacking_it():
    import base64
    import zlib

    bomb = base64.urlsafe_b64encode(zlib.compress(b" " * 50_000_000, 9)).decode()
    _, problems = parse({"model": "custom", "model_config": bomb})
    assert "too-large" in [problem.code for problem in problems]


def test_future_schema_is_refused():
    _, problems = from_json({"schema": 99, "gpus": 4})
    assert [problem.code for problem in problems] == ["unknown-schema"]


@settings(max_examples=300, deadline=None)
@given(st.dictionaries(st.text(max_size=20) | st.sampled_from(list(BY_ID)), st.text(max_size=60), max_size=6))
def test_arbitrary_links_never_raise(raw):
    plan, _ = parse(raw)
    assert isinstance(plan, Plan)


@pytest.mark.parametrize("id", PRESETS)
def test_presets_are_possible(id):
    plan = resolve(PRESETS[id])
    assert checks.problems_of(plan) == ()
    assert parse(to_query(plan))[0].chosen == plan.chosen


@pytest.mark.parametrize(
    ("chosen", "code"),
    [
        ({"gpus": 8, "tensor_parallel": 3}, "not-dividing-heads"),
        ({"gpus": 6, "tensor_parallel": 4}, "gpus-not-a-multiple"),
        ({"gpus": 64, "pipeline_parallel": 64}, "more-stages-than-layers"),
        ({"gpus": 8, "context_parallel": 8, "sequence_length": 100}, "not-dividing-sequence"),
        ({"gpus": 8, "model": "Qwen/Qwen3-30B-A3B", "expert_parallel": 3}, "not-dividing-experts"),
        ({"gpus": 8, "sharding": "hsdp", "shard_group": 3}, "not-dividing-ranks"),
        ({"gpu": "v100-sxm2-16gb", "precision": "bf16"}, "precision-not-on-gpu"),
        ({"method": "frozen", "frozen_layers": 33}, "out-of-range"),
        ({"task": "serve", "engine": "llama.cpp", "weight_format": "awq-int4"}, "format-not-in-engine"),
        ({"task": "serve", "engine": "vllm", "kv_dtype": "q4_0"}, "format-not-in-engine"),
        ({"task": "serve", "max_model_length": 100}, "longer-than-limit"),
        ({"task": "train", "model": "google-bert/bert-base-uncased", "sequence_length": 1024}, "longer-than-positions"),
    ],
)
def test_impossible_plans_name_the_field(chosen, code):
    problems = checks.problems_of(resolve(chosen))
    assert code in [problem.code for problem in problems]
    assert all(problem.field in chosen for problem in problems)


def test_changes_that_make_no_plan_raise():
    with pytest.raises(InputError):
        resolve({}).with_changes(model="custom")


def test_defaults_follow_the_task_and_stay_out_of_the_link():
    plan = resolve({"task": "serve", "model": "Qwen/Qwen3-32B", "gpus": 4})
    assert plan.values["tensor_parallel"] == 4
    assert to_query(plan) == {"task": "serve", "model": "Qwen/Qwen3-32B", "gpus": "4"}


def test_hidden_fields_keep_their_value_but_do_not_count():
    plan = resolve({"gpus": 1, "tensor_parallel": 8})
    assert plan.values["tensor_parallel"] == 8
    assert request_of(plan).layout.tensor_parallel == 1


@pytest.mark.parametrize("gpu", ["t4", "v100-sxm2-16gb"])
@pytest.mark.parametrize("task", ["train", "finetune", "serve"])
def test_a_card_without_bf16_has_a_possible_default(gpu, task):
    assert checks.problems_of(resolve({"gpu": gpu, "task": task})) == ()


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm", "llama.cpp", "transformers"])
@pytest.mark.parametrize("model", ["meta-llama/Llama-3.1-8B", "deepseek-ai/DeepSeek-V3", "openai/gpt-oss-20b"])
def test_every_engine_has_a_possible_default_format(engine, model):
    assert checks.problems_of(resolve({"task": "serve", "engine": engine, "model": model})) == ()


def test_a_file_of_gguf_blocks_is_served_as_such():
    config = {**TINY, "quantization_config": {"quant_method": "Q4_K"}}
    plan = resolve({"task": "serve", "model": "custom", "model_config": config})
    assert (plan.values["engine"], plan.values["weight_format"]) == ("llama.cpp", "gguf-q4_k_m")


def test_a_downloaded_estimate_holds_its_plan():
    plan, problems = from_json({"plan": {"schema": 1, "gpus": 4}, "fits": True, "memory": {}})
    assert problems == ()
    assert plan.chosen == {"gpus": 4}


CARD = {"name": "Next <b>card</b>", "memory_gib": 64.0, "bandwidth_gbs": 2000.0, "bf16": 400.0, "price": 1.5}


def test_a_gpu_of_ones_own_travels_in_the_link_with_its_price():
    plan = resolve({"gpu": "custom", "gpu_config": CARD})
    again, problems = parse(to_query(plan))
    assert not problems
    assert again.values == plan.values
    assert again.card.memory_bytes == 64 * 2**30
    assert request_of(again).cluster.price_per_gpu_hour == 1.5
    assert resolve({"gpu_config": CARD}).values["gpu"] == "custom"
    assert resolve({"gpu": "l40s", "gpu_config": CARD}).card.id == "l40s"


@pytest.mark.parametrize("raw", [{}, {"gpu_config": {**CARD, "memory_gib": -1}}])
def test_a_gpu_without_figures_is_told_and_the_rest_stays(raw):
    plan, problems = parse({"gpu": "custom", **raw, "gpus": "2"})
    assert (plan.values["gpus"], plan.values["gpu"]) == (2, "rtx-4090")
    assert "missing-gpu-config" in {problem.code for problem in problems}


def test_a_link_that_the_card_has_not_is_named():
    (problem,) = checks.problems_of(resolve({"gpu": "rtx-4090", "gpus": 2, "link": "nvlink"}))
    assert (problem.code, problem.field) == ("no-nvlink", "link")
