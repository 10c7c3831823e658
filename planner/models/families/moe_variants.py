"""Mixtures of experts whose layers differ by more than their experts: Llama 4, MiMo-V2, Laguna, Trinity, Grok, ..."""

from typing import Any

from planner.models.config import Config
from planner.models.families import windows
from planner.models.families.decoder import (
    WIDEST,
    attention,
    block,
    decoder,
    head_norms,
    mlp,
    mtp_count,
    mtp_stack,
    runs_of,
    sizes_of,
    width_of,
)
from planner.models.families.experts import at_layer, expert_decoder, experts, sparse_layers
from planner.models.families.registry import family
from planner.models.spec import Extra, Layer, Linear, Mixer, MixtureOfExperts, ModelSpec, Norm, Run
from planner.result import InputError, Problem


@family("llama4_text")
def build_llama4(config: Config) -> ModelSpec:
    """Llama 4: three of four layers attend within chunks, the fourth sees everything without rotation; experts on every
    `interleave_moe_layer_step`-th layer beside one shared expert."""
    sizes = sizes_of(config)
    interval = config.integer("no_rope_layer_interval", default=4)
    chunk = config.integer("attention_chunk_size", default=None)
    bias = config.flag("attention_bias", default=False)
    marks = config.items("no_rope_layers", default=None) or [
        int((index + 1) % interval != 0) for index in range(sizes.depth)
    ]
    step = config.integer("interleave_moe_layer_step", default=1)
    listed = config.integers("moe_layers", default=None)
    sparse = set(range(step - 1, sizes.depth, step) if listed is None else listed)
    count = config.integer("num_local_experts", high=WIDEST)
    expert = mlp(config, sizes.hidden, width_of(config))
    routed = MixtureOfExperts(
        hidden=sizes.hidden,
        experts=count,
        top_k=config.integer("num_experts_per_tok", high=count),
        expert=expert,
        shared=expert,
    )
    dense = mlp(config, sizes.hidden, config.integer("intermediate_size_mlp", default=expert.width))

    def layer_at(index: int) -> Layer:
        local = bool(marks[index % len(marks)])
        mixer = attention(
            sizes,
            window=chunk if local else None,
            chunked=bool(local and chunk),
            rotary=local,
            q_bias=bias,
            kv_bias=bias,
            o_bias=bias,
        )
        return block(sizes.hidden, mixer, routed if index in sparse else dense)

    return decoder(config, runs_of(layer_at, sizes.depth), family="Llama 4")


@family("mimo_v2_flash")
def build_mimo_v2(config: Config) -> ModelSpec:
    """MiMo-V2: sliding layers have their own head counts, widths and sinks; values are narrower than keys."""
    sizes = sizes_of(config)
    pattern = config.integers("hybrid_layer_pattern", high=1)
    if len(pattern) < sizes.depth:
        raise InputError([Problem("wrong-length", "hybrid_layer_pattern", len(pattern), {"low": sizes.depth})])
    window = windows.window_of(config)

    def mixer_at(index: int) -> Mixer:
        sliding = pattern[index] == 1
        prefix = "swa_" if sliding else ""
        heads = config.integer(f"{prefix}num_attention_heads", default=sizes.heads, high=WIDEST)
        sinks = config.flag("add_swa_attention_sink_bias" if sliding else "add_full_attention_sink_bias")
        return attention(
            sizes,
            heads=heads,
            kv_heads=config.integer(f"{prefix}num_key_value_heads", default=sizes.kv_heads, high=WIDEST),
            head_dim=config.integer(f"{prefix}head_dim", default=sizes.head_dim, high=WIDEST),
            value_head_dim=config.integer(f"{prefix}v_head_dim", "v_head_dim", default=sizes.head_dim, high=WIDEST),
            window=window if sliding else None,
            extras=(Extra("sinks", heads),) if sinks else (),
        )

    return expert_decoder(config, "MiMo", sizes, mixer_at=mixer_at, rotary_joined=True)


