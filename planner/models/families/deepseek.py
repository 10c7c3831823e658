"""Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434), dense or with experts; DeepSeek's sparse attention."""

from dataclasses import replace

from planner.models.config import Config
from planner.models.families.decoder import (
    WIDEST,
    Sizes,
    block,
    decoder,
    layer_norm,
    mlp,
    mtp_count,
    mtp_stack,
    runs_of,
    sizes_of,
    width_of,
)
from planner.models.families.experts import expert_decoder, experts
from planner.models.families.registry import family
from planner.models.spec import Extra, LatentAttention, Layer, Linear, Mixer, MixtureOfExperts, ModelSpec, Run


def latent_attention(config: Config, sizes: Sizes, *, indexed: bool = False, gate: int = 0) -> LatentAttention:
    """The latent attention that the configuration states.

    `indexed` adds the lightning indexer of DeepSeek-V3.2, `gate` an output gate of so many outputs.
    """
    linears: tuple[Linear, ...] = ()
    extras: tuple[Extra, ...] = ()
    cached = 0
    query_rank = config.integer("q_lora_rank", default=None, high=WIDEST)
    if indexed:
        heads = config.integer("index_n_heads", default=64, high=WIDEST)
        cached = config.integer("index_head_dim", default=128, high=WIDEST)
        linears = (
            Linear(role="index_q", inputs=query_rank or sizes.hidden, outputs=heads * cached),
            Linear(role="index_k", inputs=sizes.hidden, outputs=cached),
            Linear(role="index_weights", inputs=sizes.hidden, outputs=heads),
        )
        extras = (Extra("index_norm", layer_norm(cached).parameters),)
    if gate:
        linears += (Linear(role="output_gate", inputs=sizes.hidden, outputs=gate),)
    return LatentAttention(
        hidden=sizes.hidden,
        heads=sizes.heads,
        q_lora_rank=query_rank,
        kv_lora_rank=config.integer("kv_lora_rank", high=WIDEST),
        qk_nope_head_dim=config.integer("qk_nope_head_dim", high=WIDEST),
        qk_rope_head_dim=config.integer("qk_rope_head_dim", high=WIDEST),
        v_head_dim=config.integer("v_head_dim", high=WIDEST),
        bias=config.flag("attention_bias", default=False),
        extra_linears=linears,
        indexer_cache_elements=cached,
        extras=extras,
    )


@family("deepseek_v2", "deepseek_v3", "deepseek_v32", "kimi_k2", "glm4_moe_lite", "glm_moe_dsa", "mistral4")
def build_deepseek(config: Config) -> ModelSpec:
    """DeepSeek-V2 and V3 (arXiv:2412.19437), Kimi K2, GLM-4.7-Flash, Mistral Small 4; with a sparse-attention indexer
    DeepSeek-V3.2 (arXiv:2512.02556) and GLM-5, whose later versions share one layer's indexer among several."""
    sizes = sizes_of(config)
    has_indexer = config.text("model_type", default="") in ("deepseek_v32", "glm_moe_dsa")
    kinds = config.items("indexer_types", default=None) or ["full"]

    def mixer_at(index: int) -> Mixer:
        own = has_indexer and kinds[index % len(kinds)] == "full"
        return latent_attention(config, sizes, indexed=own)

    return expert_decoder(config, "DeepSeek", sizes, mixer_at=mixer_at, expert_fields={"router_fp32": True})


@family("minicpm3", "youtu")
def build_dense_latent(config: Config) -> ModelSpec:
    """MiniCPM3 and Youtu: latent attention with dense MLPs."""
    sizes = sizes_of(config)
    layer = block(sizes.hidden, latent_attention(config, sizes), mlp(config, sizes.hidden, width_of(config)))
    return decoder(config, (Run(layer, sizes.depth),), family="Latent attention", tied=True)


