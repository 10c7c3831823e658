"""Words of training runs: framework, precision, method, optimizer, sharding, recomputation, attention."""

import re
from enum import StrEnum

from planner import workload as w
from planner.naming.named import Named, refuse
from planner.parallel import Offload, Sharding


class Framework(StrEnum):
    """Families of training code that share defaults."""

    MEGATRON = "megatron"  # Megatron-LM, Megatron-Bridge, NeMo, Megatron-DeepSpeed
    COMPOSER = "composer"  # MosaicML llm-foundry: FSDP1
    AUTOMODEL = "automodel"  # FSDP2 with 16-bit weights in the forward pass
    TORCHTUNE = "torchtune"
    LITGPT = "litgpt"
    HUGGING_FACE = "hugging-face"  # Trainer, PEFT, DeepSpeed, ms-swift
    TIMM = "timm"
    APEX = "apex"  # NVIDIA DeepLearningExamples
    PYTORCH = "pytorch"  # anything else


_FRAMEWORKS: tuple[tuple[str, Framework], ...] = (
    (r"automodel", Framework.AUTOMODEL),
    (r"megatron|nemo|hai-llm|metaseq", Framework.MEGATRON),
    (r"composer|foundry", Framework.COMPOSER),
    (r"torchtune", Framework.TORCHTUNE),
    (r"lit-?gpt|fabric", Framework.LITGPT),
    (r"timm", Framework.TIMM),
    (r"deeplearningexamples|apex", Framework.APEX),
    (r"hf|trainer|peft|swift|transformers|trl|unsloth|axolotl|llama-?factory|deepspeed", Framework.HUGGING_FACE),
)


def named_framework(text: str) -> Framework:
    """The family of a framework's text."""
    key = text.lower()
    return next((kind for pattern, kind in _FRAMEWORKS if re.search(pattern, key)), Framework.PYTORCH)


_TP = w.TrainingPrecision


def named_precision(text: str, framework: Framework, adapters: bool) -> Named[w.TrainingPrecision]:
    """The training precision of a cell. "bf16" alone means what the framework makes of it.

    Megatron and DeepSpeed keep fp32 master weights; torchtune and LitGPT's "-true" hold 16 bits alone; autocast under
    FSDP keeps fp32 shards; adapters train over weights as loaded. Raises `InputError` "unknown-precision", or
    "unsupported-precision" for products narrower than FP8.
    """
    key = text.strip().lower()
    half = "fp16" if re.search(r"fp16|float16", key) and not re.search(r"bf16", key) else "bf16"
    if re.search(r"nvfp4|mxfp4|\bfp4\b", key):
        raise refuse("unsupported-precision", "precision", text)
    if "fp8" in key and "base" not in key:
        return Named(_TP.FP8)
    if key in ("fp32", "float32", "32-true"):
        return Named(_TP.FP32)
    if key == "tf32":
        return Named(_TP.TF32)
    if adapters:
        return (
            Named(_TP.FP16_AMP if half == "fp16" else _TP.BF16_AMP) if not re.search(r"true|pure", key) else _pure(half)
        )
    if framework is Framework.COMPOSER and re.search(r"amp|mixed|pure", key):
        # FSDP casts its fp32 shards to 16 bits for every unit, and Composer's layer norms run in 16 bits too
        return Named(_TP.FP16_MASTER if half == "fp16" else _TP.BF16_MASTER)
    if re.search(r"amp|mixed", key):
        return Named(_TP.AMP_FP16 if half == "fp16" else _TP.AMP_BF16)
    if re.search(r"true|pure", key):
        return _pure(half)
    if re.search(r"bf16|bfloat16|fp16|float16", key):
        return _plain_half(half, framework)
    if not key:
        return Named(_TP.AMP_BF16, ("precision not stated: BF16 autocast",))
    raise refuse("unknown-precision", "precision", text)


def _pure(half: str) -> Named[w.TrainingPrecision]:
    return Named(_TP.FP16 if half == "fp16" else _TP.BF16)


def _plain_half(half: str, framework: Framework) -> Named[w.TrainingPrecision]:
    if framework in (Framework.MEGATRON, Framework.HUGGING_FACE, Framework.AUTOMODEL):
        return Named(
            _TP.FP16_MASTER if half == "fp16" else _TP.BF16_MASTER, (f"{half} in {framework}: fp32 master weights",)
        )
    if framework is Framework.TORCHTUNE:
        return _pure(half)
    return Named(_TP.AMP_FP16 if half == "fp16" else _TP.AMP_BF16, (f"{half}: autocast over fp32 weights",))


def named_optimizer(text: str, image: bool) -> Named[w.OptimizerKind]:
    """The optimizer of a cell; AdamW (image networks: SGD with momentum) where none is named."""
    key = text.strip().lower()
    kind = w.OptimizerKind
    if not key:
        return Named(kind.SGD_MOMENTUM if image else kind.ADAMW, ("optimizer not stated: the usual one",))
    if "galore" in key or re.search(r"in[- ]backward", key):
        raise refuse("unsupported-optimizer", "optimizer", text)
    rules: tuple[tuple[str, w.OptimizerKind], ...] = (
        (r"paged.*8", kind.PAGED_ADAMW_8BIT),
        (r"8.?bit", kind.ADAMW_8BIT),
        (r"adafactor", kind.ADAFACTOR_HF),
        (r"lion", kind.LION),
        (r"muon", kind.MUON),
        (r"sgd|rmsprop|novograd", kind.SGD_MOMENTUM),
        (r"distributed|fused|decoupled", kind.ADAMW_FUSED),
        (r"adam|lamb", kind.ADAMW),
    )
    for pattern, found in rules:
        if re.search(pattern, key):
            return Named(found)
    raise refuse("unknown-optimizer", "optimizer", text)


