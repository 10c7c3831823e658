"""The names of a plan's inputs and of their choices, in the reader's language.

Field terms keep their English name beside the Arabic one, since that is what frameworks and papers call them.
"""

from functools import lru_cache

from pages.ui.text import Text
from planner.hardware import catalogue
from planner.plan.fields import Field, Section

# Functions, not constants: a message is looked up in the language of the run, and one dictionary a language is kept.


def field(text: Text, one: Field, *, default: bool = False) -> str:
    """A field's label, with its unit; `default` marks a value that the user did not choose."""
    label = _fields(text).get(one.id, one.id)
    unit = _units(text).get(one.unit, one.unit)
    if unit:
        label = f"{label} ({text.isolate(unit)})"
    return text.t("{label} · default", label=label) if default else label


def help_of(text: Text, one: Field) -> str | None:
    """What a field means and when to change it, where its name doesn't say it all."""
    return _helps(text).get(one.id)


def choice(text: Text, field_id: str, value: str) -> str:
    """A choice's name. Formats and dtypes are their own names in every language."""
    return _choices(text).get((field_id, value)) or _choices(text).get(("", value)) or value


def section(text: Text, one: Section) -> str:
    """The heading of a group of inputs."""
    return {
        Section.BASIC: text.t("Plan"),
        Section.METHOD: text.t("Fine-tuning method"),
        Section.PRECISION: text.t("Precision"),
        Section.EXECUTION: text.t("Execution"),
        Section.PARALLEL: text.t("Parallelism and offload"),
        Section.MACHINE: text.t("Machine and price"),
        Section.INPUT: text.t("Input pipeline"),
        Section.ENGINE: text.t("Serving engine"),
        Section.GOAL: text.t("Amount of work"),
    }[one]


@lru_cache
def gpus(text: Text) -> dict[str, str]:
    """Every GPU's name with its marketed memory, by id."""
    return {one.id: text.isolate(f"{one.name} · {one.memory_marketed_gb:g} GB") for one in catalogue.gpus()}


@lru_cache
def _units(text: Text) -> dict[str, str]:
    return {
        "GPUs": text.p("unit", "GPUs"),
        "tokens": text.p("unit", "tokens"),
        "pixels": text.p("unit", "pixels"),
        "images": text.p("unit", "images"),
        "sequences": text.p("unit", "sequences"),
        "layers": text.p("unit", "layers"),
        "million tokens": text.p("unit", "million tokens"),
        "million images": text.p("unit", "million images"),
        "USD per GPU-hour": text.p("unit", "USD per GPU-hour"),
    }


@lru_cache
def _fields(text: Text) -> dict[str, str]:
    t = text.t
    return {
        "task": t("Task"),
        "model": t("Model"),
        "method": t("Method"),
        "gpu": t("GPU"),
        "gpus": t("Number of GPUs"),
        "precision": t("Precision"),
        "weight_format": t("Weight format"),
        "micro_batch_size": t("Micro-batch size"),
        "gradient_accumulation_steps": t("Gradient accumulation steps"),
        "sequence_length": t("Sequence length"),
        "image_size": t("Image size"),
        "images_per_sample": t("Images per sample"),
        "concurrency": t("Requests at once"),
        "input_tokens": t("Input length"),
        "output_tokens": t("Output length"),
        "gpus_per_node": t("GPUs per node"),
        "link": t("Link inside a node"),
        "network": t("Network between nodes"),
        "host": t("Host CPU"),
        "price": t("Price"),
        "lora_rank": t("LoRA rank"),
        "lora_targets": t("LoRA targets"),
        "lora_dropout": t("Dropout before adapters"),
        "adapter_fp32": t("Adapters in fp32"),
        "base_format": t("Base weights"),
        "kbit_upcast": t("Upcast norms and logits to fp32"),
        "frozen_layers": t("Frozen layers"),
        "bottleneck": t("Adapter width"),
        "optimizer": t("Optimizer"),
        "recompute": t("Activation recomputation"),
        "recompute_every": t("Recompute every n-th layer"),
        "attention": t("Attention kernel"),
        "loss": t("Loss computation"),
        "loss_chunks": t("Loss chunks"),
        "padding_mask": t("Padding mask"),
        "dropout": t("Dropout"),
        "compiled": t("torch.compile"),
        "tensor_parallel": t("Tensor parallel"),
        "sequence_parallel": t("Sequence parallel"),
        "pipeline_parallel": t("Pipeline parallel"),
        "schedule": t("Pipeline schedule"),
        "virtual_stages": t("Model chunks per GPU"),
        "context_parallel": t("Context parallel"),
        "expert_parallel": t("Expert parallel"),
        "sharding": t("Sharding of the training state"),
        "shard_group": t("Shard group"),
        "bucket_view": t("Gradients as bucket views"),
        "offload_optimizer": t("Optimizer offload"),
        "offload_parameters": t("Parameter offload"),
        "engine": t("Engine"),
        "kv_dtype": t("Key/value cache dtype"),
        "max_model_length": t("Longest sequence"),
        "max_batched_tokens": t("Prefill chunk"),
        "memory_fraction": t("Share of memory given to the engine"),
        "cuda_graphs": t("CUDA graphs"),
        "sample_kib": t("Stored size of a sample"),
        "storage_gbs": t("Storage speed"),
        "decode_ms": t("CPU time to prepare a sample"),
        "workers": t("Loader workers per GPU"),
        "pinned": t("Pinned host memory"),
        "overlapped": t("Copies overlap compute"),
        "train_tokens_millions": t("Tokens to train on"),
        "train_images_millions": t("Images to train on"),
        "serve_tokens_millions": t("Tokens to generate"),
    }


