"""The names that transformers' Trainer, PEFT and several trainers built on them share, beside the plan's values.

Option names: transformers 5.24, `TrainingArguments` and `OptimizerNames`; peft 0.21, `LoraConfig`.
"""

from collections.abc import Mapping
from typing import Any

from planner.launch.pairs import Pair
from planner.launch.types import names

OPTIMIZERS: Mapping[str, str] = {
    "adamw": "adamw_torch",
    "adamw-fused": "adamw_torch_fused",
    "adamw-8bit": "adamw_bnb_8bit",
    "paged-adamw-8bit": "paged_adamw_8bit",
    "paged-adamw": "paged_adamw_32bit",
    "hf-adafactor": "adafactor",
    "lion": "lion_32bit",
    "sgd": "sgd",
}
"""`transformers.training_args.OptimizerNames`."""

MORE_OPTIMIZERS: Mapping[str, str] = {"adamw_8bit": "adamw-8bit", "paged_adamw": "paged-adamw", "adamw_hf": "adamw"}

ATTENTION: Mapping[str, str] = {"eager": "eager", "sdpa": "sdpa", "flash": "flash_attention_2"}
MORE_ATTENTION: Mapping[str, str] = {
    "flash_attention_3": "flash",
    "flash_attn_2": "flash",
    "fa2": "flash",
    "flex_attention": "flash",
}

TARGETS: Mapping[str, Any] = {
    "all-linear": "all-linear",
    "attention": ["q_proj", "k_proj", "v_proj", "o_proj"],
    "qv": ["q_proj", "v_proj"],
}

PRECISIONS: Mapping[str, tuple[str, bool, bool, bool]] = {
    "fp32": ("float32", False, False, False),
    "tf32": ("float32", False, False, True),
    "bf16": ("bfloat16", False, False, False),
    "fp16": ("float16", False, False, False),
    "amp-bf16": ("float32", True, False, False),
    "amp-fp16": ("float32", False, True, False),
    "bf16-amp": ("bfloat16", True, False, False),
    "fp16-amp": ("float16", False, True, False),
    "bf16-master": ("bfloat16", True, False, False),  # DeepSpeed keeps the master copy
    "fp16-master": ("float16", False, True, False),
    "fp8": ("bfloat16", True, False, False),
}
"""Plan precision -> dtype that the model is loaded in, and the trainer's bf16, fp16 and tf32."""

TRAINER = (
    Pair("micro_batch_size", "per_device_train_batch_size"),
    Pair("gradient_accumulation_steps", "gradient_accumulation_steps"),
    Pair("optimizer", "optim", OPTIMIZERS, MORE_OPTIMIZERS),
    Pair("compiled", "torch_compile", {True: True, False: False}),
    Pair("workers", "dataloader_num_workers"),
    Pair("pinned", "dataloader_pin_memory", {True: True, False: False}),
)
CHECKPOINTING = (
    Pair("recompute", "activation_checkpointing", {"full": True, "none": False}, aliases=("gradient_checkpointing",)),
    Pair("recompute_every", "activation_checkpointing_kwargs.every_n_layers"),
)
LIGER = Pair("loss", "use_liger_kernel", {"fused": True, "transformers-5": False})

HARMLESS = names(
    """
    output_dir learning_rate lr_scheduler_type warmup_steps warmup_ratio weight_decay max_grad_norm seed data_seed
    logging_steps logging_strategy logging_first_step save_steps save_strategy save_total_limit report_to run_name
    eval_strategy evaluation_strategy eval_steps do_train do_eval num_train_epochs remove_unused_columns adam_beta1
    adam_beta2 adam_epsilon ddp_timeout overwrite_output_dir dataset_text_field dataset_num_proc push_to_hub
    logging_dir log_level disable_tqdm hub_model_id save_only_model resume_from_checkpoint project
    """
)


def precision_of(dtype: Any, bf16: bool | None, fp16: bool | None, tf32: bool | None) -> str:
    """The plan's precision of a load dtype and the trainer's flags; an unknown dtype counts as the trainer's own."""
    name = str(dtype or "").rsplit(".", 1)[-1]
    sixteen = "bfloat16" if bf16 else "float16" if fp16 else ""
    loaded = {"bfloat16": "bfloat16", "float16": "float16", "half": "float16", "float32": "float32"}.get(name, "")
    if not loaded:
        loaded = sixteen or "bfloat16"  # "auto": the checkpoint's own, today BF16
    wanted = (loaded, bool(bf16), bool(fp16), bool(tf32) and not sixteen and loaded == "float32")
    return next((mine for mine, theirs in PRECISIONS.items() if theirs == wanted), "bf16-amp" if bf16 else "fp16-amp")


def targets_of(value: Any) -> str | None:
    """The plan's LoRA targets of a list of module names."""
    if value in ("all-linear", "all"):
        return "all-linear"
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple | set):
        return None
    roles = {str(name).strip().rsplit(".", 1)[-1] for name in names}
    for mine, theirs in TARGETS.items():
        if isinstance(theirs, list) and roles == set(theirs):
            return mine
    whole = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}
    return "all-linear" if roles == whole else None
