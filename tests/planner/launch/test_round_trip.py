"""Plan -> export -> read -> the same values, for every field that a framework can say."""

import pytest

from planner.launch.compare import onto
from planner.launch.frameworks import FRAMEWORKS, export, frameworks_for, read
from planner.launch.wrappers import WRAPPERS
from planner.plan.plan import parse
from planner.plan.presets import PRESETS

TRAIN = {
    "task": "train",
    "model": "meta-llama/Llama-3.1-8B",
    "gpu": "h100-sxm5-80gb",
    "gpus": 16,
    "optimizer": "adamw-fused",
    "precision": "amp-bf16",
    "sharding": "fsdp",
}
LORA = {"task": "finetune", "model": "Qwen/Qwen3-8B", "gpu": "a100-sxm4-80gb", "gpus": 4, "sharding": "none"}
SERVE = {"task": "serve", "model": "Qwen/Qwen3-32B", "gpu": "h100-sxm5-80gb", "gpus": 8, "tensor_parallel": 4}
GGUF = {
    "task": "serve",
    "model": "Qwen/Qwen3-32B",
    "gpu": "rtx-4090",
    "engine": "llama.cpp",
    "weight_format": "gguf-q4_k_m",
}

BATCH = {"micro_batch_size": (1, 3), "gradient_accumulation_steps": (1, 6), "sequence_length": (512, 4096)}
TRAINER = {
    **BATCH,
    "model": ("meta-llama/Llama-3.2-1B", "Qwen/Qwen3-8B"),
    "gpus": (1, 8, 32),
    "compiled": (True, False),
    "workers": (0, 7),
    "pinned": (True, False),
    "recompute": ("none", "full"),
    "attention": ("eager", "sdpa", "flash"),
}
ADAPTERS = {
    "method": ("full", "lora", "dora", "qlora"),
    "lora_rank": (8, 64),
    "lora_targets": ("all-linear", "attention", "qv"),
    "lora_dropout": (True, False),
}
OPTIMIZERS = ("adamw", "adamw-fused", "adamw-8bit", "paged-adamw-8bit", "paged-adamw", "hf-adafactor", "lion", "sgd")
PRECISIONS = ("fp32", "tf32", "bf16", "fp16", "amp-bf16", "amp-fp16", "bf16-amp", "fp16-amp")
ENGINE = {
    "concurrency": (1, 200),
    "max_batched_tokens": (2048, 16384),
    "memory_fraction": (0.8, 0.95),
    "max_model_length": (8192, 32768),
    "tensor_parallel": (2, 8),
    "pipeline_parallel": (1, 2),
}

