"""LLaMA-Factory's YAML.

Option names: LLaMA-Factory 0.9.5, src/llamafactory/hparams, and the Trainer's own names from transformers.
"""

from planner.launch import launcher, pairs, trainer_names
from planner.launch.found import Found
from planner.launch.options import Options, as_number
from planner.launch.pairs import Pair
from planner.launch.render import Line, yaml_text
from planner.launch.types import File, Framework, names
from planner.plan.plan import Plan

ATTENTION = {"eager": "disabled", "sdpa": "sdpa", "flash": "fa2"}
PAIRS = (
    *trainer_names.TRAINER,
    Pair("sequence_length", "cutoff_len"),
    Pair("attention", "flash_attn", ATTENTION, {"fa3": "flash"}),
    Pair("loss", "enable_liger_kernel", {"fused": True, "transformers-5": False}),
    Pair("recompute", "disable_gradient_checkpointing", {"full": False, "none": True}),
)
LORA = (Pair("lora_rank", "lora_rank"), Pair("kbit_upcast", "upcast_layernorm", {True: True, False: False}))
TARGETS = {"all-linear": "all", "attention": "q_proj,k_proj,v_proj,o_proj", "qv": "q_proj,v_proj"}


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """train.yaml; a DeepSpeed configuration comes with LLaMA-Factory's examples."""
    values = plan.values
    lines = [
        Line("model_name_or_path", values["model"]),
        Line("stage", "pt" if values["task"] == "train" else "sft"),
        Line("do_train", True),
        *([Line("train_from_scratch", True)] if values["task"] == "train" else []),
        *_method(plan),
        *pairs.written(plan, PAIRS),
        *_precision(values["precision"]),
    ]
    sharding = values["sharding"] if plan.uses("sharding") else "none"
    stage = {"zero2": 2, "zero3": 3, "fsdp": 3, "hsdp": 3}.get(sharding, 0)
    if stage:
        offload = "_offload" if "none" not in (values["offload_optimizer"], values["offload_parameters"]) else ""
        lines.append(
            Line("deepspeed", f"examples/deepspeed/ds_z{stage}{offload}_config.json", "divide the training state")
        )
    lines += [
        Line(
            "dataset",
            "c4_demo" if values["task"] == "train" else "alpaca_en_demo",
            "your own, as in data/dataset_info.json",
        ),
        Line("template", "default"),
        Line("learning_rate", 0.0001),
        Line("num_train_epochs", 1),
        Line("output_dir", "output"),
    ]
    text = yaml_text(lines, f"Made by GPU Planner for {FRAMEWORK.version}.")
    nodes, each = launcher.nodes(plan)
    several = f"FORCE_TORCHRUN=1 NPROC_PER_NODE={each} " if values["gpus"] > 1 else ""
    where = f"NNODES={nodes} NODE_RANK=$NODE_RANK MASTER_ADDR=$HEAD_NODE " if nodes > 1 else ""
    return (File("train.yaml", text, "yaml"),), f"{several}{where}llamafactory-cli train train.yaml"


def _method(plan: Plan) -> list[Line]:
    values = plan.values
    if values["task"] == "train" or values["method"] in ("full", "adapter"):
        return [Line("finetuning_type", "full")]
    if values["method"] == "frozen":
        stack = plan.spec.text_stack
        trained = max(1, (stack.depth if stack else 1) - values["frozen_layers"])
        return [Line("finetuning_type", "freeze"), Line("freeze_trainable_layers", trained, "the last so many layers")]
    lines = [Line("finetuning_type", "lora"), *pairs.written(plan, LORA), Line("lora_alpha", 2 * values["lora_rank"])]
    lines.append(Line("lora_dropout", 0.05 if values["lora_dropout"] else 0))
    lines.append(Line("lora_target", TARGETS[values["lora_targets"]], "matrices that get an adapter"))
    if values["method"] == "dora":
        lines.append(Line("use_dora", True))
    if values["method"] == "qlora":
        bits = 8 if values["base_format"] == "int8" else 4
        lines += [Line("quantization_bit", bits, "the frozen base"), Line("quantization_method", "bnb")]
        lines += [Line("double_quantization", True)] if bits == 4 else []
    return lines