def named_sharding(text: str) -> tuple[Sharding, int]:
    """How a cell says that data-parallel ranks share state, and the shard group (0: all)."""
    key = text.strip().lower()
    group = int(found.group(1)) if (found := re.search(r"group (\d+)", key)) else 0
    if "naive" in key or "device_map" in key:
        raise refuse("unsupported-sharding", "sharding", text)
    if re.search(r"grad-op|zero.?2", key):
        return Sharding.ZERO2, 0
    if re.search(r"fsdp|full shard", key):
        return (Sharding.HSDP, group) if group else (Sharding.FSDP, 0)
    if re.search(r"zero.?3", key):
        return Sharding.ZERO3, 0
    if re.search(r"zero.?1", key):
        return Sharding.ZERO1, 0
    return Sharding.NONE, 0


def named_recompute(text: str) -> w.Recompute | None:
    """Recomputation; None where the source doesn't say."""
    key = text.strip().lower()
    if key in ("full", "selective", "none"):
        return w.Recompute(key)
    return None


def named_attention(text: str) -> w.AttentionImplementation | None:
    """Attention kernel; None where the source doesn't say."""
    key = text.strip().lower()
    if key.startswith("flash"):
        return w.AttentionImplementation.FLASH
    return w.AttentionImplementation(key) if key in ("sdpa", "eager") else None


def named_offload(text: str) -> tuple[Offload, Offload]:
    """Offload of optimizer states and of parameters. Raises `InputError` for kinds that aren't modelled."""
    key = text.strip().lower()
    if key in ("", "none", "no"):
        return Offload.NONE, Offload.NONE
    if "activation" in key:
        raise refuse("unsupported-offload", "offload", text)
    return Offload.CPU, Offload.CPU if "zero-3" in key or "param" in key else Offload.NONE


_BASES: tuple[tuple[str, w.BaseFormat], ...] = (
    (r"gptq", w.BaseFormat.GPTQ4),
    (r"int8|8.?bit", w.BaseFormat.INT8),
    (r"nf4|bnb|int4|4.?bit", w.BaseFormat.NF4),
)


def named_method(text: str, precision: str, framework: Framework, notes: str = "") -> Named[w.Method]:
    """What is trained. Ranks and targets that the source leaves out follow the framework's defaults; `notes` may list
    targets ("LoRA targets ['query', 'value']").

    Raises `InputError` "unsupported-method" for methods without a model here.
    """
    key = f"{text} {precision}".lower()
    if re.search(r"p-tuning|prompt|prefix|low-rank gradient|adapter v2|embedding and lm_head", key):
        raise refuse("unsupported-method", "method", text)
    if text.strip().lower() in ("", "full", "sft", "pretrain"):
        return Named(w.Method())
    base = next((found for pattern, found in _BASES if re.search(pattern, key)), None)
    if text.lower().startswith("adapter"):
        if base is not None:
            raise refuse("unsupported-method", "method", text)
        return Named(w.Method(kind=w.MethodKind.ADAPTER))
    if "lora" not in key and "dora" not in key:
        raise refuse("unsupported-method", "method", text)
    return _lora(text, key, base, framework, notes)


def _lora(text: str, key: str, base: w.BaseFormat | None, framework: Framework, notes: str) -> Named[w.Method]:
    rank = int(found.group(1)) if (found := re.search(r"r\s*=\s*(\d+)", key)) else 0
    assumed = [] if rank else ["LoRA rank not stated: 16"]
    listed = re.search(r"LoRA targets \[([^\]]*)\]", notes)
    targets = _listed_targets(listed.group(1)) if listed else _targets(key)
    if not listed and not re.search(r"\(.*[a-z].*\)|all", text.lower()):
        assumed.append(f"LoRA targets not stated: {targets}")
    quantised = base is not None or "qlora" in key
    kind = w.MethodKind.DORA if "dora" in key else w.MethodKind.QLORA if quantised else w.MethodKind.LORA
    method = w.Method(
        kind=kind,
        rank=rank or 16,
        targets=targets,
        base_format=base or w.BaseFormat.NF4,
        kbit_upcast=framework is Framework.HUGGING_FACE and base is not w.BaseFormat.GPTQ4,  # peft leaves GPTQ alone
        adapter_fp32=framework is Framework.HUGGING_FACE,
        dropout=framework in (Framework.HUGGING_FACE, Framework.LITGPT),
    )
    return Named(method, tuple(assumed))


def _listed_targets(text: str) -> str:
    if re.search(r"mlp|gate|up_proj|fc", text):
        return "all-linear"
    return "attention" if re.search(r"proj|'o|key", text) else "qv"


def _targets(key: str) -> str:
    if re.search(r"q,\s?k,\s?v,\s?o|q_proj k_proj v_proj o_proj|qkv", key):
        return "attention"
    return "qv" if re.search(r"q,\s?v", key) else "all-linear"