@family("longcat_flash")
def build_longcat(config: Config) -> ModelSpec:
    """LongCat-Flash (arXiv:2509.01322): every layer has two latent attentions, two dense MLPs, and routed experts
    beside them; some of the router's choices are zero experts, which do nothing, so fewer are met on average."""
    sizes = sizes_of(config)
    idle = config.integer("zero_expert_num", default=0, low=0, high=WIDEST)
    count = config.integer("n_routed_experts", high=WIDEST)
    chosen = config.integer("moe_topk", high=count + idle)
    routed = MixtureOfExperts(
        hidden=sizes.hidden,
        experts=count,
        top_k=max(1, round(chosen * count / (count + idle))),
        expert=mlp(config, sizes.hidden, config.integer("expert_ffn_hidden_size", high=WIDEST)),
        extra_linears=(Linear(role="router", inputs=sizes.hidden, outputs=idle),) if idle else (),
    )
    dense = mlp(config, sizes.hidden, width_of(config))
    layer = block(sizes.hidden, (latent_attention(config, sizes),) * 2, (dense, dense, routed), norms=4)
    return decoder(config, (Run(layer, sizes.depth),), family="LongCat")


@family("deepseek_v4")
def build_deepseek_v4(config: Config) -> ModelSpec:
    """DeepSeek-V4: one key that is also the value, compressed over `compress_ratios` tokens, hyper-connections."""
    sizes = sizes_of(config)
    ratios = config.integers("compress_ratios", default=[0], high=WIDEST)
    streams = config.integer("hc_mult", default=4, high=64)
    mixes = (2 + streams) * streams
    hyper = Extra("hyper_connections", 2 * (mixes * streams * sizes.hidden + mixes + 3))
    part = experts(config, sizes.hidden)

    def layer_at(index: int) -> Layer:
        mixer = compressed_attention(config, sizes, ratios[index] if index < len(ratios) else 0)
        return block(sizes.hidden, mixer, part, extras=(hyper,))

    head = Extra("hyper_head", streams * streams * sizes.hidden + streams + 1)
    mtp = mtp_stack(layer_at(sizes.depth), mtp_count(config))
    mtp = tuple(replace(stack, extras=(head,) * stack.depth) for stack in mtp)
    return decoder(config, runs_of(layer_at, sizes.depth), family="DeepSeek", extras=(head,), mtp=mtp)


def compressed_attention(config: Config, sizes: Sizes, ratio: int) -> LatentAttention:
    """DeepSeek-V4's attention: within a short window, and on one compressed entry for every `ratio` tokens.

    Cache and attention widths are stated for each token of the context, so an entry of 512 elements for every 4 tokens
    counts as 128. The window's few entries are left out. Up to 16 tokens an entry, entries overlap by one stretch
    and an indexer picks among them.
    """
    width, hidden = sizes.head_dim, sizes.hidden
    query_rank = config.integer("q_lora_rank", high=WIDEST)
    groups, out_rank = config.integer("o_groups", high=WIDEST), config.integer("o_lora_rank", high=WIDEST)
    matrices = [
        Linear(role="q_a", inputs=hidden, outputs=query_rank),
        Linear(role="q_b", inputs=query_rank, outputs=sizes.heads * width),
        Linear(role="kv", inputs=hidden, outputs=width),
        Linear(role="o_a", inputs=sizes.heads * width // groups, outputs=groups * out_rank),
        Linear(role="o_b", inputs=groups * out_rank, outputs=hidden),
    ]
    per_token, indexed, gains = 0, 0, width + sizes.heads  # the key's norm, the sinks
    if ratio:
        per_token = width // ratio
        overlap = 2 if ratio <= 16 else 1
        matrices += [Linear(role="compress", inputs=hidden, outputs=overlap * width)] * 2
        gains += ratio * overlap * width + width
        if overlap == 2:
            heads = config.integer("index_n_heads", default=64, high=WIDEST)
            index_dim = config.integer("index_head_dim", default=128, high=WIDEST)
            indexed = index_dim // ratio
            matrices += [Linear(role="index_compress", inputs=hidden, outputs=overlap * index_dim)] * 2
            matrices += [Linear(role="index_q", inputs=query_rank, outputs=heads * index_dim)]
            matrices += [Linear(role="index_weights", inputs=hidden, outputs=heads)]
            gains += ratio * overlap * index_dim + index_dim
    return LatentAttention(
        hidden=hidden,
        heads=sizes.heads,
        q_lora_rank=query_rank,
        kv_lora_rank=per_token,
        qk_nope_head_dim=per_token,
        qk_rope_head_dim=0,
        v_head_dim=per_token,
        matrices=tuple(matrices),
        indexer_cache_elements=indexed,
        extras=(Extra("gains", gains - per_token),),  # LatentAttention itself counts a norm of `kv_lora_rank`
    )
