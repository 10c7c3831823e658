"""Model names as sources write them -> layer descriptions: the catalogue's, or built from stated widths."""

import re
from functools import lru_cache
from typing import Any

from planner.models import catalogue
from planner.models.build import build
from planner.models.spec import ModelSpec
from planner.models.vision import vision_model
from planner.naming.named import Named, refuse
from planner.naming.widths import Widths, image_network, spec_of_widths, stated_widths
from planner.result import InputError

TOLERANCE = 0.15
"""A stated parameter count further from the model's own than this is another model. Sources round, and some count
embeddings once or towers not at all."""

_FORMAT_WORDS = re.compile(
    r"\b(fp8|fp16|bf16|fp32|nvfp4|mxfp4|mxfp8|int4|int8|awq|gptq|gguf|bnb|4bit|8bit|4-bit|8-bit|dynamic|quantized|w4a16|"
    r"w8a8|w8a16|w4a8|qat|static|block|autoround|marlin|ggml|q\d(_[k01])?(_[sml])?|mlx|unsloth|torchao)\b"
)
_IDLE = re.compile(
    r"\b(instruct|chat|it|pt|hf|base|preview|meta|nvidia|ibm|gpu|model|pretrain|finetune|fine|tune|thinking|coder|1m|bf16)\b"
)
_DATED = re.compile(r"[-_ ](?:20)?(2[3-6])?(0[1-9]|1[0-2])([0-3]\d)?$")
_BASED = re.compile(r"\((\S+)[- ]based\)")
_SIZE = re.compile(r"-\d+(\.\d+)?b$")

ALIASES = {
    "llama-70b": "meta-llama/Llama-2-70b-hf",  # LLaMA 1 ended at 65B
    "llama2-70b-99": "meta-llama/Llama-2-70b-hf",  # MLPerf Inference
    "gptj-99": "EleutherAI/gpt-j-6b",
    "bert-99": "google-bert/bert-large-uncased",
    "mistral-7b": "mistralai/Mistral-7B-v0.1",
    "mistral-7b-v0.2": "mistralai/Mistral-7B-v0.1",  # the same shape; no window, which v0.1's users rarely reach
    "tiny-llama": "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
    "qwen3-moe-30b": "Qwen/Qwen3-30B-A3B",
    "granite-3.0-3b-a800m": "ibm-granite/granite-3.1-3b-a800m-instruct",  # the same shape, shorter positions
    "granite-3.1-2b": "ibm-granite/granite-3.3-2b-instruct",
    "deepseek-r1-0528": "deepseek-ai/DeepSeek-R1",
    "deepseek-r1-0528-qwen3-8b": "Qwen/Qwen3-8B",
    "phi-1.5-1.3b": "microsoft/phi-1_5",
    "resnet-50": "timm/resnet50",
    "resnet-18": "timm/resnet18",
    "resnext-101-32x4d": "timm/resnext101_32x4d",
    "efficientnet-b4": "timm/tf_efficientnet_b4",  # at 380 pixels, as published
    "efficientnet-b0": "timm/tf_efficientnet_b0",
    "efficientnet-v1-b4": "timm/tf_efficientnet_b4",
    "bart-large": "facebook/bart-large",
    "bart-large-summarization": "facebook/bart-large",
}
"""Names that no rule reaches, with what they are known to be."""

CITED = {
    "qwen-1.8b": "layers=24;hidden=2048;heads=16;ffn=5504;vocab=151936",
    "qwen-7b": "layers=32;hidden=4096;heads=32;ffn=11008;vocab=151936",
    "qwen-14b": "layers=40;hidden=5120;heads=40;ffn=13696;vocab=152064",
    "qwen-72b": "layers=80;hidden=8192;heads=64;ffn=24576;vocab=152064",
    "gpt3-5b": "layers=24;hidden=4096;heads=32;ffn=16384;vocab=51200",
    "gpt3-20b": "layers=44;hidden=6144;heads=48;ffn=24576;vocab=51200",
}
"""Models that results cite and the catalogue lacks: config.json of Qwen 1, NVIDIA NeMo launcher's GPT-3 recipes."""

CONFIGURED: dict[str, dict[str, Any]] = {
    "gpt-bigcode-santacoder": {
        "model_type": "gpt_bigcode",
        "n_embd": 2048,
        "n_head": 16,
        "n_layer": 24,
        "n_inner": 8192,
        "n_positions": 2048,
        "vocab_size": 49280,
        "multi_query": True,
    }
}
"""The same, where a few widths don't say it all (config.json of bigcode/gpt_bigcode-santacoder)."""


