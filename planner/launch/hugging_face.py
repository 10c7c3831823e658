"""Hugging Face TrainingArguments, PEFT and bitsandbytes, as a Python script.

Option names: transformers 5.24, `TrainingArguments`; peft 0.21, `LoraConfig`; accelerate 1.15, `ParallelismConfig`.
Several other trainers take the same names, so the tables here are shared.
"""

from collections.abc import Mapping

from planner.launch import launcher, pairs, trainer_names
from planner.launch.found import Found
from planner.launch.options import Options, as_flag, as_number
from planner.launch.pairs import Pair
from planner.launch.render import Code, Line, python_call, python_value
from planner.launch.types import File, Framework
from planner.models.spec import ModelTask
from planner.plan.plan import Plan

VERSION = "transformers 5.24, peft 0.21, accelerate 1.15"

# Out


def script(plan: Plan, sharded: bool = True, beside: str = "") -> str:
    """A complete training script. `sharded`: it says itself how the state is divided, else a configuration does, which
    is `beside` it where the trainer must be told of it.
    """
    values = plan.values
    trainer = [
        Line("max_steps", launcher.steps(plan), "the plan's tokens"),
        Line("output_dir", "output"),
        *pairs.written(plan, trainer_names.TRAINER),
        *_precision_lines(plan, sharded),
    ]
    trainer += [] if sharded and fsdp_recomputes(plan) else pairs.written(plan, trainer_names.CHECKPOINTING)
    trainer += [*pairs.written(plan, (trainer_names.LIGER,)), *(_sharding_lines(plan) if sharded else ())]
    trainer += [Line("deepspeed", beside)] if beside else []
    adapters = values["task"] == "finetune" and values["method"] in ("lora", "dora", "qlora")
    parts = [_HEAD.format(version=VERSION, imports=_imports(plan, adapters, sharded))]
    parts.append(f"MODEL = {python_value(values['model'])}")
    parts.append(f"SEQUENCE_LENGTH = {values['sequence_length']}  # tokens per sequence\n")
    parts.append(python_call("arguments", "TrainingArguments", trainer) + "\n")
    parts.append(_model_text(plan))
    if adapters:
        parts.append(_adapter_text(plan))
    return "\n".join((*parts, _TAIL.format(mlm=plan.spec.task is ModelTask.ENCODER)))


_HEAD = '''"""Made by GPU Planner for {version}. Put your text, one sample a line, in train.txt."""

{imports}
'''
_TAIL = """
tokenizer = AutoTokenizer.from_pretrained(MODEL)
tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token


def tokenize(batch):
    return tokenizer(batch["text"], truncation=True, max_length=SEQUENCE_LENGTH)


data = load_dataset("text", data_files="train.txt", split="train").map(tokenize, batched=True, remove_columns=["text"])
collator = DataCollatorForLanguageModeling(tokenizer, mlm={mlm})
Trainer(model=model, args=arguments, train_dataset=data, data_collator=collator).train()
"""


def _imports(plan: Plan, adapters: bool, sharded: bool) -> str:
    names = ["AutoTokenizer", "DataCollatorForLanguageModeling", "Trainer", "TrainingArguments", _auto_class(plan)]
    names += ["AutoConfig"] if plan.values["task"] == "train" else []
    names += ["BitsAndBytesConfig"] if _quantised(plan) else []
    lines = ["import torch", "from datasets import load_dataset"]
    if sharded and _parallel(plan):
        lines.insert(1, "from accelerate import ParallelismConfig")
    if adapters:
        kbit = ", prepare_model_for_kbit_training" if _quantised(plan) and plan.values["kbit_upcast"] else ""
        lines.append(f"from peft import LoraConfig, get_peft_model{kbit}")
    lines.append("from transformers import (\n" + "".join(f"    {name},\n" for name in sorted(names)) + ")")
    return "\n".join(lines)


def _auto_class(plan: Plan) -> str:
    return {
        ModelTask.ENCODER: "AutoModelForMaskedLM",
        ModelTask.SEQ2SEQ: "AutoModelForSeq2SeqLM",
        ModelTask.MULTIMODAL: "AutoModelForImageTextToText",
    }.get(plan.spec.task, "AutoModelForCausalLM")


def _quantised(plan: Plan) -> bool:
    return plan.uses("base_format") and plan.values["base_format"] in ("nf4", "int8")


