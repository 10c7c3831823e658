"""Sentences for the changes worth trying."""

from collections.abc import Mapping
from typing import Any

from pages.ui.text import Text
from pages.ui.words.sentence import Sentence, said
from planner.hardware import catalogue as hardware


def change(text: Text, change_id: str, sets: Mapping[str, Any]) -> str:
    """The sentence of one change worth trying; `sets` are the field values it would set."""
    if change_id.startswith("weights-"):
        return text.t("Store the weights as {format}", format=str(sets["weight_format"]).upper())
    return said(CHANGES, text, change_id, sets)


CHANGES: dict[str, Sentence] = {
    "fused-loss": lambda text, q: text.t("Use a fused cross-entropy loss"),
    "recompute-full": lambda text, q: text.t("Recompute whole layers in the backward pass"),
    "recompute-none": lambda text, q: text.t("Keep all activations, recompute nothing"),
    "recompute-selective": lambda text, q: text.t("Recompute the attention core only"),
    "recompute-half": lambda text, q: text.t("Recompute every second layer only"),
    "smaller-micro-batch": lambda text, q: text.n(
        "Micro-batch {size} with {count} accumulation step",
        "Micro-batch {size} with {count} accumulation steps",
        q["gradient_accumulation_steps"],
        size=q["micro_batch_size"],
    ),
    "larger-batch": lambda text, q: text.t("Micro-batch {size}", size=q["micro_batch_size"]),
    "lora": lambda text, q: text.t("LoRA instead of training all parameters"),
    "qlora": lambda text, q: text.t("QLoRA: the frozen base in 4 bits"),
    "no-kbit-upcast": lambda text, q: text.t("Leave norms and embeddings at 16 bits"),
    "adapter-16-bit": lambda text, q: text.t("Keep the adapters in 16 bits"),
    "mixed-precision": lambda text, q: text.t("Mixed precision (BF16 autocast)"),
    "tf32": lambda text, q: text.t("Allow TF32 matrix products"),
    "pure-bf16": lambda text, q: text.t("Weights and optimizer states in BF16"),
    "fp8": lambda text, q: text.t("FP8 matrix products"),
    "fused-optimizer": lambda text, q: text.t("Use the fused AdamW"),
    "optimizer-8-bit": lambda text, q: text.t("8-bit AdamW"),
    "adafactor": lambda text, q: text.t("Adafactor instead of AdamW"),
    "offload-optimizer": lambda text, q: text.t("Hold the optimizer states in CPU memory"),
    "shard": lambda text, q: text.t("Shard the training state over the GPUs (FSDP)"),
    "no-shard": lambda text, q: text.t("Do not shard: every GPU holds the whole training state"),
    "more-gpus": lambda text, q: text.n("{count} GPU", "{count} GPUs", q["gpus"]),
    "tensor-parallel": lambda text, q: text.t("Tensor parallel {size}", size=q["tensor_parallel"]),
    "fused-attention": lambda text, q: text.t("Use a fused attention kernel (SDPA)"),
    "packing": lambda text, q: text.t("Pack sequences instead of padding them"),
    "compile": lambda text, q: text.t("Compile the model (torch.compile)"),
    "shorter-sequence": lambda text, q: text.n(
        "Sequences of {count} token", "Sequences of {count} tokens", q["sequence_length"]
    ),
    "shorter-context": lambda text, q: text.t("Hold no longer sequences than the requests need"),
    "more-workers": lambda text, q: text.n(
        "{count} loader worker per GPU", "{count} loader workers per GPU", q["workers"]
    ),
    "pinned-memory": lambda text, q: text.t("Pin the host memory of the loader"),
    "overlap-copies": lambda text, q: text.t("Copy the next batch while computing"),
    "kv-fp8": lambda text, q: text.t("KV cache in FP8"),
    "higher-concurrency": lambda text, q: text.n(
        "{count} concurrent request", "{count} concurrent requests", q["concurrency"]
    ),
    "smaller-prefill-chunk": lambda text, q: text.n(
        "Prefill chunks of {count} token", "Prefill chunks of {count} tokens", q["max_batched_tokens"]
    ),
    "larger-memory-fraction": lambda text, q: text.t(
        "Let the engine take {share} of memory", share=text.percent(q["memory_fraction"])
    ),
    "other-gpu": lambda text, q: text.t("{gpu} instead", gpu=hardware.gpu(q["gpu"]).name),
}
CHANGES["larger-micro-batch"] = CHANGES["smaller-micro-batch"]
CHANGES["lower-concurrency"] = CHANGES["higher-concurrency"]