# framework, plan to start from, the values that must survive, one field at a time
SAID = [
    (
        "hugging-face",
        LORA,
        {**TRAINER, **ADAPTERS, "optimizer": OPTIMIZERS, "precision": PRECISIONS, "loss": ("fused",)},
    ),
    ("hugging-face", {**LORA, "method": "qlora"}, {"base_format": ("nf4", "int8"), "kbit_upcast": (True, False)}),
    ("hugging-face", {**LORA, "gpus": 8, "method": "full"}, {"tensor_parallel": (2, 4), "context_parallel": (2,)}),
    ("hugging-face", TRAIN, {"sharding": ("none", "zero2", "fsdp", "hsdp"), "recompute_every": (1, 3)}),
    ("hugging-face", {**TRAIN, "sharding": "hsdp"}, {"shard_group": (4, 8)}),
    (
        "accelerate",
        TRAIN,
        {**TRAINER, "sharding": ("none", "zero2", "fsdp", "hsdp"), "precision": (*PRECISIONS, "fp8")},
    ),
    ("accelerate", LORA, ADAPTERS),
    (
        "deepspeed",
        {**TRAIN, "precision": "bf16-master", "sharding": "zero3"},
        {
            **TRAINER,
            "sharding": ("none", "zero1", "zero2", "zero3"),
            "precision": ("bf16", "bf16-master", "fp16-master", "amp-bf16", "amp-fp16", "fp32", "tf32"),
            "offload_optimizer": ("none", "cpu", "nvme"),
            "offload_parameters": ("none", "cpu", "nvme"),
        },
    ),
    (
        "megatron-lm",
        {
            **TRAIN,
            "precision": "bf16-master",
            "sharding": "zero1",
            "gpus": 64,
            "pipeline_parallel": 4,
            "tensor_parallel": 2,
        },
        {
            **BATCH,
            "model": ("meta-llama/Llama-3.1-70B", "Qwen/Qwen3-8B"),
            "tensor_parallel": (1, 4),
            "sequence_parallel": (True, False),
            "pipeline_parallel": (1, 2, 4),
            "context_parallel": (2,),
            "schedule": ("1f1b", "interleaved"),
            "precision": ("bf16-master", "fp16-master", "fp8", "fp32"),
            "optimizer": ("adamw-fused", "muon", "sgd-momentum"),
            "recompute": ("none", "selective", "full"),
            "attention": ("flash", "sdpa", "eager"),
            "offload_optimizer": ("none", "cpu"),
            "dropout": (True, False),
            "sharding": ("none", "zero1", "zero2", "fsdp"),
        },
    ),
    (
        "megatron-lm",
        {**TRAIN, "model": "Qwen/Qwen3-30B-A3B", "precision": "bf16-master"},
        {"expert_parallel": (1, 4, 8)},
    ),
    (
        "torchtitan",
        TRAIN,
        {
            **BATCH,
            "model": ("meta-llama/Llama-3.1-70B", "Qwen/Qwen3-8B"),
            "compiled": (True, False),
            "workers": (0, 7),
            "pinned": (True, False),
            "recompute": ("none", "selective", "full"),
            "sharding": ("none", "zero2", "fsdp", "hsdp"),
            "tensor_parallel": (2, 8),
            "pipeline_parallel": (2, 4),
            "context_parallel": (2,),
            "precision": ("fp32", "bf16", "amp-bf16"),
            "optimizer": ("adamw", "adamw-fused", "adamw-loop"),
        },
    ),
    (
        "torchtitan",
        {**TRAIN, "pipeline_parallel": 4},
        {"schedule": ("1f1b", "gpipe", "interleaved"), "micro_batch_size": (2,)},
    ),
    (
        "torch-fsdp2",
        TRAIN,
        {
            **TRAINER,
            "sharding": ("none", "zero2", "fsdp", "hsdp"),
            "precision": ("fp32", "tf32", "bf16", "amp-bf16"),
            "optimizer": ("adamw", "adamw-fused", "adamw-loop", "sgd", "sgd-momentum"),
            "recompute_every": (2,),
            "offload_parameters": ("none",),
        },
    ),
    (
        "axolotl",
        {**LORA, "optimizer": "adamw-8bit"},
        {
            **TRAINER,
            **ADAPTERS,
            "optimizer": (*OPTIMIZERS, "muon"),
            "precision": ("bf16", "bf16-amp", "fp32", "tf32", "fp16-amp", "fp8"),
            "loss": ("transformers-5", "fused", "chunked"),
            "adapter_fp32": (True, False),
            "sharding": ("none", "fsdp", "zero2", "zero3"),
        },
    ),
    ("axolotl", {**LORA, "gpus": 16, "sharding": "hsdp"}, {"sharding": ("hsdp",), "shard_group": (4, 8)}),
    ("llama-factory", LORA, {**TRAINER, **ADAPTERS, "optimizer": OPTIMIZERS, "loss": ("transformers-5", "fused")}),
    ("llama-factory", {**LORA, "method": "frozen", "precision": "amp-bf16"}, {"frozen_layers": (12, 30)}),
    (
        "llama-factory",
        {**LORA, "method": "full"},
        {"sharding": ("none", "zero2", "zero3"), "precision": ("bf16", "amp-bf16")},
    ),
    (
        "unsloth",
        {**LORA, "loss": "in-place", "kbit_upcast": False, "gpus": 1},
        {
            **BATCH,
            "method": ("full", "lora", "qlora"),
            "lora_rank": (8, 64),
            "optimizer": OPTIMIZERS,
            "recompute": ("none", "full"),
        },
    ),
    (
        "vllm",
        SERVE,
        {**ENGINE, "weight_format": ("bf16", "fp16", "fp8", "awq-int4", "gptq-int4"), "kv_dtype": ("auto", "fp8")},
    ),
    ("vllm", {**SERVE, "model": "Qwen/Qwen3-30B-A3B"}, {"expert_parallel": (1, 8), "cuda_graphs": (True, False)}),
    ("sglang", SERVE, {**ENGINE, "weight_format": ("bf16", "fp8", "awq-int4"), "kv_dtype": ("auto", "fp8", "bf16")}),
    ("sglang", {**SERVE, "model": "Qwen/Qwen3-30B-A3B"}, {"expert_parallel": (1, 4, 8), "cuda_graphs": (True, False)}),
    (
        "tensorrt-llm",
        {**SERVE, "tensor_parallel": 8, "weight_format": "bf16"},
        {
            **ENGINE,
            "tensor_parallel": (4, 8),
            "pipeline_parallel": (1,),
            "weight_format": ("bf16", "fp16"),
            "kv_dtype": ("auto", "fp8"),
        },
    ),
    (
        "llama.cpp",
        GGUF,
        {
            "concurrency": (1, 8),
            "max_batched_tokens": (512, 2048),
            "max_model_length": (8192,),
            "weight_format": ("gguf-q4_k_m", "gguf-q8_0", "gguf-iq4_xs"),
            "kv_dtype": ("auto", "q8_0", "q4_0"),
            "cuda_graphs": (True, False),
            "model": ("meta-llama/Llama-3.1-8B",),
        },
    ),
    ("llama.cpp", {**GGUF, "gpus": 2}, {"pipeline_parallel": (2,)}),
    (
        "ollama",
        GGUF,
        {
            "concurrency": (1, 8),
            "max_model_length": (8192,),
            "kv_dtype": ("auto", "q8_0"),
            "max_batched_tokens": (512,),
        },
    ),
]
CASES = [
    (name, base, field, value) for name, base, fields in SAID for field, values in fields.items() for value in values
]


