"""Megatron-LM's arguments: `torchrun pretrain_gpt.py ...`.

Option names: Megatron Core 0.19, megatron/training/arguments.py, and the configuration classes that it makes arguments
of (megatron/training/config, megatron/core/transformer/transformer_config.py, megatron/core/model_parallel_config.py).
"""

from collections.abc import Mapping

from planner.launch import launcher, megatron_model, pairs
from planner.launch.found import Found
from planner.launch.options import Options, as_number
from planner.launch.pairs import Pair
from planner.launch.render import Line, shell_array
from planner.launch.types import File, Framework, names
from planner.plan.plan import Plan
from planner.units import MEGA

PAIRS = (
    Pair("micro_batch_size", "micro-batch-size"),
    Pair("sequence_length", "seq-length"),
    Pair("tensor_parallel", "tensor-model-parallel-size"),
    Pair("pipeline_parallel", "pipeline-model-parallel-size"),
    Pair("context_parallel", "context-parallel-size"),
    Pair("expert_parallel", "expert-model-parallel-size"),
    Pair("sequence_parallel", "sequence-parallel", {True: True}),
    Pair("virtual_stages", "num-virtual-stages-per-pipeline-rank"),
    Pair("attention", "attention-backend", {"flash": "flash", "sdpa": "fused", "eager": "unfused"}, {"local": "eager"}),
    Pair("offload_optimizer", "optimizer-cpu-offload", {"cpu": True}),
    Pair("workers", "num-workers"),
)
OPTIMIZERS: Mapping[str, str] = {
    "adamw-fused": "adam",
    "adamw": "adam",
    "adamw-loop": "adam",
    "muon": "muon",
    "sgd-momentum": "sgd",
    "lion": "lion",
}
OPTIMIZER = Pair("optimizer", "optimizer", OPTIMIZERS, {"dist_muon": "muon", "adaptive_muon": "muon"})
STRATEGIES: Mapping[str, str] = {"zero2": "optim_grads", "zero3": "optim_grads_params", "fsdp": "optim_grads_params"}
"""`--data-parallel-sharding-strategy` of Megatron FSDP."""


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """train.sh with the arguments, to be started on every node; pretrain_gpt.py comes with Megatron-LM."""
    values = plan.values
    lines = [*megatron_model.lines(plan.spec, values["model"]), *pairs.written(plan, PAIRS)]
    degrees = ("tensor_parallel", "pipeline_parallel", "context_parallel")
    parallel = 1
    for name in degrees:
        parallel *= values[name] if plan.uses(name) else 1
    whole = values["micro_batch_size"] * values["gradient_accumulation_steps"] * max(1, values["gpus"] // parallel)
    lines.append(Line("global-batch-size", whole, "sequences per optimizer step, all GPUs"))
    samples = round(values["train_tokens_millions"] * MEGA / values["sequence_length"])
    lines.append(Line("train-samples", max(samples, whole)))
    lines += [*pairs.written(plan, (OPTIMIZER,)), *_precision(values["precision"]), *_sharding(plan), *_recompute(plan)]
    dropout = 0.1 if values["dropout"] else 0.0
    lines += [Line("attention-dropout", dropout), Line("hidden-dropout", dropout)]
    if values["task"] == "finetune":
        lines += [Line("finetune", True, "start from the weights of --load"), Line("load", "checkpoint")]
    lines += [Line("lr", 3e-4), Line("mock-data", True, "replace by --data-path PREFIX")]
    what = f"{plan.spec.name}, {values['gpus']} x {values['gpu']}"
    head = f"#!/usr/bin/env bash\n# Made by GPU Planner for {FRAMEWORK.version}: {what}."
    command = launcher.torchrun(plan, 'pretrain_gpt.py "${ARGS[@]}"')
    # tensor and context parallel want one connection, FSDP more than one: arguments.py checks both
    fsdp = any(line.name == "use-megatron-fsdp" for line in lines)
    connections = "" if fsdp else "export CUDA_DEVICE_MAX_CONNECTIONS=1\n"
    text = f"{head}\nset -euo pipefail\n{connections}\n{shell_array(lines)}\n\n{command}\n"
    return (File("train.sh", text, "bash"),), "bash train.sh"


def _precision(precision: str) -> list[Line]:
    if precision in ("fp32", "tf32"):
        return []
    if precision.startswith(("fp16", "amp-fp16")):
        return [Line("fp16", True, "FP16 weights, FP32 master copy")]
    lines = [Line("bf16", True, "BF16 weights, FP32 master copy")]
    return [*lines, Line("fp8-format", "hybrid", "products in FP8")] if precision == "fp8" else lines


def _sharding(plan: Plan) -> list[Line]:
    sharding = plan.values["sharding"] if plan.uses("sharding") else "none"
    if sharding in STRATEGIES:
        return [
            Line("use-megatron-fsdp", True, "divide the training state over the data-parallel group"),
            Line("use-distributed-optimizer", True),
            Line("data-parallel-sharding-strategy", STRATEGIES[sharding]),
            Line("ckpt-format", "fsdp_dtensor"),
        ]
    return [] if sharding == "none" else [Line("use-distributed-optimizer", True, "divide the optimizer's states")]


def _recompute(plan: Plan) -> list[Line]:
    values = plan.values
    if values["recompute"] == "selective":
        return [Line("recompute-granularity", "selective", "recompute the attention core only")]
    if values["recompute"] != "full":
        return []
    every = values["recompute_every"]
    if every == 1:
        method = [Line("recompute-method", "uniform"), Line("recompute-num-layers", 1)]
    else:
        method = [Line("recompute-method", "block"), Line("recompute-num-layers", max(1, _chunk(plan) // every))]
    return [Line("recompute-granularity", "full", pairs.COMMENTS["recompute"]), *method]


def _chunk(plan: Plan) -> int:
    """Layers of one model chunk of one pipeline stage."""
    stack = plan.spec.text_stack
    stages = plan.values["pipeline_parallel"] if plan.uses("pipeline_parallel") else 1
    stages *= plan.values["virtual_stages"] if plan.uses("virtual_stages") else 1
    return max(1, (stack.depth if stack else 1) // stages)


def recognise(options: Options) -> bool:
    """Flags that only Megatron has."""
    return options.kind == "shell" and options.has(
        "tensor_model_parallel_size", "pipeline_model_parallel_size", "micro_batch_size", "num_attention_heads"
    )


def read(options: Options, found: Found) -> None:
    """A list of arguments, with or without its launcher."""
    launcher.read(options, found)
    found.set("task", "finetune" if options.flag("finetune") else "train")
    if found.get("task") == "finetune":
        found.set("method", "full")
    depth = megatron_model.read(options, found)
    pairs.read(options, (*PAIRS, OPTIMIZER), found)
    found.global_batch = options.whole("global_batch_size")
    found.steps = options.whole("train_iters")
    samples = options.whole("train_samples")
    if samples and "sequence_length" in found.chosen:
        found.set("train_tokens_millions", samples * found.get("sequence_length") / MEGA)
    _read_virtual(options, found, depth)
    _read_precision(options, found)
    _read_sharding(options, found)
    _read_recompute(options, found, depth)
    rates = [as_number(options.take(name)) for name in ("attention_dropout", "hidden_dropout")]
    found.set("dropout", any(rate is None or rate > 0 for rate in rates))
    for name in _FLAGS:
        options.flag(name)


def _read_virtual(options: Options, found: Found, depth: int | None) -> None:
    layers = options.whole("num_layers_per_virtual_pipeline_stage")
    stages = found.get("pipeline_parallel", 1)
    if layers and depth and depth % (stages * layers) == 0:
        found.set("virtual_stages", depth // (stages * layers))
    if found.get("virtual_stages", 1) > 1:
        found.set("schedule", "interleaved")


def _read_precision(options: Options, found: Found) -> None:
    bf16, fp16 = options.flag("bf16"), options.flag("fp16")
    eight = options.take("fp8_format")
    if eight is not None:
        found.set("precision", "fp8")
    else:
        found.set("precision", "bf16-master" if bf16 else "fp16-master" if fp16 else "fp32")


def _read_sharding(options: Options, found: Found) -> None:
    distributed, megatron = (
        options.flag("use_distributed_optimizer"),
        options.flag("use_megatron_fsdp", "use_custom_fsdp"),
    )
    torch = options.flag("use_torch_fsdp2")
    strategy = str(options.take("data_parallel_sharding_strategy") or "no_shard")
    options.take("ckpt_format")
    known = {"optim": "zero1", "optim_grads": "zero2", "optim_grads_params": "fsdp"}
    if megatron:
        found.set("sharding", known.get(strategy, "none"))
    else:
        found.set("sharding", "fsdp" if torch else "zero1" if distributed else "none")


def _read_recompute(options: Options, found: Found, depth: int | None) -> None:
    granularity = options.take("recompute_granularity")
    if options.flag("recompute_activations") and granularity is None:
        granularity = "selective"
    found.set("recompute", granularity or "none", "recompute-granularity")
    method, layers = options.take("recompute_method"), options.whole("recompute_num_layers")
    if found.get("recompute") != "full" or not layers or not depth:
        return
    if method == "block":
        chunk = depth // (found.get("pipeline_parallel", 1) * found.get("virtual_stages", 1))
        found.set("recompute_every", max(1, chunk // layers))
        if chunk % layers:
            found.assume("recompute-rounded", layers=layers, of=chunk)
    elif layers > 1:
        found.assume("recompute-uniform", layers=layers)


_FLAGS = (
    *("mock_data", "no_masked_softmax_fusion", "overlap_grad_reduce", "overlap_param_gather", "use_mcore_models"),
    *("distributed_timeout_minutes", "tp_comm_overlap", "cross_entropy_loss_fusion", "manual_gc", "no_save_optim"),
    *("moe_grouped_gemm", "moe_permute_fusion", "log_throughput", "accumulate_allreduce_grads_in_fp32"),
)

FRAMEWORK = Framework(
    id="megatron-lm",
    name="Megatron-LM",
    version="Megatron Core 0.19",
    source="https://github.com/NVIDIA/Megatron-LM, megatron/training/arguments.py",
    tasks=("train", "finetune"),
    write=write,
    recognise=recognise,
    read=read,
    adapters=False,
    decoders_only=True,
    defaults={"micro_batch_size": 1, "optimizer": "adamw-fused", "sequence_parallel": False, "sharding": "none"},
    harmless=names(
        """
        lr min_lr lr_decay_style lr_warmup_fraction lr_warmup_iters lr_warmup_samples lr_decay_iters weight_decay
        adam_beta1 adam_beta2 clip_grad init_method_std seed save load save_interval eval_interval eval_iters
        log_interval data_path split data_cache_path tensorboard_dir wandb_project wandb_exp_name
        exit_duration_in_mins tokenizer_type tokenizer_model vocab_file merge_file distributed_backend
        transformer_impl rotary_base rotary_percent position_embedding_type norm_epsilon
        moe_router_load_balancing_type moe_aux_loss_coeff moe_token_dispatcher_type make_vocab_size_divisible_by
        train_samples use_rotary_position_embeddings no_rope_fusion lr_decay_samples disable_bias_linear swiglu
        local_rank distributed_timeout_minutes
        """
    ),
)
