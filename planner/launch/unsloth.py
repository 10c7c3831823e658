"""Unsloth, as a Python script with TRL.

Option names: Unsloth 2026, `FastLanguageModel.from_pretrained` and `.get_peft_model` (unsloth/models/loader.py,
llama.py), and TRL's `SFTConfig`, which extends `TrainingArguments`.
"""

from planner.launch import hugging_face, launcher, pairs, trainer_names
from planner.launch.found import Found
from planner.launch.options import Options, as_number
from planner.launch.pairs import Pair
from planner.launch.render import Code, Line, python_call
from planner.launch.types import File, Framework, names
from planner.plan.plan import Plan

MODULES = {
    "all-linear": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    "attention": ["q_proj", "k_proj", "v_proj", "o_proj"],
    "qv": ["q_proj", "v_proj"],
}
TRAINER = tuple(pair for pair in trainer_names.TRAINER if pair.field != "compiled")
CHECKPOINTING = Pair("recompute", "use_gradient_checkpointing", {"full": True, "none": False}, {"unsloth": "full"})

_HEAD = '''"""Made by GPU Planner for {version}. Put your text, one sample a line, in train.txt."""

from unsloth import FastLanguageModel  # first, so that it can patch the others

import torch
from datasets import load_dataset
from trl import SFTConfig, SFTTrainer
'''
_TAIL = """
data = load_dataset("text", data_files="train.txt", split="train")
SFTTrainer(model=model, processing_class=tokenizer, args=arguments, train_dataset=data).train()
"""


def write(plan: Plan) -> tuple[tuple[File, ...], str]:
    """train.py."""
    values = plan.values
    adapters = values["task"] == "finetune" and values["method"] in ("lora", "dora", "qlora")
    quantised = adapters and values["method"] == "qlora"
    load = [
        Line("model_name", values["model"]),
        Line("max_seq_length", values["sequence_length"], "tokens per sequence"),
        Line("dtype", Code(f"torch.{trainer_names.PRECISIONS[values['precision']][0]}")),
        Line("load_in_4bit", quantised and values["base_format"] != "int8", "the frozen base, quantised as it loads"),
        Line("load_in_8bit", quantised and values["base_format"] == "int8"),
        Line("full_finetuning", not adapters),
    ]
    if not adapters:
        load += pairs.written(plan, (CHECKPOINTING,))
    parts = [
        _HEAD.format(version=FRAMEWORK.version),
        python_call("model, tokenizer", "FastLanguageModel.from_pretrained", load),
    ]
    if adapters:
        lines = [
            Line("model", Code("model")),
            Line("r", values["lora_rank"], "rank of the adapters"),
            Line("lora_alpha", 2 * values["lora_rank"]),
            Line("lora_dropout", 0.05 if values["lora_dropout"] else 0),
            Line("target_modules", MODULES[values["lora_targets"]], "matrices that get an adapter"),
            *pairs.written(plan, (CHECKPOINTING,)),
        ]
        parts.append(python_call("model", "FastLanguageModel.get_peft_model", lines))
    _, bf16, fp16, _ = trainer_names.PRECISIONS[values["precision"]]
    trainer = [Line("output_dir", "output"), Line("dataset_text_field", "text"), *pairs.written(plan, TRAINER)]
    trainer += [Line("max_length", values["sequence_length"]), Line("bf16", bf16), Line("fp16", fp16)]
    parts += [python_call("arguments", "SFTConfig", trainer), _TAIL]
    command = launcher.torchrun(plan, "train.py") if values["gpus"] > 1 else "python train.py"
    return (File("train.py", "\n".join(parts), "python"),), command


def recognise(options: Options) -> bool:
    """A call of unsloth's own classes' methods."""
    return options.kind == "python" and (
        options.has("get_peft_model.use_gradient_checkpointing", "from_pretrained.full_finetuning")
        or (options.has("from_pretrained.max_seq_length"))
    )


def read(options: Options, found: Found) -> None:
    """A script."""
    found.set("task", "finetune")
    found.set("loss", "in-place")
    found.assume("engine-own", field="loss", value="in-place")
    load, peft = "from_pretrained", "get_peft_model"
    name = str(options.take(f"{load}.model_name", f"{load}.0") or "")
    for suffix in ("-unsloth-bnb-4bit", "-bnb-4bit"):
        name = name.removesuffix(suffix)
    if name:
        found.model(name, "model_name")
    length = options.whole(f"{load}.max_seq_length", "SFTConfig.max_length", "SFTConfig.max_seq_length")
    if length:
        found.set("sequence_length", length)
    four, eight, full = (
        options.flag(f"{load}.{option}") for option in ("load_in_4bit", "load_in_8bit", "full_finetuning")
    )
    four = four if four is not None else not (eight or full)
    if options.has(f"{peft}()") and not full:
        found.set("method", "qlora" if four or eight else "lora")
        if four or eight:
            found.set("base_format", "int8" if eight and not four else "nf4")
            found.set("kbit_upcast", False)
        found.set("lora_rank", options.whole(f"{peft}.r") or 16)
        found.set("lora_dropout", bool(as_number(options.take(f"{peft}.lora_dropout") or 0)))
        targets = trainer_names.targets_of(options.peek(f"{peft}.target_modules") or MODULES["all-linear"])
        if targets:
            options.take(f"{peft}.target_modules")
            found.set("lora_targets", targets)
    else:
        found.set("method", "full")
    calls = ("SFTConfig", "TrainingArguments")
    pairs.read(options, hugging_face.prefixed(TRAINER, *calls), found)
    given = options.take(f"{peft}.use_gradient_checkpointing", f"{load}.use_gradient_checkpointing")
    found.set("recompute", "none" if given in (False, "False", "") else "full")
    flags = [options.flag(*(f"{call}.{name}" for call in calls)) for name in ("bf16", "fp16", "tf32")]
    found.set("precision", trainer_names.precision_of(options.take(f"{load}.dtype"), *flags))
    found.set("sharding", "none")
    for option in options.rest:
        if option.partition(".")[0] not in (*calls, peft) or option.endswith("()"):
            options.take(option)


FRAMEWORK = Framework(
    id="unsloth",
    name="Unsloth",
    version="Unsloth 2026, TRL, transformers 5",
    source="https://unsloth.ai/docs",
    tasks=("finetune",),
    write=write,
    recognise=recognise,
    read=read,
    decoders_only=True,
    defaults={"micro_batch_size": 8, "optimizer": "adamw-8bit"},
    harmless=trainer_names.HARMLESS
    | names("lora_alpha bias random_state use_rslora loftq_config dataset_num_proc packing model max_length 0 1"),
)