@lru_cache
def _helps(text: Text) -> dict[str, str]:
    t = text.t
    return {
        "micro_batch_size": t("Sequences (or images) that one GPU takes through one forward and backward pass."),
        "gradient_accumulation_steps": t(
            "Passes before one optimizer step. A larger batch for the optimizer without more activation memory."
        ),
        "precision": t("The dtype of weights, arithmetic and optimizer states."),
        "method": t("Which parameters are trained, and how the frozen ones are stored."),
        "gpus_per_node": t("GPUs in one machine, joined by the fast link."),
        "price": t("US dollars for one GPU and hour. Empty: the cheapest dated on-demand offer of the catalogue."),
        "lora_targets": t("The matrices that get an adapter."),
        "adapter_fp32": t("The peft library keeps adapters in fp32 unless told otherwise."),
        "kbit_upcast": t("What peft's preparation for k-bit training does: safer, but it costs memory."),
        "recompute": t("Keep only each layer's input and compute the rest again in the backward pass."),
        "attention": t("Eager attention stores the full score matrix; SDPA and flash-attn do not."),
        "loss": t(
            "A fused or chunked loss never holds all logits at once; with large vocabularies that decides the peak."
        ),
        "padding_mask": t("Sequences of different lengths padded to one; packing them needs no mask."),
        "sequence_parallel": t("Divides norms and residuals over the tensor-parallel group as well."),
        "context_parallel": t("Divides the sequence itself over GPUs."),
        "expert_parallel": t("Divides the routed experts of a mixture of experts over GPUs."),
        "sharding": t("What the data-parallel GPUs divide among themselves instead of each holding all of it."),
        "max_model_length": t("The longest sequence that must fit; 0 means input plus output."),
        "max_batched_tokens": t("Tokens that the engine reads in one step; sets its activation memory."),
        "memory_fraction": t("vLLM and SGLang: of all memory. TensorRT-LLM: of what is free after loading."),
        "sample_kib": t("Compressed image or tokenised sequence as stored; 0 leaves storage and copies out."),
        "storage_gbs": t("What the dataset's storage delivers to one node; 0 leaves it out."),
        "decode_ms": t("One CPU core's time to read, decode and augment one sample; 0 leaves it out."),
        "pinned": t("Page-locked buffers copy to the GPU about three times as fast."),
    }


