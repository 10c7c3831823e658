"""torchtitan's TOML.

Option names: torchtitan 0.2.2, torchtitan/config/job_config.py; the last release that is configured by TOML.
"""

from collections.abc import Mapping

from planner.launch import launcher, pairs
from planner.launch.found import Found
from planner.launch.options import Options
from planner.launch.pairs import Pair
from planner.launch.render import Line, toml_text
from planner.launch.types import File, Framework, Unread, names
from planner.numeric import ceil_div
from planner.plan.plan import Plan

MODELS: Mapping[str, tuple[str, str]] = {
    "meta-llama/Llama-3.1-8B": ("llama3", "8B"),
    "meta-llama/Llama-3.1-70B": ("llama3", "70B"),
    "meta-llama/Llama-3.1-405B": ("llama3", "405B"),
    "Qwen/Qwen3-0.6B": ("qwen3", "0.6B"),
    "Qwen/Qwen3-1.7B": ("qwen3", "1.7B"),
    "Qwen/Qwen3-4B": ("qwen3", "4B"),
    "Qwen/Qwen3-8B": ("qwen3", "8B"),
    "Qwen/Qwen3-14B": ("qwen3", "14B"),
    "Qwen/Qwen3-32B": ("qwen3", "32B"),
    "Qwen/Qwen3-30B-A3B": ("qwen3", "30B-A3B"),
    "Qwen/Qwen3-235B-A22B": ("qwen3", "235B-A22B"),
    "deepseek-ai/DeepSeek-V2-Lite": ("deepseek_v3", "16B"),
    "deepseek-ai/DeepSeek-V3": ("deepseek_v3", "671B"),
    "openai/gpt-oss-20b": ("gpt_oss", "20b"),
    "openai/gpt-oss-120b": ("gpt_oss", "120b"),
}
"""Model -> torchtitan's model and flavor."""

PAIRS = (
    Pair("sequence_length", "training.seq_len"),
    Pair("workers", "training.dataloader.num_workers"),
    Pair("pinned", "training.dataloader.pin_memory", {True: True, False: False}),
    Pair("tensor_parallel", "parallelism.tensor_parallel_degree"),
    Pair("pipeline_parallel", "parallelism.pipeline_parallel_degree"),
    Pair("context_parallel", "parallelism.context_parallel_degree"),
    Pair("expert_parallel", "parallelism.expert_parallel_degree"),
    Pair(
        "schedule",
        "parallelism.pipeline_parallel_schedule",
        {"1f1b": "1F1B", "interleaved": "Interleaved1F1B", "gpipe": "GPipe"},
    ),
    Pair("recompute", "activation_checkpoint.mode", {"none": "none", "full": "full", "selective": "selective"}),
    Pair("compiled", "compile.enable", {True: True, False: False}),
    Pair("offload_parameters", "training.enable_cpu_offload", {"cpu": True, "none": False}),
)
OPTIMIZERS: Mapping[str, tuple[str, str]] = {
    "adamw-fused": ("AdamW", "fused"),
    "adamw": ("AdamW", "foreach"),
    "adamw-loop": ("AdamW", "for-loop"),
}
PRECISIONS: Mapping[str, tuple[str, str]] = {
    "amp-bf16": ("float32", "bfloat16"),
    "fp32": ("float32", "float32"),
    "bf16": ("bfloat16", "bfloat16"),
}
"""Plan precision -> training.dtype and training.mixed_precision_param."""


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """train.toml."""
    values = plan.values
    model, flavor = MODELS.get(values["model"], ("llama3", "8B"))
    name, implementation = OPTIMIZERS.get(values["optimizer"], ("AdamW", "fused"))
    lines = [
        Line("model.name", model),
        Line("model.flavor", flavor, "" if values["model"] in MODELS else f"add a flavor for {values['model']}"),
        Line(
            "model.hf_assets_path",
            f"./assets/hf/{values['model'].rsplit('/', 1)[-1]}",
            "tokenizer; weights to start from",
        ),
        Line("optimizer.name", name),
        Line("optimizer.implementation", implementation, pairs.COMMENTS["optimizer"]),
        *_batch(plan),
        *_precision(values["precision"]),
        *(line for line in pairs.written(plan, PAIRS) if line.name not in _ONLY_PARALLEL or plan.uses("schedule")),
        *_data_parallel(plan),
    ]
    if plan.uses("virtual_stages"):
        stack = plan.spec.text_stack
        stages = values["pipeline_parallel"] * values["virtual_stages"]
        lines.append(
            Line("parallelism.pipeline_parallel_layers_per_stage", ceil_div(stack.depth if stack else 1, stages))
        )
    if values["task"] == "finetune":
        lines += [
            Line("checkpoint.enable", True),
            Line("checkpoint.initial_load_in_hf", True, "start from hf_assets_path"),
        ]
    text = toml_text(lines, f"Made by GPU Planner for {FRAMEWORK.version}.")
    command = launcher.torchrun(plan, "-m torchtitan.train --job.config_file train.toml")
    return (File("train.toml", text, "toml"),), command


