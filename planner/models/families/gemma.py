"""Google's Gemma decoders (arXiv:2403.08295, 2408.00118, 2503.19786): wide heads, tied tables, windows from Gemma 2."""

import dataclasses
from typing import Any

from planner.models.config import Config
from planner.models.families import windows
from planner.models.families.decoder import (
    Sizes,
    activation_of,
    attention,
    block,
    decoder,
    head_norms,
    runs_of,
    sizes_of,
    width_of,
)
from planner.models.families.registry import family
from planner.models.spec import (
    Attention,
    Embedding,
    Extra,
    FeedForward,
    Layer,
    Linear,
    MixtureOfExperts,
    ModelSpec,
    Norm,
    NormKind,
)

TANH = "gelu_pytorch_tanh"


def _mlp(config: Config, hidden: int, width: int) -> FeedForward:
    return FeedForward(hidden=hidden, width=width, activation=activation_of(config, TANH))


@family("gemma", "gemma2", "gemma3_text")
def build_gemma(config: Config) -> ModelSpec:
    """Gemma 1 to 3: every second layer slides in Gemma 2, five of six in Gemma 3, which norms queries and keys."""
    model_type = config.text("model_type", default="gemma")
    sizes = sizes_of(config)
    if model_type == "gemma":
        reach: list[int | None] = [None] * sizes.depth
    elif model_type == "gemma2":
        reach = windows.by_kind(config, sizes.depth, windows.every_nth(sizes.depth, 2))
    else:
        reach = windows.patterned(config, sizes.depth, 6)
    bias = config.flag("attention_bias", default=False)
    mixer: dict[str, Any] = {
        "q_bias": bias,
        "kv_bias": bias,
        "o_bias": bias,
        "qk_norms": head_norms(sizes) if model_type == "gemma3_text" else (),
        "softcap": config.has("attn_logit_softcapping"),
    }
    feed_forward = _mlp(config, sizes.hidden, width_of(config))

    def layer_at(index: int) -> Layer:
        norms = 2 if model_type == "gemma" else 4
        return block(sizes.hidden, attention(sizes, window=reach[index], **mixer), feed_forward, norms=norms)

    return decoder(config, runs_of(layer_at, sizes.depth), family="Gemma", tied=True, offset_gain=True)


def _widths(config: Config, depth: int) -> list[int]:
    """The MLP width of every layer."""
    if isinstance(config.values.get("intermediate_size"), list):
        widths = config.integers("intermediate_size", low=1, high=10**6)
        return [int(widths[min(index, len(widths) - 1)]) for index in range(depth)] if widths else []
    return [width_of(config)] * depth


def _per_layer_inputs(config: Config, sizes: Sizes, width: int) -> dict[str, Any]:
    """Gemma 3n's and 4's second token table, with a slice for every layer, and the matrix that adds context to it."""
    if not width:
        return {}
    rows = config.integer("vocab_size_per_layer_input", default=sizes.vocabulary)
    return {
        "embeddings": (
            Embedding(role="token", rows=sizes.vocabulary, width=sizes.hidden),
            Embedding(role="per_layer", rows=rows, width=sizes.depth * width),
        ),
        "linears": (Linear(role="per_layer_projection", inputs=sizes.hidden, outputs=sizes.depth * width),),
        "norms": (Norm(width=width),),
    }


def _per_layer_gate(hidden: int, width: int) -> tuple[Linear, ...]:
    """The gate on the layer's own input slice, and the way back."""
    if not width:
        return ()
    return (
        Linear(role="per_layer_gate", inputs=hidden, outputs=width),
        Linear(role="per_layer_up", inputs=width, outputs=hidden),
    )


