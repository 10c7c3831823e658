"""Llama 3.2 Vision, which attends across to image tokens, and Llama 4, which reads them as text."""

import dataclasses
from itertools import groupby

from planner.models.config import Config
from planner.models.families.blocks import block, layer_norm, layers_of, linear, mlp, rms_norm, self_attention
from planner.models.families.multimodal import assemble, text_of
from planner.models.families.registry import family
from planner.models.families.text import decoder_of
from planner.models.families.vision_towers import grid, patch_embedding, per_merged
from planner.models.spec import Attention, Extra, Layer, ModelSpec, Run, Stack, StackKind


def mllama_tower(config: Config) -> Stack:
    """Up to four tiles together: local layers, gated global ones, outputs of several depths side by side."""
    hidden, heads = config.integer("hidden_size"), config.integer("attention_heads", "num_attention_heads")
    width = config.integer("intermediate_size")
    tiles = config.integer("max_num_tiles", default=4, high=1000)
    ratios = len(config.items("supported_aspect_ratios", default=[[1, 1]] * 8)) + 1
    tokens = grid(config, image=448, patch=14) ** 2 + 1
    gates = Extra("gates", 2)
    local = block(self_attention(hidden, heads, bias=False), mlp(hidden, width), layer_norm(hidden))
    extras = (
        Extra("class_token", hidden),
        Extra("position", tokens * hidden),
        Extra("tile_position", ratios * tiles * (tokens + 2) * hidden),
        Extra("gates", 3),
    )
    return Stack(
        kind=StackKind.VISION,
        hidden=hidden,
        runs=(
            Run(local, layers_of(config, "num_hidden_layers")),
            Run(dataclasses.replace(local, extras=(gates,)), layers_of(config, "num_global_layers")),
        ),
        norms=(layer_norm(hidden, copies=2),),
        linears=(patch_embedding(config, hidden, bias=False, patch=14),),
        extras=extras,
        tokens_per_item=tiles * tokens,
        tokens_out=tiles * tokens,
    )


def _across(layer: Layer) -> Layer:
    """A layer that attends to image tokens in place of text: same widths, normed queries and keys, two gates."""
    attention = next(mixer for mixer in layer.mixers if isinstance(mixer, Attention))
    norm = rms_norm(attention.head_dim)
    cross = dataclasses.replace(attention, cross=True, causal=False, rotary=False, qk_norms=(norm, norm))
    return dataclasses.replace(layer, mixers=(cross,), extras=(Extra("gates", 2),))


@family("mllama_text_model")
def build_mllama_text(config: Config) -> ModelSpec:
    """Llama with cross-attention layers at the listed depths and eight more rows of embedding than of head."""
    text = decoder_of(Config({**config.values, "model_type": "llama"}, config.path))
    stack = text.stacks[0]
    layer = stack.runs[0].layer
    across = set(config.integers("cross_attention_layers", default=[]))
    order = groupby(index in across for index in range(stack.depth))
    runs = tuple(Run(_across(layer) if cross else layer, len(list(group))) for cross, group in order)
    embeddings = tuple(
        dataclasses.replace(table, rows=table.rows + 8) if table.role == "token" else table for table in text.embeddings
    )
    stacks = (dataclasses.replace(stack, runs=runs), *text.stacks[1:])
    return dataclasses.replace(text, model_type="mllama_text_model", stacks=stacks, embeddings=embeddings)


@family("mllama")
def build_mllama(config: Config) -> ModelSpec:
    """Llama 3.2 Vision (arXiv:2407.21783)."""
    text = text_of(config, "mllama_text_model")
    vision = config.child("vision_config")
    tower = mllama_tower(vision)
    return assemble(
        config, text, per_merged(tower, linear("projector", vision.integer("vision_output_dim"), text.hidden))
    )


def llama4_tower(config: Config) -> Stack:
    """Llama 4's image encoder: rotary and learned positions, pixel shuffle, two-matrix adapter; one tile."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    patches = grid(config, image=448, patch=14) ** 2
    ratio = config.number("pixel_shuffle_ratio", default=0.5, low=0.01, high=1)
    layer = block(
        self_attention(hidden, heads, rotary=True), mlp(hidden, config.integer("intermediate_size")), layer_norm(hidden)
    )
    tower = Stack(
        kind=StackKind.VISION,
        hidden=hidden,
        runs=(Run(layer, layers_of(config, "num_hidden_layers")),),
        norms=(layer_norm(hidden, copies=2),),
        linears=(patch_embedding(config, hidden, bias=False, patch=14),),
        extras=(Extra("class_token", hidden), Extra("position", (patches + 1) * hidden)),
        tokens_per_item=patches + 1,
        tokens_out=max(1, int(patches * ratio**2)),
    )
    shuffled = int(hidden / ratio**2)
    middle = config.integer("projector_input_dim", default=4096)
    out = config.integer("projector_output_dim", default=4096)
    return per_merged(
        tower, linear("projector", shuffled, middle, bias=False), linear("projector", middle, out, bias=False)
    )


@family("llama4")
def build_llama4(config: Config) -> ModelSpec:
    """Llama 4."""
    text = text_of(config, default="llama4_text")
    vision = config.child("vision_config")
    source = vision.integer("vision_output_dim", default=4096)
    bias = vision.flag("multi_modal_projector_bias")
    tower = per_merged(llama4_tower(vision), linear("projector", source, text.hidden, bias=bias))
    return assemble(config, text, tower)