_ONLY_PARALLEL = frozenset({"parallelism.pipeline_parallel_schedule"})


def _degree(plan: Plan, name: str) -> int:
    return int(plan.values[name]) if plan.uses(name) else 1


def _data(plan: Plan) -> int:
    product = 1
    for name in ("tensor_parallel", "pipeline_parallel", "context_parallel"):
        product *= _degree(plan, name)
    return max(1, int(plan.values["gpus"]) // product)


def _batch(plan: Plan) -> list[Line]:
    """A pipeline cuts its local batch into micro-batches; without one, accumulation follows from the global batch."""
    values = plan.values
    micro, steps = values["micro_batch_size"], values["gradient_accumulation_steps"]
    whole = micro * steps * _data(plan)
    pipelined = _degree(plan, "pipeline_parallel") > 1
    local = micro * steps if pipelined else micro
    lines = [
        Line(
            "training.local_batch_size",
            local,
            "sequences of one rank" if pipelined else pairs.COMMENTS["micro_batch_size"],
        ),
        Line("training.global_batch_size", whole, "sequences per optimizer step, all GPUs"),
        Line("training.steps", launcher.steps(plan)),
    ]
    if pipelined:
        lines.append(Line("parallelism.pipeline_parallel_microbatch_size", micro, pairs.COMMENTS["micro_batch_size"]))
    return lines


def _precision(precision: str) -> list[Line]:
    dtype, products = PRECISIONS.get(precision, PRECISIONS["amp-bf16"])
    lines = [Line("training.dtype", dtype), Line("training.mixed_precision_param", products, "dtype of the products")]
    if precision == "fp8":
        lines += [Line("model.converters", ["quantize.linear.float8"], "products in FP8")]
        lines += [Line("quantize.linear.float8.recipe_name", "rowwise")]
    return lines


def _data_parallel(plan: Plan) -> list[Line]:
    data = _data(plan)
    sharding = plan.values["sharding"] if plan.uses("sharding") else "none"
    shard = (
        min(plan.values["shard_group"], data) if sharding == "hsdp" else 1 if sharding in ("none", "zero1") else data
    )
    lines = [
        Line("parallelism.data_parallel_replicate_degree", data // shard, "copies of the training state"),
        Line("parallelism.data_parallel_shard_degree", shard, pairs.COMMENTS["shard_group"]),
    ]
    if sharding == "zero2":
        lines.append(
            Line("parallelism.fsdp_reshard_after_forward", "never", "keep the parameters whole until backward")
        )
    return lines


def recognise(options: Options) -> bool:
    """Its TOML's tables."""
    return options.kind == "toml" and (
        options.has("model.flavor", "training.seq_len") or bool(options.under("parallelism"))
    )


def read(options: Options, found: Found) -> None:
    """A TOML."""
    pairs.read(options, PAIRS, found)
    found.set("offload_optimizer", found.get("offload_parameters", "none"))
    found.set("task", "finetune" if options.flag("checkpoint.initial_load_in_hf") else "train")
    if found.get("task") == "finetune":
        found.set("method", "full")
    _read_model(options, found)
    given = (str(options.take("optimizer.name") or "AdamW"), str(options.take("optimizer.implementation") or "fused"))
    known = next((mine for mine, theirs in OPTIMIZERS.items() if theirs == given), None)
    if known:
        found.set("optimizer", known)
    else:
        found.unread.append(Unread("optimizer.name", given[0], "no-word", {"field": "optimizer"}))
    _read_precision(options, found)
    local, micro = (
        options.whole("training.local_batch_size", "training.batch_size"),
        options.whole("parallelism.pipeline_parallel_microbatch_size"),
    )
    pipelined = found.get("pipeline_parallel", 1) > 1
    found.set("micro_batch_size", (micro or 1) if pipelined else local or 8)
    if pipelined and local:
        found.set("gradient_accumulation_steps", max(1, local // (micro or 1)))
    whole = options.whole("training.global_batch_size")
    if whole and whole > 0:
        found.global_batch = whole
    found.steps = options.whole("training.steps")
    _read_data_parallel(options, found)
    layers = options.whole("parallelism.pipeline_parallel_layers_per_stage")
    depth = _depth(found)
    if layers and depth and found.get("schedule") == "interleaved":
        found.set("virtual_stages", max(2, ceil_div(depth, layers * found.get("pipeline_parallel", 1))))


def _read_model(options: Options, found: Found) -> None:
    given = (str(options.take("model.name") or "llama3"), str(options.take("model.flavor") or ""))
    assets = options.take("model.hf_assets_path", "model.tokenizer_path")
    for mine, theirs in MODELS.items():
        if theirs == given and (assets is None or str(assets).endswith(mine.rsplit("/", 1)[-1])):
            found.set("model", mine)
            return
    if assets is not None:
        found.model(assets, "model.hf_assets_path")
        return
    known = next((mine for mine, theirs in MODELS.items() if theirs == given), None)
    if known:
        found.set("model", known)
    else:
        found.unread.append(Unread("model.flavor", " ".join(given), "unknown-model"))


def _read_precision(options: Options, found: Found) -> None:
    given = (
        str(options.take("training.dtype") or "float32"),
        str(options.take("training.mixed_precision_param") or "bfloat16"),
    )
    converters = options.take("model.converters", "quantize.linear.float8.recipe_name")
    options.take("quantize.linear.float8.recipe_name")
    if converters and "float8" in str(converters):
        found.set("precision", "fp8")
    else:
        found.set("precision", next((mine for mine, theirs in PRECISIONS.items() if theirs == given), "amp-bf16"))


def _read_data_parallel(options: Options, found: Found) -> None:
    copies = options.whole("parallelism.data_parallel_replicate_degree") or 1
    shard = options.whole("parallelism.data_parallel_shard_degree")
    kept = options.take("parallelism.fsdp_reshard_after_forward")
    if shard == 1:
        found.set("sharding", "none")
    elif copies > 1:
        found.set("sharding", "hsdp")
        if shard and shard > 1:
            found.set("shard_group", shard)
    else:
        found.set("sharding", "zero2" if kept == "never" else "fsdp")
    if "gpus" not in found.chosen and shard and shard > 0:
        product = copies * shard
        for name in ("tensor_parallel", "pipeline_parallel", "context_parallel"):
            product *= found.get(name, 1)
        found.set("gpus", product)


def _depth(found: Found) -> int | None:
    from planner.models import catalogue as models

    stack = models.model(found.get("model")).text_stack if "model" in found.chosen else None
    return stack.depth if stack else None


FRAMEWORK = Framework(
    id="torchtitan",
    name="torchtitan",
    version="torchtitan 0.2.2",
    source="https://github.com/pytorch/torchtitan, torchtitan/config/job_config.py of v0.2.2",
    tasks=("train", "finetune"),
    write=write,
    recognise=recognise,
    read=read,
    adapters=False,
    decoders_only=True,
    defaults={"recompute": "selective", "sequence_length": 2048, "workers": 0, "pinned": False},
    harmless=names(
        """
        lr eps weight_decay warmup_steps decay_ratio decay_type min_lr_factor max_norm dataset dataset_path folder
        interval description dump_folder log_freq enable_tensorboard save_tb_folder enable_wandb enable_profiling
        save_traces_folder profile_freq last_save_model_only export_dtype async_mode enable steps freq components
        backend filter_fqns selective_ac_option enable_async_tensor_parallel precompute_float8_dynamic_scale_for_fsdp
        enable_fsdp_float8_all_gather print_config gc_freq seed deterministic initial_load_path keep_latest_k
        """
    ),
)