def _precision(precision: str) -> list[Line]:
    if precision == "bf16":
        return [Line("bf16", True), Line("pure_bf16", True, "no autocast")]
    if precision == "fp8":
        return [Line("bf16", True), Line("fp8", True, "products in FP8")]
    _, bf16, fp16, _ = trainer_names.PRECISIONS[precision]
    return [Line("bf16", bf16), Line("fp16", fp16)]


def recognise(options: Options) -> bool:
    """Its own keys."""
    return options.kind in ("yaml", "json", "shell") and options.has("finetuning_type", "cutoff_len")


def read(options: Options, found: Found) -> None:
    """A YAML, or the same names as flags."""
    launcher.read(options, found)
    scratch, stage = options.flag("train_from_scratch"), str(options.take("stage") or "sft")
    found.set("task", "train" if scratch else "finetune")
    if stage not in ("sft", "pt"):
        found.assume("stage-as-sft", stage=stage)
    name = options.take("model_name_or_path")
    if name is not None:
        found.model(name, "model_name_or_path")
    pairs.read(options, PAIRS, found)
    _read_method(options, found)
    bf16, fp16 = options.flag("bf16"), options.flag("fp16")
    pure, eight = options.flag("pure_bf16"), options.flag("fp8")
    # the trained weights are kept in FP32 unless pure: all of them, or the adapters over a 16-bit base
    adapters = found.get("method") in ("lora", "dora", "qlora")
    autocast = ("bf16-amp" if bf16 else "fp16-amp") if adapters else ("amp-bf16" if bf16 else "amp-fp16")
    found.set("precision", "fp8" if eight else "bf16" if pure else autocast if bf16 or fp16 else "fp32")
    deepspeed = options.take("deepspeed")
    if deepspeed:
        found.elsewhere.append(str(deepspeed)[:100])
        zero = next(
            (stage for stage in (1, 2, 3) if f"z{stage}" in str(deepspeed) or f"zero{stage}" in str(deepspeed)), None
        )
        if zero:
            found.set("sharding", f"zero{zero}")
            for field in ("offload_optimizer", "offload_parameters"):
                found.set(field, "cpu" if "offload" in str(deepspeed) else "none")
    found.steps = options.whole("max_steps")
    options.take("do_train")


def _read_method(options: Options, found: Found) -> None:
    kind = str(options.take("finetuning_type") or "lora")
    if found.get("task") != "finetune":
        return
    bits, dora = options.whole("quantization_bit"), options.flag("use_dora")
    for name in ("quantization_method", "double_quantization", "quantization_type"):
        options.take(name)
    if kind in ("full", "freeze"):
        layers = options.whole("freeze_trainable_layers")
        found.set("method", "frozen" if kind == "freeze" else "full")
        if kind == "freeze" and "model" in found.chosen:
            from planner.models import catalogue as models

            stack = models.model(found.get("model")).text_stack
            found.set("frozen_layers", max(0, (stack.depth if stack else 0) - (layers or 2)))
        return
    found.set("method", "qlora" if bits else "dora" if dora else "lora")
    if bits:
        found.set("base_format", "int8" if bits == 8 else "nf4")
    pairs.read(options, LORA, found)
    found.default("lora_rank", 8)
    if bits and "kbit_upcast" not in found.chosen:
        found.set("kbit_upcast", False)
    found.set("lora_dropout", bool(as_number(options.take("lora_dropout") or 0)))
    targets = trainer_names.targets_of(options.peek("lora_target") or "all")
    if targets:
        options.take("lora_target")
        found.set("lora_targets", targets)


FRAMEWORK = Framework(
    id="llama-factory",
    name="LLaMA-Factory",
    version="LLaMA-Factory 0.9.5",
    source="https://github.com/hiyouga/LLaMA-Factory, src/llamafactory/hparams",
    tasks=("train", "finetune"),
    write=write,
    recognise=recognise,
    read=read,
    defaults={
        "micro_batch_size": 8,
        "sequence_length": 2048,
        "optimizer": "adamw-fused",
        "recompute": "full",
        "sharding": "none",
    },
    harmless=trainer_names.HARMLESS
    | names(
        """
        dataset dataset_dir template lora_alpha max_samples overwrite_cache preprocessing_num_workers plot_loss
        val_size per_device_eval_batch_size trust_remote_code packing cache_dir ddp_timeout eval_dataset
        """
    ),
)
