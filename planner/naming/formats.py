"""Weight formats and key/value dtypes of served models, as sources write them -> the planner's ids."""

import re

from planner.memory.formats import FORMATS
from planner.naming.named import Named, refuse
from planner.workload import Engine

_GGUF = re.compile(r"\b(IQ\d_\w+|Q\d_K_[SML]|Q\d_K|Q\d_[01]|MXFP4|BF16|F16|F32)\b", re.IGNORECASE)
_KV = {
    "": "auto",
    "auto": "auto",
    "bf16": "bf16",
    "bfloat16": "bf16",
    "f16": "fp16",
    "fp16": "fp16",
    "float16": "fp16",
    "f32": "fp32",
    "fp32": "fp32",
    "int8": "int8",
    "int4": "int4",
    "q8_0": "q8_0",
    "q4_0": "q4_0",
}


def named_format(text: str, model: str, engine: Engine) -> Named[str]:
    """The weight format that a cell means; where it says nothing, what the model's name says, else 16 bits.

    Raises `InputError` "unknown-format".
    """
    stated = text.strip()
    both = f"{stated} {model}"
    if engine is Engine.LLAMA_CPP:
        return _gguf(stated, model)
    if not stated:
        from_name = _by_words(model.lower())
        return Named(from_name, (f"weights: {from_name}, from the model's name",)) if from_name else _sixteen(model)
    found = _by_words(stated.lower(), both.lower())
    if found is None:
        raise refuse("unknown-format", "weight_format", text)
    return Named(found)


def _sixteen(model: str) -> Named[str]:
    if "gpt-oss" in model.lower():
        return Named("mxfp4", ("weights: MXFP4, as published",))
    if re.search(r"deepseek-(r1|v3)|kimi-k2", model.lower()):
        return Named("fp8-block", ("weights: FP8, as published",))
    return Named("bf16", ("weights: BF16 (not stated)",))


def _gguf(stated: str, model: str) -> Named[str]:
    found = _GGUF.search(stated) or _GGUF.search(model)
    if found is None:
        if stated.lower() in ("fp16", "float16", "bf16", "bfloat16"):
            return Named("gguf-f16" if "16" in stated and "b" not in stated.lower() else "gguf-bf16")
        raise refuse("unknown-format", "weight_format", stated)
    id = f"gguf-{found.group(1).lower()}"
    if id not in FORMATS:
        raise refuse("unknown-format", "weight_format", stated)
    return Named(id)


_RULES: tuple[tuple[str, str], ...] = (
    (r"nvfp4", "nvfp4"),
    (r"mxfp4", "mxfp4"),
    (r"gptq.?int8|gptq.?8", "gptq-int8"),
    (r"gptq", "gptq-int4"),
    (r"awq|w4a16|autoround|compressed.tensors|wna16|\bint4\b", "awq-int4"),
    (r"bnb|nf4|4.?bit", "nf4"),
    (r"w8a8|int8|smoothquant", "int8"),
    (r"fp8|w8a16|e4m3", "fp8"),
    (r"bf16|bfloat16", "bf16"),
    (r"fp16|float16|\bf16\b|half", "fp16"),
    (r"fp32|float32|\bf32\b", "fp32"),
)


def _by_words(text: str, context: str = "") -> str | None:
    for pattern, id in _RULES:
        if re.search(pattern, text):
            if id == "fp8" and re.search(r"deepseek-(r1|v3)|kimi-k2|qwen3.*-fp8", context):
                return "fp8-block"
            return id
    return None


def named_kv(text: str) -> str:
    """The dtype of the key/value cache. Raises `InputError` "unknown-kv-dtype"."""
    key = text.strip().lower()
    if key.startswith("fp8"):
        return "fp8"
    if key not in _KV:
        raise refuse("unknown-kv-dtype", "kv_dtype", text)
    return _KV[key]