def _precision_lines(plan: Plan, sharded: bool) -> list[Line]:
    _, bf16, fp16, tf32 = trainer_names.PRECISIONS[plan.values["precision"]]
    bf16 = bf16 and (sharded or plan.values["precision"] != "fp8")  # a configuration beside the script sets FP8
    lines = [Line("bf16", bf16, "autocast to BF16"), Line("fp16", fp16)]
    return [*lines, Line("tf32", tf32)] if tf32 else lines


def _fsdp(plan: Plan) -> bool:
    return plan.uses("sharding") and plan.values["sharding"] in ("fsdp", "hsdp", "zero2")


def fsdp_recomputes(plan: Plan) -> bool:
    """Whether FSDP's own checkpointing serves: it knows all layers or none."""
    return _fsdp(plan) and plan.values["recompute"] == "full" and plan.values["recompute_every"] == 1


def _parallel(plan: Plan) -> bool:
    sizes = mesh(plan)
    return sizes["tp_size"] * sizes["cp_size"] > 1 or (plan.uses("shard_group") and plan.values["sharding"] == "hsdp")


def _sharding_lines(plan: Plan) -> list[Line]:
    lines = []
    if _fsdp(plan):
        lines += [
            Line("fsdp", True, "divide parameters, gradients and optimizer states (FSDP2)"),
            Line("fsdp_config.version", 2),
            Line("fsdp_config.reshard_after_forward", plan.values["sharding"] != "zero2"),
            Line("fsdp_config.auto_wrap_policy", "TRANSFORMER_BASED_WRAP"),
            Line("fsdp_config.activation_checkpointing", fsdp_recomputes(plan)),
            Line("fsdp_config.cpu_offload", plan.values["offload_parameters"] == "cpu"),
        ]
    if _parallel(plan):
        sizes = ", ".join(f"{name}={size}" for name, size in mesh(plan).items())
        lines.append(Line("parallelism_config", Code(f"ParallelismConfig({sizes})"), "the mesh of GPUs"))
    return lines


