"""Encoder-decoder text models: T5 and BART families."""

from planner.models.config import Config
from planner.models.families.blocks import cross_attention, layer_norm, layers_of, mlp, rms_norm, self_attention, tables
from planner.models.families.registry import family
from planner.models.spec import (
    Attention,
    Extra,
    FeedForward,
    Layer,
    Linear,
    ModelSpec,
    ModelTask,
    Norm,
    Run,
    Stack,
    StackKind,
)


def decoder_layer(attention: Attention, cross: Attention, feed_forward: FeedForward, norm: Norm) -> Layer:
    """Causal self-attention, cross attention and MLP, with a norm for each."""
    return Layer(
        hidden=attention.hidden, mixers=(attention, cross), feed_forwards=(feed_forward,), norms=(norm, norm, norm)
    )


@family("t5", "mt5", "umt5")
def build_t5(config: Config) -> ModelSpec:
    """T5: pre-norm RMS blocks without biases; a relative position bias per stack (arXiv:1910.10683)."""
    hidden = config.integer("d_model", "hidden_size")
    heads = config.integer("num_heads", "num_attention_heads")
    head_dim = config.integer("d_kv", default=64)
    model_type = config.text("model_type")
    projection = config.text("feed_forward_proj", default="relu" if model_type == "t5" else "gated-gelu")
    gated = projection.startswith("gated-")
    feed_forward = mlp(
        hidden, config.integer("d_ff"), activation=projection.removeprefix("gated-"), gated=gated, bias=False
    )
    norm = rms_norm(hidden)
    buckets = config.integer("relative_attention_num_buckets", default=32) * heads
    own = model_type == "umt5"  # a position bias in every layer

    def attention(causal: bool) -> Attention:
        extras = (Extra("relative_attention_bias", buckets),) if own else ()
        return self_attention(hidden, heads, head_dim=head_dim, bias=False, causal=causal, cached=causal, extras=extras)

    def stack(kind: StackKind, layer: Layer, depth: int) -> Stack:
        extras = () if own else (Extra("relative_attention_bias", buckets),)
        return Stack(kind=kind, hidden=hidden, runs=(Run(layer, depth),), norms=(norm,), extras=extras)

    encoder = Layer(hidden=hidden, mixers=(attention(False),), feed_forwards=(feed_forward,), norms=(norm, norm))
    cross = cross_attention(hidden, heads, head_dim=head_dim, bias=False)
    decoder = decoder_layer(attention(True), cross, feed_forward, norm)
    depth = layers_of(config, "num_layers", "num_hidden_layers")
    decoder_depth = layers_of(config, "num_decoder_layers") if config.has("num_decoder_layers") else depth
    vocabulary = config.integer("vocab_size")
    return ModelSpec(
        id="",
        name="",
        model_type=model_type,
        task=ModelTask.SEQ2SEQ,
        hidden=hidden,
        vocabulary=vocabulary,
        max_positions=config.integer("n_positions", default=512),
        embeddings=tables(hidden, token=vocabulary),
        head=Linear(role="head", inputs=hidden, outputs=vocabulary),
        tied=config.flag("tie_word_embeddings", default=True),
        stacks=(stack(StackKind.ENCODER, encoder, depth), stack(StackKind.DECODER, decoder, decoder_depth)),
        dtype=config.text("torch_dtype", "dtype", default="float32"),
    )


@family("bart", "mbart", "m2m_100", "blenderbot", "blenderbot-small", "marian", "pegasus")
def build_bart(config: Config) -> ModelSpec:
    """BART (post-norm, learned positions; arXiv:1910.13461) and its pre-norm or sinusoidal relatives."""
    hidden = config.integer("d_model", "hidden_size")
    model_type = config.text("model_type")
    positions = config.integer("max_position_embeddings")
    vocabulary = config.integer("vocab_size")
    activation = config.text("activation_function", default="gelu")
    stored = model_type != "m2m_100"  # whose sinusoids are computed, not stored
    offset = 2 if model_type in ("bart", "mbart") else 0  # two rows are reserved before the first position
    embedding_norm = (layer_norm(hidden),) if model_type in ("bart", "mbart", "blenderbot-small") else ()
    final_norm = (layer_norm(hidden),) if model_type in ("mbart", "m2m_100", "blenderbot", "pegasus") else ()
    norm = layer_norm(hidden)

    def stack(kind: StackKind, side: str) -> Stack:
        heads = config.integer(f"{side}_attention_heads")
        feed_forward = mlp(hidden, config.integer(f"{side}_ffn_dim"), activation=activation)
        causal = kind is StackKind.DECODER
        attention = self_attention(hidden, heads, causal=causal, cached=causal)
        layer = (
            decoder_layer(attention, cross_attention(hidden, heads), feed_forward, norm)
            if causal
            else Layer(hidden=hidden, mixers=(attention,), feed_forwards=(feed_forward,), norms=(norm, norm))
        )
        runs = (Run(layer, layers_of(config, f"{side}_layers")),)
        return Stack(kind=kind, hidden=hidden, runs=runs, norms=(*embedding_norm, *final_norm))

    rows = positions + offset if stored else 0
    return ModelSpec(
        id="",
        name="",
        model_type=model_type,
        task=ModelTask.SEQ2SEQ,
        hidden=hidden,
        vocabulary=vocabulary,
        max_positions=positions,
        embeddings=(*tables(hidden, token=vocabulary, position=rows), *tables(hidden, position=rows)),
        head=Linear(role="head", inputs=hidden, outputs=vocabulary),
        tied=config.flag("tie_word_embeddings", default=True),
        stacks=(stack(StackKind.ENCODER, "encoder"), stack(StackKind.DECODER, "decoder")),
        dtype=config.text("torch_dtype", "dtype", default="float32"),
    )