@family("gemma3n_text")
def build_gemma3n(config: Config) -> ModelSpec:
    """Gemma 3n: four parallel residual streams (AltUp, arXiv:2301.13310), low-rank residual (LAuReL, arXiv:2411.07501),
    an own input slice for each layer, and late layers that reuse earlier keys and values."""
    sizes = sizes_of(config)
    streams = config.integer("altup_num_inputs", default=4, high=64)
    rank = config.integer("laurel_rank", default=64)
    width = config.integer("hidden_size_per_layer_input", default=256)
    shared = config.integer("num_kv_shared_layers", default=15, low=0)
    reach = windows.by_kind(config, sizes.depth, windows.every_nth(sizes.depth, 5))
    widths = _widths(config, sizes.depth)
    linears = (
        *_per_layer_gate(sizes.hidden, width),
        Linear(role="laurel_left", inputs=sizes.hidden, outputs=rank),
        Linear(role="laurel_right", inputs=rank, outputs=sizes.hidden),
        Linear(role="altup_router", inputs=sizes.hidden, outputs=streams),
        Linear(role="altup_correction", inputs=streams, outputs=streams),
        Linear(role="altup_prediction", inputs=streams, outputs=streams**2),
    )

    def layer_at(index: int) -> Layer:
        own = index < sizes.depth - shared  # later layers read an earlier layer's keys and values
        norms = head_norms(sizes)[: 2 if own else 1]
        mixer = attention(sizes, window=reach[index], cached=own, projects_kv=own, qk_norms=norms)
        return Layer(
            hidden=sizes.hidden,
            mixers=(mixer,),
            feed_forwards=(_mlp(config, sizes.hidden, widths[index]),),
            norms=(Norm(width=sizes.hidden),) * 7,
            extras=(Extra("altup_scale", sizes.hidden),),
            extra_linears=linears,
        )

    spec = decoder(
        config,
        runs_of(layer_at, sizes.depth),
        family="Gemma",
        tied=True,
        offset_gain=True,
        **_per_layer_inputs(config, sizes, width),
    )
    across = Linear(role="altup_projection", inputs=sizes.hidden, outputs=sizes.hidden)
    return dataclasses.replace(spec, linears=(*spec.linears, *(across,) * (2 * (streams - 1))))


@family("gemma4_text")
def build_gemma4(config: Config) -> ModelSpec:
    """Gemma 4: full layers with wider heads and fewer of them for keys, whose values may be the keys themselves; an MLP
    beside routed experts in the mixture; an own input slice for each layer in the small ones."""
    sizes = sizes_of(config)
    kinds = windows.kinds_of(config, sizes.depth, windows.every_nth(sizes.depth, 6))
    width = config.integer("hidden_size_per_layer_input", default=0, low=0)
    first_shared = sizes.depth - config.integer("num_kv_shared_layers", default=0, low=0, high=sizes.depth)
    double = config.flag("use_double_wide_mlp", default=False)
    dense = width_of(config)

    def layer_at(index: int) -> Layer:
        shared = index >= first_shared
        feed_forward = _mlp(config, sizes.hidden, dense * (2 if double and shared else 1))
        experts = _experts(config, sizes.hidden)
        return Layer(
            hidden=sizes.hidden,
            mixers=(_gemma4_attention(config, sizes, kinds[index], shared),),
            feed_forwards=(feed_forward, *experts),
            norms=(Norm(width=sizes.hidden),) * (4 + (3 if experts else 0) + (1 if width else 0)),
            extra_linears=_per_layer_gate(sizes.hidden, width),
        )

    inputs = _per_layer_inputs(config, sizes, width)
    return decoder(config, runs_of(layer_at, sizes.depth), family="Gemma", tied=True, offset_gain=True, **inputs)


def _gemma4_attention(config: Config, sizes: Sizes, kind: str, shared: bool) -> Attention:
    sliding = kind == windows.SLIDING
    same = not sliding and config.flag("attention_k_eq_v", default=False)
    head_dim = sizes.head_dim if sliding else config.integer("global_head_dim", default=sizes.head_dim)
    kv_heads = config.integer("num_global_key_value_heads", default=sizes.kv_heads) if same else sizes.kv_heads
    norm = Norm(width=head_dim)
    plain = Norm(width=head_dim, kind=NormKind.NONE)  # values are normed without a gain
    return Attention(
        hidden=sizes.hidden,
        heads=sizes.heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        window=windows.window_of(config) if sliding else None,
        cached=not shared,
        projects_kv=not shared,
        projects_v=not same,
        qk_norms=(norm,) if shared else (norm, norm, plain),
    )


def _experts(config: Config, hidden: int) -> tuple[MixtureOfExperts, ...]:
    """Gemma 4's routed experts, with a scale on the router's input and one for every expert."""
    if not config.flag("enable_moe_block", default=False):
        return ()
    experts = config.integer("num_experts", high=10**6)
    return (
        MixtureOfExperts(
            hidden=hidden,
            experts=experts,
            top_k=config.integer("top_k_experts", "num_experts_per_tok", high=experts),
            expert=_mlp(config, hidden, config.integer("moe_intermediate_size", "expert_intermediate_size")),
            extras=(Extra("router_scale", hidden + experts),),
        ),
    )
