"""axolotl's YAML.

Option names: axolotl 0.18, src/axolotl/utils/schemas (config.py, model.py, training.py, peft.py, fsdp.py), and the
Liger plugin's src/axolotl/integrations/liger/args.py.
"""

from collections.abc import Mapping
from typing import Any

from planner.launch import hugging_face, launcher, pairs, trainer_names
from planner.launch.found import Found
from planner.launch.options import Options, as_flag, as_number
from planner.launch.pairs import Pair
from planner.launch.render import Line, yaml_text
from planner.launch.types import File, Framework, names
from planner.plan.plan import Plan

PAIRS = (
    Pair("micro_batch_size", "micro_batch_size"),
    Pair("gradient_accumulation_steps", "gradient_accumulation_steps"),
    Pair("sequence_length", "sequence_len"),
    Pair("optimizer", "optimizer", {**trainer_names.OPTIMIZERS, "muon": "muon"}, trainer_names.MORE_OPTIMIZERS),
    Pair("compiled", "torch_compile", {True: True, False: False}),
    Pair("workers", "dataloader_num_workers"),
    Pair("pinned", "dataloader_pin_memory", {True: True, False: False}),
    Pair("tensor_parallel", "tensor_parallel_size"),
    Pair("context_parallel", "context_parallel_size", aliases=("sequence_parallel_degree",)),
    Pair("attention", "attn_implementation", trainer_names.ATTENTION, trainer_names.MORE_ATTENTION),
)
RECOMPUTE = Pair(
    "recompute", "gradient_checkpointing", {"full": True, "none": False}, {"unsloth": "full", "offload": "full"}
)
LORA = (Pair("lora_rank", "lora_r"),)
MODULES: Mapping[str, Any] = {name: value for name, value in trainer_names.TARGETS.items() if name != "all-linear"}
LIGER = "axolotl.integrations.liger.LigerPlugin"


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """config.yaml, with a small public dataset to be replaced."""
    values = plan.values
    lines = [Line("base_model", values["model"])]
    if values["task"] == "train":
        lines.append(Line("reinit_weights", True, "from scratch"))
    lines += _method(plan)
    lines += [line for line in pairs.written(plan, PAIRS) if not line.name.endswith("_parallel_size") or line.value > 1]
    lines += _precision(values["precision"])
    lines += _sharding(plan)
    if not hugging_face.fsdp_recomputes(plan):
        lines += pairs.written(plan, (RECOMPUTE,))
    if values["loss"] == "fused":
        lines += [Line("plugins", [LIGER]), Line("liger_fused_linear_cross_entropy", True, pairs.COMMENTS["loss"])]
    elif values["loss"] == "chunked":
        lines.append(Line("chunked_cross_entropy", True, pairs.COMMENTS["loss"]))
        lines.append(Line("chunked_cross_entropy_num_chunks", values["loss_chunks"]))
    lines += [
        Line("datasets", [{"path": "tatsu-lab/alpaca", "type": "alpaca"}], "your own data"),
        Line("sample_packing", True, "fills every sequence; padding wastes the rest"),
        Line("num_epochs", 1),
        Line("learning_rate", 0.0002),
        Line("output_dir", "output"),
    ]
    text = yaml_text(lines, f"Made by GPU Planner for {FRAMEWORK.version}.")
    nodes, each = launcher.nodes(plan)
    command = "axolotl train config.yaml"
    if values["gpus"] > 1:
        where = f" --nnodes {nodes} --rdzv-backend c10d --rdzv-endpoint $HEAD_NODE:29500" if nodes > 1 else ""
        command += f" --launcher torchrun -- --nproc-per-node {each}{where}"
    return (File("config.yaml", text, "yaml"),), command