@lru_cache(maxsize=8192)
def named_model(
    text: str,
    parameters_b: float | None = None,
    notes: str = "",
    sequence_length: int | None = None,
    vision: bool = False,
) -> Named[ModelSpec]:
    """The model that a source's text means.

    `parameters_b` is its stated count in billions, `notes` may state its widths ("layers=32;hidden=4096;...") or its
    image size and multiply-accumulates. The catalogue comes first; widths that the source states win where they
    disagree with it. Raises `InputError` "unknown-model" or "parameters-disagree".
    """
    if vision:
        return _vision(text, parameters_b, notes)
    if (config := CONFIGURED.get(_plain(text))) is not None:
        return _checked(build(config, id=text, name=text), text, parameters_b, ())
    found = _catalogued(text, parameters_b is not None)
    widths = stated_widths(notes) or _cited(text)
    if widths and (found is None or not widths.agree(found.value)):
        built = spec_of_widths(text, widths, sequence_length)
        if built is not None:
            return _checked(built, text, parameters_b, ("built from the stated widths",))
    if found is None:
        raise refuse("unknown-model", "model", text)
    return _checked(found.value, text, parameters_b, found.assumed)


def _checked(spec: ModelSpec, text: str, parameters_b: float | None, assumed: tuple[str, ...]) -> Named[ModelSpec]:
    count = spec.total_parameters
    if parameters_b and abs(count / (parameters_b * 1e9) - 1) > TOLERANCE:
        raise refuse("parameters-disagree", "model", text, stated=parameters_b, computed=round(count / 1e9, 3))
    return Named(spec, assumed)


def _vision(text: str, parameters_b: float | None, notes: str) -> Named[ModelSpec]:
    """A network of timm's table at the stated image size, else by the totals that the source states."""
    stated = image_network(text, parameters_b, notes)
    size = stated.image.image_size if stated and stated.image else None
    name = ALIASES.get(_plain(text), text)
    name = name if name.startswith(("timm/", "torchvision/")) else f"timm/{name}"
    for candidate in (f"{name}@{size}", name):
        try:
            spec = vision_model(candidate)
        except InputError:
            continue
        if spec.image and (size is None or spec.image.image_size == size):
            return _checked(spec, text, parameters_b, ())
    if stated is not None:
        return Named(stated, ("network known by the totals that the source states",))
    raise refuse("unknown-model", "model", text)


def _cited(text: str) -> Widths | None:
    letters = {_letters(name): notes for name, notes in CITED.items()}
    notes = letters.get(_letters(_plain(text)))
    return stated_widths(notes) if notes else None


def _catalogued(text: str, counted: bool) -> Named[ModelSpec] | None:
    """The catalogue's model; with a count to check by (`counted`), a size at the name's end may be left out."""
    for candidate, assumed in _candidates(text, counted):
        try:
            return Named(catalogue.model(candidate), assumed)
        except InputError:
            continue
    return None


def _candidates(text: str, counted: bool) -> list[tuple[str, tuple[str, ...]]]:
    """Names to try, most literal first, with what each one assumes."""
    plain = _plain(text)
    undated = _DATED.sub("", plain)
    found: list[tuple[str, tuple[str, ...]]] = [(text, ())]
    based = _BASED.search(text)
    unsized = (_SIZE.sub("", undated),) if counted else ()
    aliases = {_letters(alias): id for alias, id in ALIASES.items()}
    for name in dict.fromkeys((*((_plain(based.group(1)),) if based else ()), plain, undated, *unsized)):
        if (known := aliases.get(_letters(name))) is not None:
            found.append((known, (f"{text}: {known}",)))
        found.append((name, ()))
        if (id := _by_letters().get(_letters(name))) is not None:
            found.append((id, ()))
    longer = {id for letters, id in _by_letters().items() if letters.startswith(_letters(undated))}
    if len(_letters(undated)) >= 9 and len(longer) == 1 and re.search(r"\d", undated):
        (only,) = longer
        found.append((only, (f"{text}: the only model whose name begins so, {only}",)))
    return found


def _plain(text: str) -> str:
    """Without publisher, remarks in brackets, format words: what is left names the shape."""
    text = re.sub(r"\(.*?\)", " ", text.lower()).rpartition("/")[2].replace("_", "-")
    text = re.sub(r"\bclass\b.*$", " ", text)
    text = _FORMAT_WORDS.sub(" ", re.sub(r"\bv3\b(?= (nano|super|ultra))", "3", text))
    text = re.sub(r"\b(pretrain|summarization fine-tune|fine-tune)\b", " ", text)
    return re.sub(r"[-\s.]*$", "", re.sub(r"[-\s]+", "-", text.strip())).strip("-.")


def _letters(name: str) -> str:
    """A name's letters and digits, tuning and publishers' words left out: how close spellings are compared."""
    return re.sub(r"[^a-z0-9.]", "", _IDLE.sub(" ", re.sub(r"[-_]", " ", name.lower())))


@lru_cache(maxsize=1)
def _by_letters() -> dict[str, str]:
    index: dict[str, list[str]] = {}
    for entry in catalogue.entries():
        index.setdefault(_letters(entry.id.rpartition("/")[2]), []).append(entry.id)
    return {letters: ids[0] for letters, ids in index.items() if len(ids) == 1}
