"""Phi-3 Vision and Phi-3.5 Vision."""

from planner.models.config import Config
from planner.models.families.multimodal import assemble, text_of, two_layer_projector
from planner.models.families.registry import family
from planner.models.families.vision_dynamic import with_merge
from planner.models.families.vision_towers import clip_tower, per_merged
from planner.models.spec import Extra, ModelSpec

CLIP_LARGE_336 = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "image_size": 336,
    "patch_size": 14,
}
"""openai/clip-vit-large-patch14-336, which the configuration names without its sizes."""


@family("phi3_v")
def build_phi3_v(config: Config) -> ModelSpec:
    """Phi-3.5 Vision (arXiv:2404.14219): CLIP L/14-336, 2 x 2 patches to a token, two-layer projector, separators."""
    text = text_of(config, "phi3")
    tower = with_merge(clip_tower(Config(CLIP_LARGE_336, f"{config.path}img_processor.")), 2)
    merged = 4 * tower.hidden
    first, second = two_layer_projector(merged, text.hidden)
    return assemble(config, text, per_merged(tower, first, second), extras=(Extra("separators", 2 * merged),))
