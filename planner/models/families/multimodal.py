"""Vision-language and audio-language models: a text decoder, and a tower with a projector in front of it."""

import dataclasses
from collections.abc import Callable

from planner.models.config import Config
from planner.models.families.audio import whisper_tower
from planner.models.families.blocks import linear, rms_norm
from planner.models.families.registry import family
from planner.models.families.text import decoder_of
from planner.models.families.vision_dynamic import (
    glm4v_tower,
    minimax_tower,
    moonvit_tower,
    pixtral_tower,
    qwen2_5_tower,
    qwen2_tower,
    qwen3_tower,
    with_merge,
)
from planner.models.families.vision_towers import clip_tower, per_merged, siglip_tower
from planner.models.spec import Extra, Linear, ModelSpec, ModelTask, Stack
from planner.result import InputError, Problem

Tower = Callable[[Config], Stack]


def text_of(config: Config, model_type: str = "", default: str = "llama") -> ModelSpec:
    """The text decoder: nested in `text_config`, or at the top level in older checkpoints.

    `model_type` is the decoder's own architecture where the nested name is the family's.
    """
    nested = config.child("text_config") if config.has("text_config") else config
    if model_type:
        nested = Config({**nested.values, "model_type": model_type}, nested.path)
    elif nested is config:
        nested = Config({**nested.values, "model_type": default}, nested.path)
    return decoder_of(nested, default=default)


def assemble(config: Config, text: ModelSpec, *towers: Stack, extras: tuple[Extra, ...] = ()) -> ModelSpec:
    """The text model with the towers in front of it; a tying flag at the top level overrules the nested one."""
    return dataclasses.replace(
        text,
        model_type=config.text("model_type"),
        task=ModelTask.MULTIMODAL,
        tied=config.flag("tie_word_embeddings", default=text.tied),
        stacks=(*text.stacks, *towers),
        extras=(*text.extras, *extras),
        dtype=config.text("dtype", "torch_dtype", default=text.dtype),
    )


def two_layer_projector(source: int, hidden: int, *, bias: bool = True) -> tuple[Linear, Linear]:
    """LLaVA's projector: source -> hidden -> hidden."""
    return linear("projector", source, hidden, bias=bias), linear("projector", hidden, hidden, bias=bias)


TOWERS: dict[str, Tower] = {
    "clip_vision_model": clip_tower,
    "siglip_vision_model": siglip_tower,
    "pixtral": pixtral_tower,
}


def named_tower(config: Config, default: str) -> Stack:
    """The tower that a nested `vision_config` names."""
    name = config.text("model_type", default=default)
    if name not in TOWERS:
        raise InputError([Problem("unknown-tower", f"{config.path}model_type", name, {"accepted": sorted(TOWERS)})])
    return TOWERS[name](config)


@family("llava", "llava_next", "llava_onevision", "llava_next_video", "video_llava", "vipllava")
def build_llava(config: Config) -> ModelSpec:
    """LLaVA (arXiv:2310.03744). Tokens are those of one tile; LLaVA-NeXT cuts a large image into several."""
    text = text_of(config)
    tower = named_tower(config.child("vision_config"), "clip_vision_model")
    bias = config.flag("multimodal_projector_bias", default=True)
    tower = per_merged(tower, *two_layer_projector(tower.hidden, text.hidden, bias=bias))
    newline = () if config.text("model_type") == "llava" else (Extra("image_newline", text.hidden),)
    return assemble(config, text, tower, extras=newline)


@family("mistral3")
def build_mistral3(config: Config) -> ModelSpec:
    """Mistral Small 3.1 and later: Pixtral tower, norm, 2 x 2 merge, two-layer projector."""
    text = text_of(config, default="mistral")
    tower = named_tower(config.child("vision_config"), "pixtral")
    merge = config.integer("spatial_merge_size", default=2, high=64)
    bias = config.flag("multimodal_projector_bias")
    tower = per_merged(
        with_merge(tower, merge),
        linear("projector", tower.hidden * merge**2, tower.hidden, bias=False),
        *two_layer_projector(tower.hidden, text.hidden, bias=bias),
        norms=(rms_norm(tower.hidden),),
    )
    return assemble(config, text, tower)


