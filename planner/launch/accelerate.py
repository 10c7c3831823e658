"""accelerate's YAML, beside a Hugging Face script.

Option names: accelerate 1.15, `ClusterConfig`, and the flags of `accelerate launch` for fsdp_config and
parallelism_config.
"""

from planner.launch import hugging_face, launcher, trainer_names
from planner.launch.found import Found
from planner.launch.options import Options
from planner.launch.render import Line, yaml_text
from planner.launch.types import File, Framework, names
from planner.plan.plan import Plan


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """accelerate.yaml and train.py."""
    values = plan.values
    nodes, each = launcher.nodes(plan)
    sharding = values["sharding"] if plan.uses("sharding") else "none"
    shards = sharding in ("fsdp", "hsdp", "zero2", "zero3")
    kind = "FSDP" if shards else "MULTI_GPU" if values["gpus"] > 1 else "NO"
    lines = [
        Line("compute_environment", "LOCAL_MACHINE"),
        Line("distributed_type", kind),
        Line("mixed_precision", _mixed(values["precision"]), "dtype of the products"),
        Line("num_machines", nodes),
        Line("num_processes", nodes * each, "GPUs in all"),
        Line("machine_rank", 0, "give each machine its own: --machine_rank"),
        Line("main_training_function", "main"),
        Line("rdzv_backend", "static"),
    ]
    if values["precision"] == "fp8":
        lines += [Line("fp8_config.backend", "TE"), Line("fp8_config.fp8_format", "HYBRID")]
    if shards:
        lines += [
            Line("fsdp_config.fsdp_version", 2),
            Line("fsdp_config.fsdp_reshard_after_forward", sharding != "zero2", "divide the parameters, too"),
            Line("fsdp_config.fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP"),
            Line("fsdp_config.fsdp_offload_params", values["offload_parameters"] == "cpu", "state waits on the host"),
            Line("fsdp_config.fsdp_cpu_ram_efficient_loading", True),
            Line("fsdp_config.fsdp_state_dict_type", "SHARDED_STATE_DICT"),
        ]
    sizes = hugging_face.mesh(plan)
    if sharding == "hsdp" or sizes["tp_size"] * sizes["cp_size"] > 1:
        lines += [Line(f"parallelism_config.parallelism_config_{name}", size) for name, size in sizes.items()]
    script = hugging_face.script(plan, sharded=False)
    head = f"Made by GPU Planner for {FRAMEWORK.version}."
    files = (File("train.py", script, "python"), File("accelerate.yaml", yaml_text(lines, head), "yaml"))
    where = " --machine_rank $NODE_RANK --main_process_ip $HEAD_NODE --main_process_port 29500" if nodes > 1 else ""
    return files, f"accelerate launch --config_file accelerate.yaml{where} train.py"


def _mixed(precision: str) -> str:
    if precision == "fp8":
        return "fp8"
    _, bf16, fp16, _ = trainer_names.PRECISIONS[precision]
    return "bf16" if bf16 else "fp16" if fp16 else "no"


def recognise(options: Options) -> bool:
    """The YAML's first key, or accelerate launch with its own flags."""
    return options.kind in ("yaml", "json") and options.has("compute_environment", "distributed_type")


def read(options: Options, found: Found) -> None:
    """The machine, the precision, and how the state is divided."""
    launcher.read(options, found)
    mixed = str(options.take("mixed_precision") or "no").lower()
    if mixed in ("false", "no"):
        mixed = "no"
    if mixed == "fp8":
        found.set("precision", "fp8")
        for name in options.under("fp8_config"):
            options.take(name)
    elif "precision" not in found.chosen:
        found.set("precision", {"bf16": "amp-bf16", "fp16": "amp-fp16"}.get(mixed, "fp32"))
    kind = str(options.take("distributed_type") or "NO").upper()
    if kind == "FSDP":
        _read_fsdp(options, found)
    elif kind == "DEEPSPEED":
        _read_deepspeed(options, found)
    else:
        found.set("sharding", "none")
    accumulation = options.whole("gradient_accumulation_steps")
    if accumulation and "gradient_accumulation_steps" not in found.chosen:
        found.set("gradient_accumulation_steps", accumulation)
    at = "parallelism_config.parallelism_config_"
    hugging_face.read_mesh({name: options.whole(f"{at}{name}") for name in hugging_face.MESH}, found)


def _read_fsdp(options: Options, found: Found) -> None:
    at = "fsdp_config.fsdp_"
    given = options.take(f"{at}reshard_after_forward", f"{at}sharding_strategy")
    reshard = "TRUE" if given is None else str(given).upper()
    known = {
        "TRUE": "fsdp",
        "FALSE": "zero2",
        "FULL_SHARD": "fsdp",
        "1": "fsdp",
        "SHARD_GRAD_OP": "zero2",
        "2": "zero2",
    }
    known |= {"HYBRID_SHARD": "hsdp", "NO_SHARD": "none", "3": "none", "4": "hsdp"}
    found.set("sharding", known.get(reshard, "fsdp"))
    offload = options.flag(f"{at}offload_params")
    for field in ("offload_parameters", "offload_optimizer"):
        found.set(field, "cpu" if offload else "none")
    if options.flag(f"{at}activation_checkpointing"):
        found.set("recompute", "full")


def _read_deepspeed(options: Options, found: Found) -> None:
    stage = options.whole("deepspeed_config.zero_stage")
    if stage is not None:
        found.set("sharding", "none" if stage == 0 else f"zero{stage}", "zero_stage")
    for field, name in (
        ("offload_optimizer", "offload_optimizer_device"),
        ("offload_parameters", "offload_param_device"),
    ):
        device = options.take(f"deepspeed_config.{name}")
        if device is not None:
            found.set(field, device, name)
    steps = options.whole("deepspeed_config.gradient_accumulation_steps")
    if steps:
        found.set("gradient_accumulation_steps", steps)
    file = options.take("deepspeed_config.deepspeed_config_file")
    if file is not None:
        found.elsewhere.append(str(file)[:100])


FRAMEWORK = Framework(
    id="accelerate",
    name="accelerate",
    version="accelerate 1.15, transformers 5.24",
    source="https://huggingface.co/docs/accelerate/package_reference/cli",
    tasks=("train", "finetune"),
    write=write,
    recognise=recognise,
    read=read,
    harmless=names(
        """
        compute_environment machine_rank main_training_function rdzv_backend same_network use_cpu debug downcast_bf16
        fsdp_version fsdp_auto_wrap_policy fsdp_cpu_ram_efficient_loading fsdp_state_dict_type tpu_env main_process_ip
        main_process_port fsdp_transformer_layer_cls_to_wrap fsdp_use_orig_params fsdp_sync_module_states gpu_ids
        fsdp_backward_prefetch fsdp_forward_prefetch tpu_use_cluster tpu_use_sudo tpu_name tpu_zone
        enable_cpu_affinity gradient_clipping zero3_init_flag zero3_save_16bit_model deepspeed_multinode_launcher
        """
    ),
    companion=True,
)
