"""Vision towers that take images of any size: their grid is the configured one, or that of the position table."""

import dataclasses
import math

from planner.models.config import Config
from planner.models.families.blocks import block, layer_norm, layers_of, linear, mlp, rms_norm, self_attention
from planner.models.families.vision_towers import LARGEST_SIDE, grid, patch_embedding, per_merged
from planner.models.spec import Attention, Extra, FeedForward, Layer, Linear, Norm, Run, Stack, StackKind

TYPICAL_GRID = 48
"""Patches along a side where a configuration names no image size, as in Qwen3-VL's position table (48 x 48)."""

MOST_MERGED = 64
"""No tower merges more patches along a side into one token."""


def _depth_heads(config: Config) -> tuple[int, int]:
    return layers_of(config, "depth", "num_hidden_layers"), config.integer("num_heads", "num_attention_heads")


def _tower(
    layers: tuple[Run, ...],
    patch: Linear,
    side: int,
    merge: int,
    *norms: Norm,
    pixels: int,
    extras: tuple[Extra, ...] = (),
) -> Stack:
    """Blocks on a grid of `side` x `side` patches of `pixels`; `merge` x `merge` become one token that goes out."""
    return Stack(
        kind=StackKind.VISION,
        hidden=patch.outputs,
        runs=layers,
        norms=norms,
        linears=(patch,),
        extras=extras,
        tokens_per_item=side**2,
        tokens_out=max(1, (side // merge) ** 2),
        item_pixels=side * pixels,
    )


def _pixels(config: Config, default: int = 14) -> int:
    """Pixels along a patch's side."""
    size: int = config.integer("patch_size", default=default, high=LARGEST_SIDE)
    return size


def _merge(config: Config) -> int:
    merge: int = config.integer("spatial_merge_size", default=2, high=MOST_MERGED)
    return merge


def _merger(merged: int, out: int) -> tuple[Linear, Linear]:
    """The two matrices that turn merged patches into one token of the decoder."""
    return linear("projector", merged, merged), linear("projector", merged, out)


def qwen2_tower(config: Config, text_hidden: int) -> Stack:
    """Qwen2-VL (arXiv:2409.12191): two-frame patches, rotary positions, a merger of 2 x 2 patches."""
    hidden = config.integer("embed_dim")
    depth, heads = _depth_heads(config)
    width = int(hidden * config.number("mlp_ratio", default=4, low=0.01, high=1000))
    norm = layer_norm(hidden)
    layer = block(
        self_attention(hidden, heads, rotary=True, fused=True), mlp(hidden, width, activation="quick_gelu"), norm
    )
    merge = _merge(config)
    frames = config.integer("temporal_patch_size", default=2)
    patch = patch_embedding(config, hidden, bias=False, frames=frames, patch=14)
    tower = _tower((Run(layer, depth),), patch, TYPICAL_GRID, merge, norm, pixels=_pixels(config))
    return per_merged(tower, *_merger(hidden * merge**2, config.integer("hidden_size", default=text_hidden)))


def qwen2_5_tower(config: Config, text_hidden: int) -> Stack:
    """Qwen2.5-VL (arXiv:2502.13923): RMS norms, gated MLPs, windows of 112 pixels in all but a few layers."""
    hidden = config.integer("hidden_size")
    depth, heads = _depth_heads(config)
    everywhere = set(config.integers("fullatt_block_indexes", default=[7, 15, 23, 31]))
    window = max(1, config.integer("window_size", default=112) // _pixels(config))
    feed_forward = mlp(hidden, config.integer("intermediate_size"), gated=True, activation="silu")

    def layer(reach: int | None) -> Layer:
        attention = self_attention(hidden, heads, rotary=True, fused=True, window=reach)
        return block(attention, feed_forward, rms_norm(hidden))

    runs = tuple(Run(layer(None if index in everywhere else window**2)) for index in range(depth))
    merge = _merge(config)
    frames = config.integer("temporal_patch_size", default=2)
    patch = patch_embedding(config, hidden, bias=False, frames=frames, patch=14)
    tower = _tower(runs, patch, TYPICAL_GRID, merge, rms_norm(hidden), pixels=_pixels(config))
    return per_merged(tower, *_merger(hidden * merge**2, config.integer("out_hidden_size", default=text_hidden)))


def qwen3_tower(config: Config, text_hidden: int) -> Stack:
    """Qwen3-VL (arXiv:2511.21631) and Qwen3.5: learned positions; deepstack mergers feed early decoder layers."""
    hidden = config.integer("hidden_size")
    depth, heads = _depth_heads(config)
    layer = block(
        self_attention(hidden, heads, rotary=True, fused=True),
        mlp(hidden, config.integer("intermediate_size"), activation="gelu_pytorch_tanh"),
        layer_norm(hidden),
    )
    merge = _merge(config)
    rows = config.integer("num_position_embeddings", default=TYPICAL_GRID**2)
    patch = patch_embedding(config, hidden, frames=config.integer("temporal_patch_size", default=2))
    positions = (Extra("position", rows * hidden),)
    tower = _tower(
        (Run(layer, depth),),
        patch,
        math.isqrt(rows),
        merge,
        layer_norm(hidden),
        extras=positions,
        pixels=_pixels(config, 16),
    )
    merged, out = hidden * merge**2, config.integer("out_hidden_size", default=text_hidden)
    deep = len(config.integers("deepstack_visual_indexes", default=[]))
    deep_norms = (layer_norm(merged, copies=deep),) if deep else ()
    return per_merged(tower, *_merger(merged, out) * (1 + deep), norms=deep_norms)


def glm4v_tower(config: Config, text_hidden: int) -> Stack:
    """GLM-4.5V (arXiv:2507.01006): RMS norms, gated MLPs, a strided convolution and a gated merger."""
    hidden, out = config.integer("hidden_size"), config.integer("out_hidden_size", default=text_hidden)
    depth, heads = _depth_heads(config)
    bias = config.flag("attention_bias")
    layer = block(
        self_attention(hidden, heads, rotary=True, fused=True, bias=bias, o_bias=False),
        mlp(hidden, out, gated=True, bias=False, activation="silu"),
        rms_norm(hidden),
    )
    side, merge = grid(config, image=336, patch=14), _merge(config)
    patch = patch_embedding(config, hidden, frames=config.integer("temporal_patch_size", default=2), patch=14)
    positions = (Extra("position", side**2 * hidden),)
    tower = _tower(
        (Run(layer, depth),), patch, side, merge, rms_norm(hidden, copies=2), extras=positions, pixels=_pixels(config)
    )
    width = config.integer("intermediate_size")
    return per_merged(
        tower,
        linear("conv", merge**2 * hidden, out),
        linear("projector", out, out, bias=False),
        linear("projector", out, 2 * width, bias=False),
        linear("projector", width, out, bias=False),
        norms=(layer_norm(out),),
    )


def pixtral_tower(config: Config) -> Stack:
    """Pixtral (arXiv:2410.07073): rotary positions, RMS norms, gated MLPs, no biases."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    head_dim = config.integer("head_dim", default=hidden // heads)
    layer = block(
        self_attention(hidden, heads, head_dim=head_dim, bias=False, rotary=True),
        mlp(hidden, config.integer("intermediate_size"), gated=True, bias=False, activation="silu"),
        rms_norm(hidden),
    )
    patch = patch_embedding(config, hidden, bias=False)
    side = grid(config, image=1024, patch=16)
    return _tower(
        (Run(layer, layers_of(config, "num_hidden_layers")),),
        patch,
        side,
        1,
        rms_norm(hidden),
        pixels=_pixels(config, 16),
    )


def with_merge(tower: Stack, merge: int) -> Stack:
    """The tower with `merge` x `merge` of its patches in each token that goes out."""
    tokens = max(1, (math.isqrt(tower.tokens_per_item or 1) // merge) ** 2)
    return dataclasses.replace(tower, tokens_out=tokens)


def moonvit_tower(config: Config, text_hidden: int) -> Stack:
    """MoonViT (arXiv:2504.07491): learned and rotary positions; a projector that merges 2 x 2 patches."""
    hidden, heads = config.integer("vt_hidden_size"), config.integer("vt_num_attention_heads")
    inner = config.integer("qkv_hidden_size", default=hidden)
    norm = rms_norm if config.text("norm_type", default="layernorm") == "rmsnorm" else layer_norm
    attention = Attention(
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_dim=inner // heads,
        q_bias=config.flag("attn_bias", default=True),
        kv_bias=config.flag("attn_bias", default=True),
        o_bias=config.flag("attn_bias", default=True),
        causal=False,
        cached=False,
    )
    feed_forward = FeedForward(
        hidden=hidden,
        width=config.integer("vt_intermediate_size"),
        gated=False,
        bias=config.flag("linear_bias", default=True),
        activation="gelu_pytorch_tanh",
    )
    rows, columns = config.integer("init_pos_emb_height", default=64), config.integer("init_pos_emb_width", default=64)
    patch = patch_embedding(config, hidden, bias=config.flag("patch_embed_proj_bias", default=True), patch=14)
    depth = layers_of(config, "vt_num_hidden_layers")
    merge = config.integers("merge_kernel_size", default=[2, 2], low=1, high=MOST_MERGED)
    positions = (Extra("position", rows * columns * hidden),)
    runs = (Run(block(attention, feed_forward, norm(hidden)), depth),)
    tower = _tower(
        runs,
        patch,
        math.isqrt(rows * columns),
        merge[0] if merge else 1,
        norm(hidden),
        extras=positions,
        pixels=_pixels(config),
    )
    merged = hidden * math.prod(merge[:2])
    return per_merged(
        tower, *_merger(merged, config.integer("text_hidden_size", default=text_hidden)), norms=(layer_norm(hidden),)
    )


def minimax_tower(config: Config, text_hidden: int, projector: int) -> Stack:
    """MiniMax-M3: CLIP blocks with rotary positions; each patch is projected before 2 x 2 of them merge."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    options = config.child("img_token_compression_config") if config.has("img_token_compression_config") else config
    layer = block(
        self_attention(hidden, heads, rotary=True), mlp(hidden, config.integer("intermediate_size")), layer_norm(hidden)
    )
    merge, frames = _merge(options), options.integer("temporal_patch_size", default=2)
    patch = patch_embedding(config, hidden, bias=False, frames=frames, patch=14)
    side = grid(config, image=2016, patch=14)
    depth = layers_of(config, "num_hidden_layers")
    tower = _tower((Run(layer, depth),), patch, side, merge, layer_norm(hidden), pixels=_pixels(config))
    tower = dataclasses.replace(
        tower,
        linears=(*tower.linears, linear("projector", hidden, projector), linear("projector", projector, text_hidden)),
    )
    merged = text_hidden * merge**2
    return per_merged(tower, linear("projector", merged, projector), linear("projector", projector, text_hidden))
