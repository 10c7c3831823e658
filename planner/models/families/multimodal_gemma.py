"""Gemma 3n and Gemma 4: text decoder with a vision tower and, in the small ones, a conformer audio tower."""

import dataclasses

from planner.models.config import Config
from planner.models.families.audio_conformer import conformer_tower
from planner.models.families.blocks import layers_of, linear, mlp, rms_norm, self_attention
from planner.models.families.multimodal import assemble, text_of
from planner.models.families.registry import family
from planner.models.families.vision_towers import patch_embedding, per_merged
from planner.models.spec import Extra, Layer, ModelSpec, Run, Stack, StackKind

_BACKBONE_PARAMETERS = 294_126_912
_BACKBONE_MULTIPLIES = 435.74e9
_BACKBONE_ACTIVATIONS = 842.16e6
"""MobileNet-V5-300M: parameters of the checkpoint; multiply-accumulates and activation elements of one 768 x 768
image in timm's benchmark-infer-amp-nchw tables."""


def _mobilenet_v5(tokens: int) -> Stack:
    """Gemma 3n's convolutional image encoder, written as one matrix.

    The matrix has the network's parameters, is met as often as its multiply-accumulates ask for, and is as wide as
    its activation elements ask for.
    """
    active = _BACKBONE_MULTIPLIES / (_BACKBONE_PARAMETERS * tokens)
    outputs = round(_BACKBONE_ACTIVATIONS / (active * tokens))
    inputs = _BACKBONE_PARAMETERS // outputs
    return Stack(
        kind=StackKind.VISION,
        hidden=2048,
        runs=(),
        linears=(linear("conv", inputs, outputs, bias=False, active=active),),
        extras=(Extra("backbone", _BACKBONE_PARAMETERS - inputs * outputs),),
        tokens_per_item=tokens,
        tokens_out=tokens,
    )


def _embedder(config: Config, tower: Stack, hidden: int) -> Stack:
    """Gemma 3n: a small table of special tokens, two norms, one matrix into the decoder, a norm without gain."""
    rows = config.integer("vocab_size", default=128)
    tower = per_merged(
        tower, linear("projector", tower.hidden, hidden, bias=False), norms=(rms_norm(tower.hidden, copies=2),)
    )
    return dataclasses.replace(tower, extras=(*tower.extras, Extra("token", rows * tower.hidden)))


@family("gemma3n")
def build_gemma3n(config: Config) -> ModelSpec:
    """Gemma 3n."""
    text = text_of(config, default="gemma3n_text")
    towers = []
    if config.has("vision_config"):
        vision = config.child("vision_config")
        tower = _mobilenet_v5(config.integer("vision_soft_tokens_per_image", default=256))
        towers.append(_embedder(vision, tower, text.hidden))
    if config.has("audio_config"):
        audio = config.child("audio_config")
        towers.append(_embedder(audio, conformer_tower(audio), text.hidden))
    return assemble(config, text, *towers)


def gemma4_tower(config: Config) -> Stack:
    """Gemma 4's image encoder: two-dimensional rotary and learned positions, four norms, pooling of 3 x 3 patches."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    head_dim = config.integer("head_dim", default=hidden // heads)
    bias = config.flag("attention_bias")
    attention = self_attention(
        hidden, heads, head_dim=head_dim, bias=bias, rotary=True, qk_norms=(rms_norm(head_dim), rms_norm(head_dim))
    )
    layer = Layer(
        hidden=hidden,
        mixers=(attention,),
        feed_forwards=(
            mlp(hidden, config.integer("intermediate_size"), gated=True, bias=False, activation="gelu_pytorch_tanh"),
        ),
        norms=(rms_norm(hidden),) * 4,
    )
    out = config.integer("default_output_length", default=280)
    pool = config.integer("pooling_kernel_size", default=3, high=64)
    positions = 2 * config.integer("position_embedding_size", default=10240) * hidden
    return Stack(
        kind=StackKind.VISION,
        hidden=hidden,
        runs=(Run(layer, layers_of(config, "num_hidden_layers")),),
        linears=(patch_embedding(config, hidden, bias=False),),
        extras=(Extra("position", positions),),
        tokens_per_item=out * pool**2,
        tokens_out=out,
    )


@family("gemma4")
def build_gemma4(config: Config) -> ModelSpec:
    """Gemma 4."""
    text = text_of(config, default="gemma4_text")
    towers = []
    if config.has("vision_config"):
        tower = gemma4_tower(config.child("vision_config"))
        towers.append(per_merged(tower, linear("projector", tower.hidden, text.hidden, bias=False)))
    if config.has("audio_config"):
        audio = config.child("audio_config")
        tower = conformer_tower(audio)
        source = audio.integer("output_proj_dims", default=tower.hidden)
        towers.append(per_merged(tower, linear("projector", source, text.hidden, bias=False)))
    return assemble(config, text, *towers)
