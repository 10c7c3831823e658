"""DeepSpeed's JSON configuration, beside a Hugging Face script.

Option names: DeepSpeed 0.19, deepspeed/runtime/config.py, runtime/zero/config.py, runtime/zero/offload_config.py.
"""

from collections.abc import Mapping

from planner.launch import hugging_face, launcher, pairs
from planner.launch.found import Found
from planner.launch.options import Options
from planner.launch.pairs import Pair
from planner.launch.render import Line, json_text
from planner.launch.types import File, Framework, names
from planner.plan.plan import Plan

STAGES: Mapping[str, int] = {"none": 0, "zero1": 1, "zero2": 2, "zero3": 3, "fsdp": 3, "hsdp": 3}

PAIRS = (
    Pair("micro_batch_size", "train_micro_batch_size_per_gpu"),
    Pair("gradient_accumulation_steps", "gradient_accumulation_steps"),
    Pair("tensor_parallel", "tensor_parallel.autotp_size"),
)
ZERO = Pair("sharding", "zero_optimization.stage", STAGES)
OFFLOAD = (
    Pair(
        "offload_optimizer",
        "zero_optimization.offload_optimizer.device",
        {"none": "none", "cpu": "cpu", "nvme": "nvme"},
    ),
    Pair(
        "offload_parameters", "zero_optimization.offload_param.device", {"none": "none", "cpu": "cpu", "nvme": "nvme"}
    ),
)
OPTIMIZERS: Mapping[str, str] = {
    "adamw": "adamw-fused",
    "adam": "adamw-fused",
    "lion": "lion",
    "muon": "muon",
    "sgd": "sgd",
}


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """ds_config.json and train.py. The optimizer stays the script's."""
    values = plan.values
    offloads = {pair.field: values[pair.field] for pair in OFFLOAD}
    stage = STAGES[values["sharding"]] if plan.uses("sharding") else 0
    if offloads["offload_parameters"] != "none":
        stage = 3
    elif offloads["offload_optimizer"] != "none":
        stage = max(stage, 2)
    lines = [
        line for line in pairs.written(plan, PAIRS) if line.name != "tensor_parallel.autotp_size" or line.value > 1
    ]
    lines += [*_precision(values["precision"]), Line("zero_optimization.stage", stage)]
    if stage >= 2:
        lines += [Line("zero_optimization.overlap_comm", True), Line("zero_optimization.contiguous_gradients", True)]
    if stage == 3:
        lines.append(Line("zero_optimization.stage3_gather_16bit_weights_on_model_save", True))
    for line in pairs.written(plan, OFFLOAD):
        if line.value == "none":
            continue
        parent = line.name.rpartition(".")[0]
        lines += [line, Line(f"{parent}.pin_memory", True)]
        lines += [Line(f"{parent}.nvme_path", "/local_nvme")] if line.value == "nvme" else []
    lines += [Line("zero_allow_untested_optimizer", True), Line("zero_force_ds_cpu_optimizer", False)]
    script = hugging_face.script(plan, sharded=False, beside="ds_config.json")
    command = launcher.torchrun(plan, "train.py")
    return (File("train.py", script, "python"), File("ds_config.json", json_text(lines), "json")), command


def _precision(precision: str) -> list[Line]:
    if precision.startswith("amp-"):
        dtype = {"amp-bf16": "bfloat16", "amp-fp16": "float16"}[precision]
        return [Line("torch_autocast.enabled", True), Line("torch_autocast.dtype", dtype)]
    if precision.startswith("fp16"):
        return [Line("fp16.enabled", True)]
    if precision in ("fp32", "tf32"):
        return [Line("bf16.enabled", False)]
    pure = [Line("bf16.bf16_master_weights_and_grads", True), Line("bf16.bf16_optimizer_states", True)]
    return [Line("bf16.enabled", True), *(pure if precision == "bf16" else ())]


def recognise(options: Options) -> bool:
    """Any of the keys that no other JSON has."""
    return options.kind in ("json", "yaml") and (
        options.has("train_micro_batch_size_per_gpu", "train_batch_size")
        or (bool(options.under("zero_optimization")) and not options.has("compute_environment"))
    )


def read(options: Options, found: Found) -> None:
    """Values that are "auto" are left to the trainer."""
    auto = [name for name, value in options.rest.items() if value == "auto"]
    if auto:
        found.assume("auto-left", options=", ".join(auto[:6]))
        for name in auto:
            options.take(name)
    pairs.read(options, (*PAIRS, ZERO, *OFFLOAD), found)
    whole = options.whole("train_batch_size")
    if whole and "gradient_accumulation_steps" not in found.chosen:
        found.global_batch = whole
    group = options.whole("zero_optimization.mics_shard_size")
    if group and group > 0:
        found.set("sharding", "hsdp")
        found.set("shard_group", group)
    _read_precision(options, found)
    kind = options.take("optimizer.type")
    if kind is not None:
        torch = options.flag("optimizer.params.torch_adam")
        known = OPTIMIZERS.get(str(kind).lower())
        found.set("optimizer", "adamw" if torch and known == "adamw-fused" else known or kind, "optimizer.type")
    for name in ("optimizer.params", "scheduler", "fp16", "bf16", "activation_checkpointing"):
        for below in options.under(name):
            if below.rsplit(".", 1)[-1] in _HARMLESS_BELOW:
                options.take(below)


def _read_precision(options: Options, found: Found) -> None:
    bf16 = options.flag("bf16.enabled", "bfloat16.enabled")
    fp16 = options.flag("fp16.enabled")
    autocast = options.flag("torch_autocast.enabled")
    dtype = str(options.take("torch_autocast.dtype") or "bfloat16")
    pure = options.flag("bf16.bf16_master_weights_and_grads")
    options.flag("bf16.bf16_optimizer_states")
    if autocast:
        found.set("precision", "amp-fp16" if "float16" in dtype.replace("bfloat16", "") else "amp-bf16")
    elif bf16:
        found.set("precision", "bf16" if pure else "bf16-master")
    elif fp16:
        found.set("precision", "fp16-master")
    elif (bf16 is False or fp16 is False) and found.get("precision") not in ("fp32", "tf32"):
        found.set("precision", "fp32")


_HARMLESS_BELOW = names(
    """
    lr betas eps weight_decay loss_scale loss_scale_window initial_scale_power hysteresis min_loss_scale warmup_min_lr
    warmup_max_lr warmup_num_steps total_num_steps type auto_cast
    """
)

FRAMEWORK = Framework(
    id="deepspeed",
    name="DeepSpeed",
    version="DeepSpeed 0.19, transformers 5.24",
    source="https://www.deepspeed.ai/docs/config-json/",
    tasks=("train", "finetune"),
    write=write,
    recognise=recognise,
    read=read,
    defaults={"gradient_accumulation_steps": 1, "sharding": "none"},
    harmless=names(
        """
        gradient_clipping steps_per_print wall_clock_breakdown overlap_comm contiguous_gradients reduce_scatter
        reduce_bucket_size allgather_partitions allgather_bucket_size stage3_prefetch_bucket_size sub_group_size
        stage3_param_persistence_threshold stage3_max_live_parameters stage3_max_reuse_distance pin_memory nvme_path
        stage3_gather_16bit_weights_on_model_save round_robin_gradients zero_allow_untested_optimizer
        zero_force_ds_cpu_optimizer buffer_count buffer_size prescale_gradients
        """
    ),
    companion=True,
)