@lru_cache
def _choices(text: Text) -> dict[tuple[str, str], str]:
    t, p = text.t, text.p
    return {
        ("task", "train"): p("task", "Train"),
        ("task", "finetune"): p("task", "Fine-tune"),
        ("task", "serve"): p("task", "Serve"),
        ("method", "full"): t("Full fine-tuning"),
        ("method", "frozen"): t("Some layers frozen"),
        ("method", "lora"): t("LoRA"),
        ("method", "dora"): t("DoRA"),
        ("method", "qlora"): t("QLoRA"),
        ("method", "adapter"): t("Bottleneck adapters"),
        ("precision", "fp32"): t("fp32"),
        ("precision", "tf32"): t("fp32, products in TF32"),
        ("precision", "bf16"): t("bf16, all of it"),
        ("precision", "fp16"): t("fp16, all of it"),
        ("precision", "amp-bf16"): t("Mixed: fp32 weights, bf16 autocast"),
        ("precision", "amp-fp16"): t("Mixed: fp32 weights, fp16 autocast"),
        ("precision", "bf16-amp"): t("bf16 weights, bf16 autocast"),
        ("precision", "fp16-amp"): t("fp16 weights, fp16 autocast"),
        ("precision", "bf16-master"): t("bf16 weights, fp32 master copy"),
        ("precision", "fp16-master"): t("fp16 weights, fp32 master copy"),
        ("precision", "fp8"): t("FP8 products, fp32 master copy"),
        ("lora_targets", "all-linear"): t("All linear layers"),
        ("lora_targets", "attention"): t("Attention: q, k, v, o"),
        ("lora_targets", "qv"): t("q and v"),
        ("base_format", "nf4"): t("NF4, double quantisation"),
        ("base_format", "int8"): t("int8 (LLM.int8)"),
        ("base_format", "gptq4"): t("GPTQ, 4 bits"),
        ("optimizer", "adamw"): t("AdamW (foreach, PyTorch's default)"),
        ("optimizer", "adamw-fused"): t("AdamW, fused"),
        ("optimizer", "adamw-loop"): t("AdamW, loop"),
        ("optimizer", "adamw-8bit"): t("AdamW, 8-bit"),
        ("optimizer", "paged-adamw-8bit"): t("AdamW, 8-bit, paged"),
        ("optimizer", "paged-adamw"): t("AdamW, paged"),
        ("optimizer", "adafactor"): t("Adafactor"),
        ("optimizer", "adafactor-foreach"): t("Adafactor, foreach"),
        ("optimizer", "hf-adafactor"): t("Adafactor of transformers"),
        ("optimizer", "lion"): t("Lion"),
        ("optimizer", "muon"): t("Muon"),
        ("optimizer", "sgd"): t("SGD"),
        ("optimizer", "sgd-momentum"): t("SGD with momentum"),
        ("recompute", "none"): p("recompute", "None"),
        ("recompute", "selective"): t("Selective: the attention core"),
        ("recompute", "full"): t("Full: every layer"),
        ("attention", "eager"): t("Eager"),
        ("attention", "sdpa"): t("PyTorch SDPA"),
        ("attention", "flash"): t("flash-attn"),
        ("loss", "transformers-5"): t("transformers 5: upcast in the loss"),
        ("loss", "transformers-4.46"): t("transformers 4.46: upcast and shifted copy"),
        ("loss", "transformers-4.44"): t("transformers 4.44: upcast in the model"),
        ("loss", "no-upcast"): t("16-bit logits, no upcast"),
        ("loss", "fused"): t("Fused linear cross-entropy (Liger)"),
        ("loss", "in-place"): t("In-place cross-entropy kernel"),
        ("loss", "chunked"): t("Chunked"),
        ("schedule", "1f1b"): t("1F1B"),
        ("schedule", "interleaved"): t("Interleaved 1F1B"),
        ("schedule", "gpipe"): t("GPipe"),
        ("sharding", "none"): t("None: each GPU holds all (DDP)"),
        ("sharding", "zero1"): t("ZeRO-1: optimizer states"),
        ("sharding", "zero2"): t("ZeRO-2: and gradients"),
        ("sharding", "zero3"): t("ZeRO-3: and parameters"),
        ("sharding", "fsdp"): t("FSDP: full shard"),
        ("sharding", "hsdp"): t("HSDP: full shard within groups"),
        ("link", "auto"): t("As the card has it"),
        ("link", "nvlink"): t("NVLink"),
        ("link", "pcie"): t("PCIe"),
        ("network", "auto"): t("Usual for the card"),
        ("kv_dtype", "auto"): t("As the model"),
        ("engine", "transformers"): t("Transformers (no server)"),
        ("engine", "vllm"): t("vLLM"),
        ("engine", "sglang"): t("SGLang"),
        ("engine", "tensorrt-llm"): t("TensorRT-LLM"),
        ("engine", "llama.cpp"): t("llama.cpp"),
        ("", "none"): p("choice", "None"),
        ("", "cpu"): p("choice", "CPU memory"),
        ("", "nvme"): p("choice", "NVMe"),
    }
