"""Mixtures of experts behind grouped-query attention: Mixtral, Qwen MoE, OLMoE, gpt-oss, GLM-4.5, Ernie, Hunyuan."""

from typing import Any

from planner.models.config import Config
from planner.models.families import windows
from planner.models.families.decoder import attention, full_norms, head_norms, layer_norm, sizes_of
from planner.models.families.experts import expert_decoder
from planner.models.families.llama import biases, norm_options
from planner.models.families.registry import family
from planner.models.spec import Extra, Mixer, ModelSpec


@family("mixtral", "granitemoe", "deepseek", "solar_open")
def build_mixtral(config: Config) -> ModelSpec:
    """Mixtral (arXiv:2401.04088), Granite MoE, DeepSeek-MoE (arXiv:2401.06066), Solar Open: plain attention."""
    sizes = sizes_of(config)
    reach = windows.everywhere(config, sizes.depth)
    bias = config.flag("attention_bias", default=False)

    def mixer_at(index: int) -> Mixer:
        return attention(sizes, window=reach[index], **biases(config, qkv=bias, out=bias))

    tied = config.text("model_type", default="") == "granitemoe"
    return expert_decoder(config, "Mixture of experts", sizes, mixer_at=mixer_at, tied=tied)


@family("phimoe")
def build_phimoe(config: Config) -> ModelSpec:
    """Phi-3.5-MoE: LayerNorms, biases on attention and head."""
    sizes = sizes_of(config)
    reach = windows.everywhere(config, sizes.depth)
    bias = config.flag("attention_bias", default=False)

    def mixer_at(index: int) -> Mixer:
        return attention(sizes, window=reach[index], **biases(config, qkv=bias, out=bias))

    return expert_decoder(
        config,
        "Phi",
        sizes,
        mixer_at=mixer_at,
        norm=layer_norm(sizes.hidden),
        head_bias=config.flag("lm_head_bias", default=False),
    )


@family("qwen2_moe", "qwen3_moe", "qwen3_vl_moe_text")
def build_qwen_moe(config: Config) -> ModelSpec:
    """Qwen1.5 and Qwen2 MoE: biases, a gated shared expert. Qwen3 MoE (arXiv:2505.09388): query and key norms."""
    sizes = sizes_of(config)
    older = config.text("model_type", default="qwen3_moe") == "qwen2_moe"
    reach = windows.opted_in(config, sizes.depth)
    bias = config.flag("attention_bias", default=False)
    options: dict[str, Any] = biases(config, qkv=older or bias, out=bias)
    if not older:
        options["qk_norms"] = head_norms(sizes)

    def mixer_at(index: int) -> Mixer:
        return attention(sizes, window=reach[index], **options)

    return expert_decoder(config, "Qwen MoE", sizes, mixer_at=mixer_at, expert_fields={"shared_gate": older})


@family("olmoe", "minimax_m2")
def build_olmoe(config: Config) -> ModelSpec:
    """OLMoE (arXiv:2409.02060) and MiniMax-M2: query and key norms over all heads."""
    sizes = sizes_of(config)
    bias = config.flag("attention_bias", default=False)
    normed = config.flag("use_qk_norm", default=True)
    mixer = {**biases(config, qkv=bias, out=bias), "qk_norms": full_norms(sizes) if normed else ()}
    joined = config.text("model_type", default="") == "minimax_m2"
    return expert_decoder(config, "Mixture of experts", sizes, mixer=mixer, rotary_joined=joined)


@family("dbrx")
def build_dbrx(config: Config) -> ModelSpec:
    """DBRX: LayerNorms without bias, one qkv matrix, its numbers nested."""
    attn, ffn = config.child("attn_config"), config.child("ffn_config")
    flat = Config(
        {
            **config.values,
            "num_key_value_heads": attn.integer("kv_n_heads"),
            "intermediate_size": ffn.integer("ffn_hidden_size"),
            "num_local_experts": ffn.integer("moe_num_experts"),
            "num_experts_per_tok": ffn.integer("moe_top_k"),
        },
        config.path,
    )
    sizes = sizes_of(flat)
    norm = layer_norm(sizes.hidden, bias=False)
    return expert_decoder(flat, "DBRX", sizes, mixer={"fused_qkv": True}, norm=norm)


@family("ernie4_5_moe")
def build_ernie_moe(config: Config) -> ModelSpec:
    """ERNIE 4.5: dense first layers, a shared expert, a trained correction of the router's scores."""
    sizes = sizes_of(config)
    bias = config.flag("use_bias", default=False)
    return expert_decoder(
        config,
        "ERNIE",
        sizes,
        mixer=biases(config, qkv=bias, out=bias),
        expert_fields={"correction": True},
        dense_options={"bias": bias},
        tied=True,
    )


@family("dots1", "hy_v3", "hunyuan_v1_moe", "bailing_moe", "glm4_moe", "glm4v_moe_text")
def build_normed(config: Config) -> ModelSpec:
    """dots.llm1, Hunyuan, Ling and GLM-4.5 (arXiv:2508.06471): per-head query and key norms, a shared expert."""
    sizes = sizes_of(config)
    model_type = config.text("model_type", default="glm4_moe")
    reach = windows.from_layer(config, sizes.depth) if model_type == "dots1" else [None] * sizes.depth
    qkv = config.flag("attention_bias", "use_qkv_bias", default=False)
    out = qkv and not model_type.startswith("glm")
    options = {
        **biases(config, qkv=qkv, out=out),
        **norm_options(sizes, config, default=not model_type.startswith("glm")),
    }

    def mixer_at(index: int) -> Mixer:
        return attention(sizes, window=reach[index], **options)

    fields = {"correction": config.flag("moe_router_enable_expert_bias", default=False)}
    tied = model_type == "hunyuan_v1_moe"
    return expert_decoder(
        config,
        "Mixture of experts",
        sizes,
        mixer_at=mixer_at,
        expert_fields=fields,
        tied=tied,
        rotary_joined=model_type.startswith("glm"),
    )


@family("gpt_oss")
def build_gpt_oss(config: Config) -> ModelSpec:
    """gpt-oss (arXiv:2508.10925): every second layer slides, a learned sink for every head, biases everywhere."""
    sizes = sizes_of(config)
    reach = windows.by_kind(config, sizes.depth, windows.every_nth(sizes.depth, 2))
    bias = config.flag("attention_bias", default=True)
    sinks = (Extra("sinks", sizes.heads),)

    def mixer_at(index: int) -> Mixer:
        return attention(sizes, window=reach[index], extras=sinks, **biases(config, qkv=bias, out=bias))

    fields = {"expert_options": {"bias": True, "activation": "swiglu_clamped"}, "router_bias": True}
    return expert_decoder(
        config, "gpt-oss", sizes, mixer_at=mixer_at, expert_fields=fields, offset_gain=True, rotary_joined=True
    )
