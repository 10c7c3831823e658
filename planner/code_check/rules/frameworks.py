"""Arguments of Hugging Face's and Lightning's trainers."""

import ast

from planner.code_check.finding import Hit, Hits
from planner.code_check.names import constant, keyword, lacks, last
from planner.code_check.program import Program

_ARGUMENTS = ("TrainingArguments", "Seq2SeqTrainingArguments", "SFTConfig", "DPOConfig", "GRPOConfig", "ORPOConfig",
              "RewardConfig", "PPOConfig", "KTOConfig")  # fmt: skip


def rules(program: Program) -> Hits:
    """Every call that configures a trainer."""
    for call in program.calls:
        name = program.name(call)
        if last(call.func) in _ARGUMENTS and program.uses("transformers", "trl", "optimum", "unsloth"):
            yield from _arguments(program, call)
        elif name.endswith("Trainer") and name.split(".")[0] in ("lightning", "pytorch_lightning"):
            yield from _lightning(call)


def _arguments(program: Program, call: ast.Call) -> Hits:
    if constant(keyword(call, "use_cpu")) is True or constant(keyword(call, "no_cuda")) is True:
        yield Hit("trainer.cpu", call)
        return
    half = [constant(keyword(call, name)) for name in ("bf16", "fp16") if keyword(call, name) is not None]
    loaded = program.mentions("torch_dtype", "bfloat16", "load_in_4bit", "load_in_8bit", "half")
    if (lacks(call, "bf16", "fp16") and not loaded) or (half and all(value is False for value in half)):
        yield Hit("trainer.precision", call)
    if lacks(call, "dataloader_num_workers") or constant(keyword(call, "dataloader_num_workers")) == 0:
        yield Hit("trainer.workers", call)
    if constant(keyword(call, "gradient_checkpointing")) is True:
        yield Hit("trainer.checkpointing", call)
    if constant(keyword(call, "logging_steps")) == 1:
        yield Hit("trainer.logging", call)
    saved = constant(keyword(call, "save_steps"))
    if isinstance(saved, int) and not isinstance(saved, bool) and 0 < saved <= 20:
        yield Hit("trainer.saving", call)


def _lightning(call: ast.Call) -> Hits:
    precision = keyword(call, "precision")
    if constant(keyword(call, "accelerator")) == "cpu":
        yield Hit("trainer.cpu", call)
    elif lacks(call, "precision", "plugins") or constant(precision) in (32, "32", "32-true", 64, "64", "64-true"):
        yield Hit("lightning.precision", call)
    if constant(keyword(call, "strategy")) == "dp" or constant(keyword(call, "accelerator")) == "dp":
        yield Hit("parallel.data-parallel", call)
    if constant(keyword(call, "strategy")) == "ddp_find_unused_parameters_true":
        yield Hit("ddp.find-unused", call)
    if constant(keyword(call, "detect_anomaly")) is True:
        yield Hit("anomaly", call)
    if constant(keyword(call, "deterministic")) is True:
        yield Hit("cudnn.deterministic", call)
    if constant(keyword(call, "log_every_n_steps")) == 1:
        yield Hit("trainer.logging", call)