@family("laguna")
def build_laguna(config: Config) -> ModelSpec:
    """Laguna: sliding layers have more query heads; one gate for every head's output."""
    sizes = sizes_of(config)
    kinds = windows.kinds_of(config, sizes.depth, [windows.FULL] * sizes.depth)
    window = windows.window_of(config)
    names = ("num_attention_heads_per_layer", "num_attention_heads")
    sparse = sparse_layers(config, sizes.depth)
    gated = config.flag("gating", default=True)

    def layer_at(index: int) -> Layer:
        heads = at_layer(config, index, *names, high=WIDEST)
        reach = window if kinds[index] == windows.SLIDING else None
        mixer = attention(sizes, heads=heads, window=reach, qk_norms=head_norms(sizes))
        if sparse[index]:
            part: Any = experts(config, sizes.hidden, index, correction=True)
        else:
            part = mlp(config, sizes.hidden, width_of(config))
        gate = (Linear(role="head_gate", inputs=sizes.hidden, outputs=heads),) if gated else ()
        return block(sizes.hidden, mixer, part, extra_linears=gate)

    return decoder(config, runs_of(layer_at, sizes.depth), family="Laguna", rotary_joined=True)


@family("afmoe")
def build_afmoe(config: Config) -> ModelSpec:
    """Trinity: gated attention, four norms a layer, a window on all but every fourth layer."""
    sizes = sizes_of(config)
    period = config.integer("global_attn_every_n_layers", default=4)
    reach = windows.by_kind(config, sizes.depth, windows.every_nth(sizes.depth, period))

    def mixer_at(index: int) -> Mixer:
        return attention(sizes, window=reach[index], gated=True, qk_norms=head_norms(sizes))

    return expert_decoder(config, "Trinity", sizes, mixer_at=mixer_at, norms=4, expert_fields={"correction": True})


@family("minimax_m3_vl_text")
def build_minimax_m3(config: Config) -> ModelSpec:
    """MiniMax-M3: sparse layers pick blocks of keys by an indexer of its own, with one key a token."""
    sizes = sizes_of(config)
    sparse = config.child("sparse_attention_config") if config.has("sparse_attention_config") else Config({})
    marks = sparse.integers("sparse_attention_freq", default=[])
    index_dim = sparse.integer("sparse_index_dim", default=128)
    index_heads = sparse.integer("sparse_num_index_heads", default=4)
    indexer = (
        Linear(role="index_q", inputs=sizes.hidden, outputs=index_heads * index_dim),
        Linear(role="index_k", inputs=sizes.hidden, outputs=index_dim),
    )
    part = experts(config, sizes.hidden)
    dense = mlp(config, sizes.hidden, config.integer("dense_intermediate_size", "intermediate_size"))
    routed = sparse_layers(config, sizes.depth)

    def layer_at(index: int) -> Layer:
        picks = index < len(marks) and marks[index] == 1
        return Layer(
            hidden=sizes.hidden,
            mixers=(attention(sizes, qk_norms=head_norms(sizes)),),
            feed_forwards=(part if routed[index] else dense,),
            norms=(Norm(width=sizes.hidden),) * 2,
            extras=(Extra("index_norms", 2 * index_dim),) if picks else (),
            extra_linears=indexer if picks else (),
        )

    mtp = mtp_stack(layer_at(sizes.depth - 1), mtp_count(config))
    return decoder(
        config, runs_of(layer_at, sizes.depth), family="MiniMax", mtp=mtp, offset_gain=True, rotary_joined=True
    )


@family("hunyuan")
def build_hunyuan_large(config: Config) -> ModelSpec:
    """Hunyuan-Large (arXiv:2411.02265): groups of `cla_share_factor` layers share their first one's keys and values."""
    sizes = sizes_of(config)
    factor = config.integer("cla_share_factor", default=2) if config.flag("use_cla", default=False) else 1

    def mixer_at(index: int) -> Mixer:
        own = index % factor == 0
        norms = head_norms(sizes)[: 2 if own else 1]
        return attention(sizes, cached=own, projects_kv=own, qk_norms=norms)

    return expert_decoder(config, "Hunyuan", sizes, mixer_at=mixer_at, tied=True)


@family("arctic", "grok-1", "grok-2")
def build_residual(config: Config) -> ModelSpec:
    """Arctic and Grok: Arctic runs a dense MLP as wide as the model beside the experts, Grok-2 a wide one; Grok has
    four norms a layer, Arctic a third one in front of its dense part."""
    sizes = sizes_of(config)
    arctic = config.text("model_type", default="arctic") == "arctic"
    parts: tuple[Any, ...] = (experts(config, sizes.hidden),)
    if config.flag("parallel_attn_mlp_res", "residual_moe", default=False):
        parts += (mlp(config, sizes.hidden, sizes.hidden if arctic else width_of(config)),)
    layer = block(sizes.hidden, attention(sizes), parts, norms=3 if arctic else 4)
    return decoder(config, (Run(layer, sizes.depth),), family="Arctic" if arctic else "Grok")
