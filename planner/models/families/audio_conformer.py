"""The conformer audio tower of Gemma 3n and Gemma 4 (universal speech model, arXiv:2303.01037)."""

from planner.models.config import Config
from planner.models.families.blocks import layers_of, linear, mlp, rms_norm, self_attention
from planner.models.spec import Extra, Layer, Linear, Run, Stack, StackKind

CLIP_TOKENS = 750
"""Tokens of a 30 s clip inside the tower: one for each 40 ms, after two strided convolutions over 10 ms frames."""


def _layer(config: Config, hidden: int, heads: int) -> Layer:
    """Half-step MLP, chunked attention with relative positions, gated depthwise convolution, half-step MLP."""
    kernel = config.integer("conf_conv_kernel_size", "conv_kernel_size", default=5, high=1000)
    chunk = config.integer("conf_attention_chunk_size", "attention_chunk_size", default=12)
    left = config.integer("conf_attention_context_left", "attention_context_left", default=13)
    right = config.integer("conf_attention_context_right", "attention_context_right", default=0, low=0)
    head_dim = hidden // heads
    attention = self_attention(
        hidden, heads, bias=False, window=chunk + left - 1 + right, extras=(Extra("per_dim_scale", head_dim),)
    )
    feed_forward = mlp(hidden, 4 * hidden, bias=False, activation="silu")
    return Layer(
        hidden=hidden,
        mixers=(attention,),
        feed_forwards=(feed_forward, feed_forward),
        norms=(rms_norm(hidden),) * 9,
        extras=(Extra("depthwise_convolution", kernel * hidden),),
        extra_linears=(
            linear("relative_position", hidden, hidden, bias=False, active=0),  # of offsets, not of tokens
            linear("conv_in", hidden, 2 * hidden, bias=False),
            linear("conv_out", hidden, hidden, bias=False),
        ),
    )


def conformer_tower(config: Config) -> Stack:
    """Two strided convolutions over mel frames, then conformer layers; an output projection where configured."""
    hidden = config.integer("hidden_size")
    heads = config.integer("conf_num_attention_heads", "num_attention_heads", default=8)
    depth = layers_of(config, "conf_num_hidden_layers", "num_hidden_layers")
    channels = config.integers("sscp_conv_channel_size", "subsampling_conv_channels", default=[128, 32], low=1)
    first, second = (*channels, 128, 32)[:2] if len(channels) < 2 else channels[:2]
    bands = max(1, config.integer("input_feat_size", default=128) // 4)
    out = config.integer("output_proj_dims", default=0, low=0)
    project: tuple[Linear, ...] = (linear("audio_out", hidden, out),) if out else ()
    return Stack(
        kind=StackKind.AUDIO,
        hidden=hidden,
        runs=(Run(_layer(config, hidden, heads), depth),),
        norms=(rms_norm(first), rms_norm(second)),
        linears=(linear("conv_out", bands * second, hidden, bias=False), *project),
        extras=(Extra("subsampling", 9 * first + 9 * first * second),),
        tokens_per_item=CLIP_TOKENS,
        tokens_out=CLIP_TOKENS // config.integer("conf_reduction_factor", default=1, high=CLIP_TOKENS),
    )