def plan_of(chosen):
    plan, problems = parse(chosen)
    assert not problems
    return plan


def survives(base, field, value):
    chosen = {**base, field: value}
    if base.get("engine") == "llama.cpp":
        chosen.setdefault("tensor_parallel", 1)
    return plan_of(chosen)


@pytest.mark.parametrize(("name", "base", "field", "value"), CASES, ids=lambda value: str(value)[:24])
def test_a_value_survives(name, base, field, value):
    plan = survives(base, field, value)
    if not plan.uses(field) or FRAMEWORKS[name] not in frameworks_for(plan):
        pytest.skip("the field does not apply")
    launch = export(plan, name)
    again = onto(plan_of({"gpu": base["gpu"]}), read(*launch.texts))
    assert again.values[field] == plan.values[field]
    assert field not in {notice.parameters.get("field") for notice in launch.notes}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_scheduler_around_it_changes_nothing(name, wrapper):
    base = next(base for other, base, _ in SAID if other == name)
    plan = survives(base, "gpus", base.get("gpus", 1))
    launch = export(plan, name, wrapper)
    again = onto(plan_of({"gpu": base["gpu"]}), read(*launch.texts))
    assert again.values["gpus"] == plan.values["gpus"]
    assert {notice.parameters.get("field") for notice in launch.notes} == {
        notice.parameters.get("field") for notice in export(plan, name).notes
    }


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_come_back_but_for_what_the_notes_tell(preset):
    plan = plan_of(PRESETS[preset])
    for framework in frameworks_for(plan):
        launch = export(plan, framework.id)
        reading = read(*launch.texts)
        assert framework.id in reading.frameworks
        assert not reading.unread, framework.id
        again = onto(plan, reading)
        told = {notice.parameters.get("field") for notice in launch.notes}
        for field in ("model", "task", "micro_batch_size", "sequence_length", "concurrency", "gpus", "gpu"):
            if field not in told:
                assert again.values[field] == plan.values[field], (framework.id, field)


def test_what_cannot_be_said_is_told():
    plan = plan_of({**TRAIN, "pipeline_parallel": 2, "optimizer": "muon", "precision": "fp8"})
    told = {notice.parameters["field"] for notice in export(plan, "hugging-face").notes}
    assert {"pipeline_parallel", "optimizer", "precision"} <= told


def test_every_framework_states_its_version_and_every_file_says_who_made_it():
    for name, framework in FRAMEWORKS.items():
        base = next(base for other, base, _ in SAID if other == name)
        launch = export(survives(base, "gpus", base.get("gpus", 1)), name)
        assert framework.version in launch.version
        for file in launch.files:
            assert framework.version.split(",")[0] in file.text or file.language in ("json", "python")
            assert file.language == "json" or "GPU Planner" in file.text


@pytest.mark.parametrize("name", ["hugging-face", "megatron-lm", "torchtitan"])
def test_the_tokens_to_train_survive_but_for_a_step(name):
    plan = plan_of({**TRAIN, "train_tokens_millions": 500.0, "gradient_accumulation_steps": 4})
    again = onto(plan_of({"gpu": TRAIN["gpu"]}), read(*export(plan, name).texts))
    step = 16 * plan.values["micro_batch_size"] * 4 * plan.values["sequence_length"] / 1e6
    assert abs(again.values["train_tokens_millions"] - 500) <= step


def test_megatron_takes_one_connection_except_under_fsdp():
    base = {**TRAIN, "precision": "bf16-master", "tensor_parallel": 2}
    assert "CUDA_DEVICE_MAX_CONNECTIONS" not in export(plan_of(base), "megatron-lm").files[0].text
    assert (
        "CUDA_DEVICE_MAX_CONNECTIONS=1" in export(plan_of({**base, "sharding": "zero1"}), "megatron-lm").files[0].text
    )