def _method(plan: Plan) -> list[Line]:
    values = plan.values
    if values["task"] != "finetune" or values["method"] not in ("lora", "dora", "qlora"):
        return []
    eight = values["method"] == "qlora" and values["base_format"] == "int8"
    lines = [Line("adapter", "qlora" if values["method"] == "qlora" and not eight else "lora")]
    if values["method"] == "qlora":
        lines.append(Line("load_in_8bit" if eight else "load_in_4bit", True, "the frozen base, quantised as it loads"))
    lines += [*pairs.written(plan, LORA), Line("lora_alpha", 2 * values["lora_rank"])]
    lines.append(Line("lora_dropout", 0.05 if values["lora_dropout"] else 0))
    if values["lora_targets"] == "all-linear":
        lines.append(Line("lora_target_linear", True, "matrices that get an adapter"))
    else:
        lines.append(Line("lora_target_modules", MODULES[values["lora_targets"]], "matrices that get an adapter"))
    lines += [Line("peft_use_dora", True)] if values["method"] == "dora" else []
    return [*lines, Line("peft_autocast_adapter_dtype", values["adapter_fp32"])]


def _precision(precision: str) -> list[Line]:
    """`bf16` loads the model in BF16 and trains under autocast; `bfloat16` does without the autocast."""
    if precision == "fp8":
        return [Line("bf16", True), Line("fp8", True, "products in FP8")]
    if precision in ("bf16", "fp16"):
        return [Line({"bf16": "bfloat16", "fp16": "float16"}[precision], True)]
    _, bf16, fp16, tf32 = trainer_names.PRECISIONS[precision]
    return [Line("bf16", bf16), Line("fp16", fp16), *([Line("tf32", True)] if tf32 else [])]


def _sharding(plan: Plan) -> list[Line]:
    values = plan.values
    sharding = values["sharding"] if plan.uses("sharding") else "none"
    if sharding in ("zero1", "zero2", "zero3"):
        return [Line("deepspeed", f"deepspeed_configs/{sharding}.json", "axolotl fetch deepspeed_configs")]
    if sharding not in ("fsdp", "hsdp"):
        return []
    lines = [
        Line("fsdp_version", 2),
        Line("fsdp_config.reshard_after_forward", True, "divide parameters, gradients and optimizer states"),
        Line("fsdp_config.auto_wrap_policy", "TRANSFORMER_BASED_WRAP"),
        Line("fsdp_config.offload_params", values["offload_parameters"] == "cpu"),
        Line("fsdp_config.activation_checkpointing", hugging_face.fsdp_recomputes(plan)),
        Line("fsdp_config.state_dict_type", "FULL_STATE_DICT"),
    ]
    if sharding == "hsdp":
        sizes = hugging_face.mesh(plan)
        lines += [Line("dp_shard_size", sizes["dp_shard_size"]), Line("dp_replicate_size", sizes["dp_replicate_size"])]
    return lines


def recognise(options: Options) -> bool:
    """A YAML with a base_model."""
    return options.kind in ("yaml", "json") and options.has("base_model")


def read(options: Options, found: Found) -> None:
    """A YAML."""
    found.model(options.take("base_model"), "base_model")
    scratch = options.flag("reinit_weights")
    found.set("task", "train" if scratch else "finetune")
    pairs.read(options, (*PAIRS, RECOMPUTE), found)
    if options.flag("flash_attention"):
        found.set("attention", "flash")
    elif options.flag("sdp_attention"):
        found.set("attention", "sdpa")
    elif options.flag("eager_attention"):
        found.set("attention", "eager")
    _read_method(options, found)
    _read_precision(options, found)
    _read_sharding(options, found)
    if options.flag("liger_fused_linear_cross_entropy", "cut_cross_entropy"):
        found.set("loss", "fused")
    elif options.flag("chunked_cross_entropy"):
        found.set("loss", "chunked")
        chunks = options.whole("chunked_cross_entropy_num_chunks")
        found.set("loss_chunks", chunks or 8)
    found.steps = options.whole("max_steps")
    if options.flag("sample_packing") is False and options.flag("pad_to_sequence_len") is not True:
        found.assume("padding-shorter")
    options.flag("pad_to_sequence_len")