@family("paligemma")
def build_paligemma(config: Config) -> ModelSpec:
    """PaliGemma (arXiv:2407.07726): SigLIP tower and one matrix."""
    text = text_of(config, default="gemma")
    tower = named_tower(config.child("vision_config"), "siglip_vision_model")
    return assemble(config, text, per_merged(tower, linear("projector", tower.hidden, text.hidden)))


@family("gemma3")
def build_gemma3(config: Config) -> ModelSpec:
    """Gemma 3 (arXiv:2503.19786): SigLIP tower, average pooling to 256 tokens, norm, one matrix."""
    text = text_of(config, default="gemma3_text")
    if not config.has("vision_config"):
        return text
    tower = named_tower(config.child("vision_config"), "siglip_vision_model")
    tokens = config.integer("mm_tokens_per_image", default=256)
    tower = per_merged(
        dataclasses.replace(tower, tokens_out=tokens),
        linear("projector", tower.hidden, text.hidden, bias=False),
        norms=(rms_norm(tower.hidden),),
    )
    return assemble(config, text, tower)


@family("qwen2_vl")
def build_qwen2_vl(config: Config) -> ModelSpec:
    """Qwen2-VL (arXiv:2409.12191)."""
    text = text_of(config, "qwen2")
    return assemble(config, text, qwen2_tower(config.child("vision_config"), text.hidden))


@family("qwen2_5_vl")
def build_qwen2_5_vl(config: Config) -> ModelSpec:
    """Qwen2.5-VL (arXiv:2502.13923)."""
    text = text_of(config, "qwen2")
    return assemble(config, text, qwen2_5_tower(config.child("vision_config"), text.hidden))


QWEN3_TEXT = {
    "qwen3_vl": "qwen3",
    "qwen3_vl_moe": "qwen3_moe",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
}


@family(*QWEN3_TEXT)
def build_qwen3_vl(config: Config) -> ModelSpec:
    """Qwen3-VL (arXiv:2511.21631) and Qwen3.5, dense or with experts."""
    text = text_of(config, QWEN3_TEXT[config.text("model_type")])
    if not config.has("vision_config"):
        return text
    return assemble(config, text, qwen3_tower(config.child("vision_config"), text.hidden))


@family("glm4v_moe")
def build_glm4v_moe(config: Config) -> ModelSpec:
    """GLM-4.5V (arXiv:2507.01006)."""
    text = text_of(config, "glm4_moe")
    return assemble(config, text, glm4v_tower(config.child("vision_config"), text.hidden))


@family("kimi_k25", "kimi_k3")
def build_kimi(config: Config) -> ModelSpec:
    """Kimi K2.5 and K3: MoonViT in front of a mixture of experts."""
    text = text_of(config, default="kimi_k2")
    return assemble(config, text, moonvit_tower(config.child("vision_config"), text.hidden))


@family("minimax_m3_vl")
def build_minimax_m3(config: Config) -> ModelSpec:
    """MiniMax-M3."""
    text = text_of(config, default="minimax_m3_vl_text")
    projector = config.integer("projector_hidden_size", default=text.hidden)
    return assemble(config, text, minimax_tower(config.child("vision_config"), text.hidden, projector))


@family("voxtral")
def build_voxtral(config: Config) -> ModelSpec:
    """Voxtral (arXiv:2507.13264): Whisper's encoder, four frames to a token, two-layer projector."""
    text = text_of(config)
    audio = config.child("audio_config")
    tower = whisper_tower(audio)
    source = audio.integer("intermediate_size", default=4 * tower.hidden)
    frames = max(1, source // tower.hidden)
    tower = dataclasses.replace(tower, tokens_out=max(1, (tower.tokens_per_item or 1) // frames))
    tower = per_merged(tower, *two_layer_projector(source, text.hidden, bias=False))
    return assemble(config, text, tower)