def mesh(plan: Plan) -> dict[str, int]:
    """Sizes of accelerate's device mesh."""
    values = plan.values
    loaded = values["task"] == "finetune"  # a model made from its configuration has no tensor-parallel plan
    tensor = values["tensor_parallel"] if plan.uses("tensor_parallel") and loaded else 1
    context = values["context_parallel"] if plan.uses("context_parallel") else 1
    data = max(1, values["gpus"] // (tensor * context))
    sharding = values["sharding"] if plan.uses("sharding") else "none"
    shard = min(values["shard_group"], data) if sharding == "hsdp" else 1 if sharding in ("none", "zero1") else data
    return {"dp_replicate_size": data // shard, "dp_shard_size": shard, "tp_size": tensor, "cp_size": context}


def _model_text(plan: Plan) -> str:
    dtype = Line(
        "dtype",
        Code(f"torch.{trainer_names.PRECISIONS[plan.values['precision']][0]}"),
        "dtype of the weights as loaded",
    )
    attention = (
        [Line("attn_implementation", trainer_names.ATTENTION[plan.values["attention"]])]
        if plan.uses("attention")
        else []
    )
    if plan.values["task"] == "train":
        first = Line("config", Code("AutoConfig.from_pretrained(MODEL)"))
        return python_call("model", f"{_auto_class(plan)}.from_config", [first, dtype, *attention])
    quantised = [Line("tp_plan", "auto")] if mesh(plan)["tp_size"] > 1 else []
    if _quantised(plan):
        kind = {"nf4": Code(_NF4), "int8": Code("BitsAndBytesConfig(load_in_8bit=True)")}[plan.values["base_format"]]
        quantised += [Line("quantization_config", kind, "the frozen base, quantised as it loads")]
    name = Line("pretrained_model_name_or_path", Code("MODEL"))
    return python_call("model", f"{_auto_class(plan)}.from_pretrained", [name, dtype, *attention, *quantised])


_NF4 = (
    'BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, '
    "bnb_4bit_compute_dtype=torch.bfloat16)"
)


def _adapter_text(plan: Plan) -> str:
    values = plan.values
    lines = [
        Line("task_type", "CAUSAL_LM"),
        Line("r", values["lora_rank"], "rank of the adapters"),
        Line("lora_alpha", 2 * values["lora_rank"]),
        Line("lora_dropout", 0.05 if values["lora_dropout"] else 0.0),
        Line("target_modules", trainer_names.TARGETS[values["lora_targets"]], "matrices that get an adapter"),
        Line("use_dora", values["method"] == "dora"),
    ]
    prepare = ""
    if _quantised(plan) and values["kbit_upcast"]:
        prepare = "model = prepare_model_for_kbit_training(model)  # norms, embeddings and head in FP32\n"
    peft = f"model = get_peft_model(model, adapters, autocast_adapter_dtype={values['adapter_fp32']})"
    return prepare + python_call("adapters", "LoraConfig", lines) + "\n" + peft


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """train.py, and the command that starts it on every GPU."""
    command = launcher.torchrun(plan, "train.py") if plan.values["gpus"] > 1 else "python train.py"
    return (File("train.py", script(plan), "python"),), command


# In


def recognise(options: Options) -> bool:
    """A Python text with TrainingArguments (or TRL's SFTConfig), or their names as flags or keys."""
    if options.kind == "python":
        return options.has("TrainingArguments()", "SFTConfig()", "LoraConfig()", "from_pretrained.attn_implementation")
    return options.has("per_device_train_batch_size", "model_name_or_path") and not options.has("cutoff_len", "stage")


def prefixed(table: tuple[Pair, ...], *calls: str) -> tuple[Pair, ...]:
    """The same pairs as arguments of a Python call, or of any of several."""
    first = calls[0]
    return tuple(
        Pair(
            pair.field,
            f"{first}.{pair.option}",
            pair.words,
            pair.also,
            tuple(f"{call}.{name}" for call in calls for name in (pair.option, *pair.aliases))[1:],
        )
        for pair in table
    )


def read(options: Options, found: Found) -> None:
    """A script, or TrainingArguments as flags, YAML or JSON."""
    launcher.read(options, found)
    call = ("TrainingArguments", "SFTConfig") if options.kind == "python" else ("",)
    table = (*trainer_names.TRAINER, *trainer_names.CHECKPOINTING, trainer_names.LIGER)
    pairs.read(options, prefixed(table, *call) if call != ("",) else table, found)
    at = [f"{name}." if name else "" for name in call]
    flags = [options.flag(*(f"{prefix}{name}" for prefix in at)) for name in ("bf16", "fp16", "tf32")]
    dtype = options.take(
        "from_pretrained.dtype", "from_pretrained.torch_dtype", "from_config.dtype", "dtype", "torch_dtype"
    )
    if dtype is not None or any(flag is not None for flag in flags) or options.has("TrainingArguments()"):
        found.set("precision", trainer_names.precision_of(dtype, *flags))
    length = options.whole(
        *(f"{p}{n}" for p in at for n in ("max_length", "max_seq_length", "block_size")), "SEQUENCE_LENGTH"
    )
    if length:
        found.set("sequence_length", length, "max_length")
    found.steps = options.whole(*(f"{prefix}max_steps" for prefix in at)) or found.steps
    found.steps = found.steps if (found.steps or 0) > 0 else None
    _read_model(options, found)
    read_adapters(options, found)
    for prefix in at:
        _read_sharding(options, found, prefix)
    for name in list(options.rest):
        if (
            (options.kind == "python" and name.partition(".")[0] not in (*call, "LoraConfig", "BitsAndBytesConfig"))
            or name.rsplit(".", 1)[-1] in ("task_type", "lora_alpha", "bias", "bnb_4bit_compute_dtype")
            or name.endswith("()")
        ):
            options.take(name)


def _read_model(options: Options, found: Found) -> None:
    names = (
        "from_pretrained.0",
        "from_pretrained.pretrained_model_name_or_path",
        "model_name_or_path",
        "from_pretrained.model_name",
        "MODEL",
    )
    name = options.take("MODEL") or options.take(*names)
    if name is not None:
        found.model(name, "model")
    kernel = options.take(
        "from_pretrained.attn_implementation", "from_config.attn_implementation", "attn_implementation"
    )
    if kernel is not None:
        known = {theirs: mine for mine, theirs in trainer_names.ATTENTION.items()} | dict(trainer_names.MORE_ATTENTION)
        if str(kernel) in known:
            found.set("attention", known[str(kernel)])
    found.set("task", "train" if options.has("from_config()", "config_name") else "finetune")


def read_adapters(options: Options, found: Found) -> None:
    """PEFT's LoraConfig and bitsandbytes' options, in Python or as TRL's flags."""
    rank = options.whole("LoraConfig.r", "get_peft_model.r", "lora_r")
    use_peft = options.flag("use_peft")
    if not (rank or use_peft or options.has("LoraConfig()")):
        if found.get("task") == "finetune":
            found.set("method", "full")
        return
    found.set("lora_rank", rank or 8)
    if rank is None:
        found.assume("framework-default", field="lora_rank", value=8)
    dropout = options.take("LoraConfig.lora_dropout", "get_peft_model.lora_dropout", "lora_dropout")
    found.set("lora_dropout", bool(as_number(dropout or 0)))
    targets = trainer_names.targets_of(options.peek("LoraConfig.target_modules") or options.peek("lora_target_modules"))
    if targets:
        options.take("LoraConfig.target_modules", "lora_target_modules")
        found.set("lora_targets", targets)
    elif not options.has("LoraConfig.target_modules", "lora_target_modules"):
        found.set("lora_targets", "qv")  # peft's own targets for the Llama family
        found.assume("framework-default", field="lora_targets", value="qv")
    four = options.flag("BitsAndBytesConfig.load_in_4bit", "from_pretrained.load_in_4bit", "load_in_4bit")
    eight = options.flag("BitsAndBytesConfig.load_in_8bit", "from_pretrained.load_in_8bit", "load_in_8bit")
    for name in ("bnb_4bit_quant_type", "bnb_4bit_use_double_quant"):
        options.take(f"BitsAndBytesConfig.{name}", name)
    dora = options.flag("LoraConfig.use_dora", "use_dora")
    found.set("method", "qlora" if four or eight else "dora" if dora else "lora")
    if four or eight:
        found.set("base_format", "nf4" if four else "int8")
        if options.kind == "python":
            found.set("kbit_upcast", options.has("prepare_model_for_kbit_training()"))
    kept = as_flag(options.take("get_peft_model.autocast_adapter_dtype"))
    found.set("adapter_fp32", True if kept is None else kept)


def _read_sharding(options: Options, found: Found, prefix: str) -> None:
    deepspeed = options.take(f"{prefix}deepspeed")
    if deepspeed not in (None, False, ""):
        found.elsewhere.append(str(deepspeed)[:100])
    given = options.take(f"{prefix}fsdp")
    at = f"{prefix}fsdp_config"
    if given not in (None, "", False):
        words = str(given)
        kept = options.flag(f"{at}.reshard_after_forward") is False or "shard_grad_op" in words
        found.set("sharding", "zero2" if kept else "hsdp" if "hybrid" in words else "fsdp")
        if options.flag(f"{at}.activation_checkpointing") is not None:
            on = as_flag(options.peek(f"{at}.activation_checkpointing"))
            found.set("recompute", "full" if on else found.get("recompute", "none"))
        offload = options.flag(f"{at}.cpu_offload", f"{at}.offload_params")
        for field in ("offload_parameters", "offload_optimizer"):
            found.set(field, "cpu" if offload or "offload" in words else "none")
        for name in ("version", "auto_wrap_policy", "transformer_layer_cls_to_wrap", "state_dict_type"):
            options.take(f"{at}.{name}")
    options.take(f"{prefix}parallelism_config")
    read_mesh({name: options.whole(f"ParallelismConfig.{name}") for name in MESH}, found)


MESH = ("dp_replicate_size", "dp_shard_size", "tp_size", "cp_size")


def read_mesh(sizes: Mapping[str, int | None], found: Found) -> None:
    """accelerate's device mesh."""
    replicas, shard, tensor, context = (sizes.get(name) for name in MESH)
    if tensor:
        found.set("tensor_parallel", tensor)
    if context:
        found.set("context_parallel", context)
    if shard and shard > 1 and (replicas or 1) > 1:
        found.set("sharding", "hsdp")
        found.set("shard_group", shard)
    if "gpus" not in found.chosen and any(size and size > 1 for size in sizes.values()):
        found.set("gpus", (replicas or 1) * (shard or 1) * (tensor or 1) * (context or 1))


FRAMEWORK = Framework(
    id="hugging-face",
    name="Hugging Face Trainer, PEFT",
    version=VERSION,
    source="https://huggingface.co/docs/transformers/main_classes/trainer",
    tasks=("train", "finetune"),
    write=write,
    recognise=recognise,
    read=read,
    defaults={"micro_batch_size": 8, "optimizer": "adamw-fused", "recompute": "none", "sharding": "none", "workers": 0},
    harmless=trainer_names.HARMLESS,
    general=True,
)
