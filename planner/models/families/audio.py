"""Speech models: Whisper, wav2vec 2.0 and Whisper-like towers in front of a language model."""

import dataclasses

from planner.models.config import Config
from planner.models.families.blocks import (
    block,
    cross_attention,
    layer_norm,
    layers_of,
    linear,
    mlp,
    self_attention,
    tables,
)
from planner.models.families.registry import family
from planner.models.families.seq2seq import decoder_layer
from planner.models.spec import Extra, Linear, ModelSpec, ModelTask, Run, Stack, StackKind


def whisper_tower(config: Config) -> Stack:
    """Whisper's encoder (arXiv:2212.04356): two convolutions over 30 s of mel frames, then pre-norm blocks.

    The first convolution runs at the mel frame rate, twice as often as there are tokens.
    """
    hidden = config.integer("d_model", "hidden_size")
    heads = config.integer("encoder_attention_heads", "num_attention_heads")
    width = config.integer("encoder_ffn_dim", "intermediate_size")
    tokens = config.integer("max_source_positions", default=1500)
    layer = block(
        self_attention(hidden, heads, k_bias=False),
        mlp(hidden, width, activation=config.text("activation_function", default="gelu")),
        layer_norm(hidden),
    )
    return Stack(
        kind=StackKind.AUDIO,
        hidden=hidden,
        runs=(Run(layer, layers_of(config, "encoder_layers", "num_hidden_layers")),),
        norms=(layer_norm(hidden),),
        linears=(
            linear("conv", 3 * config.integer("num_mel_bins", default=80), hidden, active=2),
            linear("conv", 3 * hidden, hidden),
        ),
        extras=(Extra("position", tokens * hidden),),
        tokens_per_item=tokens,
        tokens_out=tokens,
    )


@family("whisper")
def build_whisper(config: Config) -> ModelSpec:
    """Whisper: an audio encoder and a text decoder with cross attention; no bias on keys."""
    hidden = config.integer("d_model")
    heads = config.integer("decoder_attention_heads")
    feed_forward = mlp(
        hidden, config.integer("decoder_ffn_dim"), activation=config.text("activation_function", default="gelu")
    )
    attention = self_attention(hidden, heads, k_bias=False, causal=True, cached=True)
    layer = decoder_layer(attention, cross_attention(hidden, heads, k_bias=False), feed_forward, layer_norm(hidden))
    vocabulary = config.integer("vocab_size")
    positions = config.integer("max_target_positions", default=448)
    encoder = dataclasses.replace(whisper_tower(config), kind=StackKind.ENCODER)
    decoder = Stack(
        kind=StackKind.DECODER,
        hidden=hidden,
        runs=(Run(layer, layers_of(config, "decoder_layers")),),
        norms=(layer_norm(hidden),),
    )
    return ModelSpec(
        id="",
        name="",
        model_type="whisper",
        task=ModelTask.SPEECH,
        hidden=hidden,
        vocabulary=vocabulary,
        max_positions=positions,
        embeddings=tables(hidden, token=vocabulary, position=positions),
        head=Linear(role="head", inputs=hidden, outputs=vocabulary),
        tied=config.flag("tie_word_embeddings", default=True),
        stacks=(encoder, decoder),
        dtype=config.text("torch_dtype", "dtype", default="float32"),
    )


@family("wav2vec2", "hubert")
def build_wav2vec2(config: Config) -> ModelSpec:
    """wav2vec 2.0 (arXiv:2006.11477): convolutions over the waveform, then an encoder with a CTC head."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    widths = config.integers("conv_dim", low=1, high=10**6)
    kernels = config.integers("conv_kernel", low=1, high=10**4)
    bias = config.flag("conv_bias")
    layered = config.text("feat_extract_norm", default="group") == "layer"
    layer = block(
        self_attention(hidden, heads),
        mlp(hidden, config.integer("intermediate_size"), activation=config.text("hidden_act", default="gelu")),
        layer_norm(hidden),
    )
    extractor = tuple(
        linear("conv", kernel * inputs, outputs, bias=bias)
        for inputs, outputs, kernel in zip((1, *widths), widths, kernels, strict=False)
    )
    extractor_norms = tuple(layer_norm(width) for width in (widths if layered else widths[:1]))
    kernel = config.integer("num_conv_pos_embeddings", default=128)
    groups = config.integer("num_conv_pos_embedding_groups", default=16)
    last = widths[-1] if widths else hidden
    encoder = Stack(
        kind=StackKind.ENCODER,
        hidden=hidden,
        runs=(Run(layer, layers_of(config, "num_hidden_layers")),),
        norms=(*extractor_norms, layer_norm(last), layer_norm(hidden)),
        linears=(*extractor, linear("projector", last, hidden), linear("conv", kernel * (hidden // groups), hidden)),
        extras=(Extra("position_weight_norm", kernel), Extra("mask_embedding", hidden)),
    )
    vocabulary = config.integer("vocab_size", default=32)
    return ModelSpec(
        id="",
        name="",
        model_type=config.text("model_type"),
        task=ModelTask.SPEECH,
        hidden=hidden,
        vocabulary=vocabulary,
        head=Linear(role="head", inputs=hidden, outputs=vocabulary, bias=True),
        stacks=(encoder,),
        dtype=config.text("torch_dtype", "dtype", default="float32"),
    )
