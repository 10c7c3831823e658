"""Vision transformers by themselves or in front of a language model: patch embedding, blocks, final norm."""

import dataclasses

from planner.models.config import Config
from planner.models.families.blocks import block, layer_norm, layers_of, linear, mlp, self_attention
from planner.models.spec import Extra, Linear, Norm, Run, Stack, StackKind

LARGEST_SIDE = 100_000
"""Pixels along an image's side: no real configuration asks for more."""


def grid(config: Config, *, image: int | None = None, patch: int | None = None) -> int:
    """Patches along one side of the configured image; `image` and `patch` are the family's defaults in pixels."""
    missing = {} if image is None else {"default": image}
    side = config.integer("image_size", high=LARGEST_SIDE, **missing)
    size = config.integer("patch_size", high=LARGEST_SIDE, **({} if patch is None else {"default": patch}))
    count: int = max(1, side // size)
    return count


def patch_embedding(config: Config, hidden: int, *, bias: bool = True, frames: int = 1, patch: int = 16) -> Linear:
    """The strided convolution that turns each patch (of `frames` frames) into a token."""
    size = config.integer("patch_size", default=patch, high=LARGEST_SIDE)
    channels = config.integer("num_channels", "in_channels", "in_chans", default=3)
    return linear("patch", channels * frames * size * size, hidden, bias=bias)


def clip_tower(config: Config) -> Stack:
    """CLIP's image encoder (arXiv:2103.00020): class token, learned positions, norms before and after."""
    hidden = config.integer("hidden_size")
    patches = grid(config, image=224, patch=32) ** 2
    layer = block(
        self_attention(hidden, config.integer("num_attention_heads")),
        mlp(hidden, config.integer("intermediate_size"), activation=config.text("hidden_act", default="quick_gelu")),
        layer_norm(hidden),
    )
    return Stack(
        kind=StackKind.VISION,
        hidden=hidden,
        runs=(Run(layer, layers_of(config, "num_hidden_layers")),),
        norms=(layer_norm(hidden, copies=2),),
        linears=(patch_embedding(config, hidden, bias=False, patch=32),),
        extras=(Extra("class_token", hidden), Extra("position", (patches + 1) * hidden)),
        tokens_per_item=patches + 1,
        tokens_out=patches,
    )


def siglip_tower(config: Config) -> Stack:
    """SigLIP's image encoder (arXiv:2303.15343): learned positions, no class token, an attention-pooling head."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    width = config.integer("intermediate_size")
    # SigLIP 2 for any aspect ratio states the patches themselves
    patches = config.integer("num_patches", default=grid(config, image=224, patch=16) ** 2)
    activation = config.text("hidden_act", default="gelu_pytorch_tanh")
    layer = block(self_attention(hidden, heads), mlp(hidden, width, activation=activation), layer_norm(hidden))
    pooled = config.flag("vision_use_head", default=True)
    return Stack(
        kind=StackKind.VISION,
        hidden=hidden,
        runs=(Run(layer, layers_of(config, "num_hidden_layers")),),
        norms=(layer_norm(hidden, copies=2 if pooled else 1),),
        linears=(patch_embedding(config, hidden), *(_pooling_head(hidden, width, patches) if pooled else ())),
        extras=(Extra("position", patches * hidden), *((Extra("probe", hidden),) if pooled else ())),
        tokens_per_item=patches,
        tokens_out=patches,
    )


def _pooling_head(hidden: int, width: int, patches: int) -> tuple[Linear, ...]:
    """One query attends to all patches, so keys and values are per token and all else is once per image."""
    once = 1 / patches
    return (
        linear("pool_q", hidden, hidden, active=once),
        linear("pool_kv", hidden, 2 * hidden),
        linear("pool_o", hidden, hidden, active=once),
        linear("pool_up", hidden, width, active=once),
        linear("pool_down", width, hidden, active=once),
    )


def plain_tower(
    config: Config, *, width: int, special_tokens: int = 1, mask_token: bool = False, layer_scale: bool = False
) -> Stack:
    """ViT (arXiv:2010.11929) and DeiT, DINOv2 after it: `special_tokens` are prepended to the patches."""
    hidden = config.integer("hidden_size")
    side = grid(config, image=224, patch=16)
    tokens = side**2 + special_tokens
    bias = config.flag("qkv_bias", default=True)
    feed_forward = mlp(hidden, width, activation=config.text("hidden_act", default="gelu"))
    if config.flag("use_swiglu_ffn"):  # DINOv2 giant keeps the parameters and rounds the width up to 8
        feed_forward = mlp(hidden, (2 * width // 3 + 7) // 8 * 8, gated=True, activation="silu")
    scale = (Extra("layer_scale", 2 * hidden),) if layer_scale else ()
    attention = self_attention(hidden, config.integer("num_attention_heads"), bias=bias, o_bias=True)
    layer = block(attention, feed_forward, layer_norm(hidden), *scale)
    return Stack(
        kind=StackKind.VISION,
        hidden=hidden,
        runs=(Run(layer, layers_of(config, "num_hidden_layers")),),
        norms=(layer_norm(hidden),),
        linears=(patch_embedding(config, hidden),),
        extras=(
            Extra("special_tokens", (special_tokens + (1 if mask_token else 0)) * hidden),
            Extra("position", tokens * hidden),
        ),
        tokens_per_item=tokens,
        tokens_out=tokens,
        item_pixels=side * config.integer("patch_size", default=16),
    )


def per_merged(tower: Stack, *linears: Linear, norms: tuple[Norm, ...] = ()) -> Stack:
    """The tower with a projector at its end that runs once for each token that goes out."""
    share = (tower.tokens_out or 1) / (tower.tokens_per_item or 1)
    scaled = tuple(dataclasses.replace(matrix, active=share) for matrix in linears)
    return dataclasses.replace(tower, linears=(*tower.linears, *scaled), norms=(*tower.norms, *norms))