def _read_method(options: Options, found: Found) -> None:
    adapter = str(options.take("adapter") or "").lower()
    four, eight = options.flag("load_in_4bit"), options.flag("load_in_8bit")
    dora = options.flag("peft_use_dora")
    if found.get("task") != "finetune":
        return
    if adapter not in ("lora", "qlora"):
        found.set("method", "full")
        return
    four = four or (adapter == "qlora" and not eight)
    found.set("method", "qlora" if four or eight else "dora" if dora else "lora")
    if four or eight:
        found.set("base_format", "nf4" if four else "int8")
    pairs.read(options, LORA, found)
    dropout = as_number(options.take("lora_dropout") or 0)
    found.set("lora_dropout", bool(dropout))
    linear, modules = options.flag("lora_target_linear"), options.peek("lora_target_modules")
    targets = "all-linear" if linear else trainer_names.targets_of(modules)
    if targets:
        options.take("lora_target_modules")
        found.set("lora_targets", targets)
    kept = as_flag(options.take("peft_autocast_adapter_dtype"))
    found.set("adapter_fp32", True if kept is None else kept)


def _read_precision(options: Options, found: Found) -> None:
    eight, pure, half = options.flag("fp8"), options.flag("bfloat16"), options.flag("float16")
    bf16 = options.take("bf16")
    autocast = bf16 in ("auto", "full") or as_flag(bf16)
    fp16, tf32 = options.flag("fp16"), options.flag("tf32")
    if eight:
        found.set("precision", "fp8")
    elif pure or half:
        found.set("precision", "bf16" if pure else "fp16")
    else:
        loaded = "bfloat16" if autocast else "float16" if fp16 else "float32"
        found.set("precision", trainer_names.precision_of(loaded, bool(autocast), fp16, tf32))


def _read_sharding(options: Options, found: Found) -> None:
    deepspeed, version = options.take("deepspeed"), options.take("fsdp_version")
    strategy = options.take("fsdp")
    at = "fsdp_config"
    sizes = {name: options.whole(name) for name in ("dp_shard_size", "dp_replicate_size")}
    if deepspeed:
        stage = next((stage for stage in ("zero1", "zero2", "zero3") if stage in str(deepspeed)), None)
        if stage:
            found.set("sharding", stage)
            for field in ("offload_optimizer", "offload_parameters"):
                found.set(field, "cpu" if "offload" in str(deepspeed) or "cpu" in str(deepspeed) else "none")
        found.elsewhere.append(str(deepspeed)[:100])
    elif version or strategy or options.under(at):
        whole = options.flag(f"{at}.reshard_after_forward", f"{at}.fsdp_reshard_after_forward")
        found.set("sharding", "zero2" if whole is False else "fsdp")
        offload = options.flag(f"{at}.offload_params", f"{at}.fsdp_offload_params")
        for field in ("offload_optimizer", "offload_parameters"):
            found.set(field, "cpu" if offload else "none")
        if options.flag(f"{at}.activation_checkpointing", f"{at}.fsdp_activation_checkpointing"):
            found.set("recompute", "full")
    hugging_face.read_mesh(
        {**sizes, "tp_size": found.get("tensor_parallel"), "cp_size": found.get("context_parallel")}, found
    )


FRAMEWORK = Framework(
    id="axolotl",
    name="axolotl",
    version="axolotl 0.18",
    source="https://docs.axolotl.ai/docs/config-reference.html",
    tasks=("train", "finetune"),
    write=write,
    recognise=recognise,
    read=read,
    defaults={"micro_batch_size": 1, "sharding": "none", "recompute": "none"},
    harmless=names(
        """
        datasets test_datasets val_set_size num_epochs learning_rate lr_scheduler warmup_ratio warmup_steps
        weight_decay output_dir dataset_prepared_path chat_template special_tokens plugins logging_steps save_strategy
        saves_per_epoch evals_per_epoch eval_strategy train_on_inputs group_by_length seed strict model_type
        tokenizer_type lora_alpha wandb_project wandb_entity wandb_watch wandb_name wandb_log_model
        resume_from_checkpoint local_rank gradient_checkpointing_kwargs use_reentrant early_stopping_patience
        save_steps eval_steps debug auto_wrap_policy state_dict_type transformer_layer_cls_to_wrap
        cpu_ram_efficient_loading max_grad_norm fsdp_transformer_layer_cls_to_wrap fsdp_auto_wrap_policy
        fsdp_state_dict_type trust_remote_code is_llama_derived_model
        """
    ),
)
