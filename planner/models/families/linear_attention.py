"""Linear attention in most layers, softmax or latent attention in the rest: Qwen3-Next, Kimi, Ling 3, MiniMax."""

from typing import Any

from planner.models.config import Config
from planner.models.families import windows
from planner.models.families.decoder import (
    WIDEST,
    Sizes,
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
from planner.models.families.deepseek import latent_attention
from planner.models.families.experts import expert_decoder, experts
from planner.models.families.mamba import UPDATE_FLOPS, convolution, convolution_flops
from planner.models.families.registry import family
from planner.models.spec import Extra, Layer, Linear, Mixer, ModelSpec, Norm, Recurrent, RecurrentKind, Split

DELTA_FLOPS = 7
"""For each state element and token of a delta rule: decay, multiply-adds of what is stored under the key, of the
correction, and of the read-out (arXiv:2412.06464, equation 10)."""


def gated_delta(config: Config, hidden: int) -> Recurrent:
    """Gated DeltaNet (arXiv:2412.06464): a decay and a step a value head, an output gate, short convolutions."""
    key_heads = config.integer("linear_num_key_heads", default=16, high=WIDEST)
    value_heads = config.integer("linear_num_value_heads", default=32, high=WIDEST)
    key_dim = config.integer("linear_key_head_dim", default=128, high=WIDEST)
    value_dim = config.integer("linear_value_head_dim", default=128, high=WIDEST)
    kernel = config.integer("linear_conv_kernel_dim", default=4, high=1000)
    inner = value_heads * value_dim
    channels = 2 * key_heads * key_dim + inner
    state = value_heads * key_dim * value_dim
    return Recurrent(
        kind=RecurrentKind.LINEAR_ATTENTION,
        hidden=hidden,
        inner=inner,
        projections=(
            Linear(role="in_proj", inputs=hidden, outputs=channels + inner, split=Split.COLUMN),
            Linear(role="decay_step", inputs=hidden, outputs=2 * value_heads, split=Split.COLUMN),
            Linear(role="out_proj", inputs=inner, outputs=hidden, split=Split.ROW),
        ),
        state_elements=state,
        convolution_elements=channels * kernel,
        scan_flops_per_token=float(DELTA_FLOPS * state) + convolution_flops(channels, kernel),
        inner_norms=(Norm(width=value_dim),),
        extras=(convolution(channels, kernel, bias=False), Extra("decay", 2 * value_heads)),
    )


@family("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text")
def build_qwen3_next(config: Config) -> ModelSpec:
    """Qwen3-Next and Qwen3.5: Gated DeltaNet, every fourth layer gated attention; experts, or a dense MLP."""
    sizes = sizes_of(config)
    interval = config.integer("full_attention_interval", default=4)
    kinds = windows.kinds_of(config, sizes.depth, windows.every_nth(sizes.depth, interval, others="linear_attention"))
    bias = config.flag("attention_bias", default=False)
    full = attention(
        sizes,
        gated=config.flag("attn_output_gate", default=True),
        qk_norms=head_norms(sizes),
        q_bias=bias,
        kv_bias=bias,
        o_bias=bias,
    )
    linear = gated_delta(config, sizes.hidden)
    sparse = config.integer("num_experts", default=0, low=0) > 0
    dense = set(config.integers("mlp_only_layers", default=[]))

    def layer_of(kind: str, index: int) -> Layer:
        if sparse and index not in dense:
            part: Any = experts(config, sizes.hidden, shared_gate=True)
        else:
            part = mlp(config, sizes.hidden, width_of(config))
        return block(sizes.hidden, full if kind == windows.FULL else linear, part)

    runs = runs_of(lambda index: layer_of(kinds[index], index), sizes.depth)
    # Qwen3-Next's configuration doesn't tell of its block, which every checkpoint has (as the Hub's counts show)
    default = 1 if config.text("model_type", default="") == "qwen3_next" else 0
    count = mtp_count(config) if config.has("mtp_num_hidden_layers", "num_nextn_predict_layers") else default
    mtp = mtp_stack(layer_of(windows.FULL, sizes.depth), count)
    return decoder(config, runs, family="Qwen3-Next", mtp=mtp, offset_gain=True, rotary_joined=True)


def kimi_delta(
    hidden: int, heads: int, head_dim: int, kernel: int, *, full_decay: bool = False, full_gate: bool = False
) -> Recurrent:
    """Kimi delta attention (arXiv:2510.26692): a delta rule with a decay for every channel; decay and output gate come
    through `head_dim`-wide matrices, or through full ones."""
    inner = heads * head_dim
    state = inner * head_dim

    def through(role: str, full: bool) -> tuple[Linear, ...]:
        if full:
            return (Linear(role=role, inputs=hidden, outputs=inner, split=Split.COLUMN),)
        return (
            Linear(role=f"{role}_a", inputs=hidden, outputs=head_dim),
            Linear(role=f"{role}_b", inputs=head_dim, outputs=inner, split=Split.COLUMN),
        )

    return Recurrent(
        kind=RecurrentKind.LINEAR_ATTENTION,
        hidden=hidden,
        inner=inner,
        projections=(
            *(Linear(role=role, inputs=hidden, outputs=inner, split=Split.COLUMN) for role in ("q", "k", "v")),
            *through("decay", full_decay),
            Linear(role="step", inputs=hidden, outputs=heads, split=Split.COLUMN),
            *through("output_gate", full_gate),
            Linear(role="o", inputs=inner, outputs=hidden, split=Split.ROW),
        ),
        state_elements=state,
        convolution_elements=3 * inner * kernel,
        scan_flops_per_token=float(DELTA_FLOPS * state) + convolution_flops(3 * inner, kernel),
        inner_norms=(Norm(width=head_dim),),
        extras=(convolution(3 * inner, kernel, bias=False), Extra("decay", inner + heads)),
    )


@family("kimi_linear")
def build_kimi_linear(config: Config) -> ModelSpec:
    """Kimi Linear: Kimi delta attention, every fourth layer latent attention; Kimi K3 adds gates and latent experts."""
    sizes = sizes_of(config)
    linear = config.child("linear_attn_config")
    full = set(linear.integers("full_attn_layers", default=[]))  # counted from one
    heads = linear.integer("num_heads", default=sizes.heads, high=WIDEST)
    head_dim = linear.integer("head_dim", default=128, high=WIDEST)
    kernel = linear.integer("short_conv_kernel_size", default=4, high=1000)
    full_gate = linear.flag("use_full_rank_gate", default=False)
    delta = kimi_delta(sizes.hidden, heads, head_dim, kernel, full_gate=full_gate)
    gate = sizes.heads * config.integer("v_head_dim", high=WIDEST) if config.flag("mla_use_output_gate") else 0
    latent = latent_attention(config, sizes, gate=gate)

    def mixer_at(index: int) -> Mixer:
        return latent if index + 1 in full else delta

    return expert_decoder(config, "Kimi", sizes, mixer_at=mixer_at, expert_fields=_latent_experts(config, sizes))


def _latent_experts(config: Config, sizes: Sizes) -> dict[str, Any]:
    """Experts on a narrower stream (Kimi K3), behind a matrix down, one up, and a norm."""
    width = config.integer("routed_expert_hidden_size", default=None, high=WIDEST)
    if width is None:
        return {}
    down = Linear(role="latent_down", inputs=sizes.hidden, outputs=width)
    up = Linear(role="latent_up", inputs=width, outputs=sizes.hidden)
    normed = config.flag("latent_moe_use_norm", default=False)
    return {
        "expert": mlp(config, width, config.integer("moe_intermediate_size", high=WIDEST)),
        "extra_linears": (down, up),
        "extras": (Extra("latent_norm", width),) if normed else (),
    }


@family("bailing_hybrid")
def build_bailing_hybrid(config: Config) -> ModelSpec:
    """Ling 3: Kimi delta attention with full decay and gate, every sixth layer latent attention with a gate a head."""
    sizes = sizes_of(config)
    period = config.integer("layer_group_size", default=6)
    kinds = windows.kinds_of(config, sizes.depth, windows.every_nth(sizes.depth, period, others="linear_attention"))
    delta = kimi_delta(
        sizes.hidden,
        config.integer("linear_num_heads", default=sizes.heads, high=WIDEST),
        config.integer("linear_head_dim", default=128, high=WIDEST),
        config.integer("linear_conv_kernel_dim", "short_conv_kernel_size", default=4, high=1000),
        full_decay=True,
        full_gate=True,
    )
    latent = latent_attention(config, sizes, gate=sizes.heads)

    def mixer_at(index: int) -> Mixer:
        return latent if kinds[index] == windows.FULL else delta

    return expert_decoder(config, "Ling", sizes, mixer_at=mixer_at)


@family("minimax", "minimax_m1", "minimax_text_01")
def build_minimax(config: Config) -> ModelSpec:
    """MiniMax-01 (arXiv:2501.08313): lightning attention with an output gate, every eighth layer softmax attention."""
    sizes = sizes_of(config)
    kinds = windows.kinds_of(config, sizes.depth, windows.every_nth(sizes.depth, 8, others="linear_attention"))
    inner = sizes.heads * sizes.head_dim
    state = inner * sizes.head_dim
    lightning = Recurrent(
        kind=RecurrentKind.LINEAR_ATTENTION,
        hidden=sizes.hidden,
        inner=inner,
        projections=(
            Linear(role="qkv", inputs=sizes.hidden, outputs=3 * inner, split=Split.COLUMN),
            Linear(role="output_gate", inputs=sizes.hidden, outputs=inner, split=Split.COLUMN),
            Linear(role="o", inputs=inner, outputs=sizes.hidden, split=Split.ROW),
        ),
        state_elements=state,
        scan_flops_per_token=float(UPDATE_FLOPS * state),
        inner_norms=(Norm(width=inner),),
    )

    def mixer_at(index: int) -> Mixer:
        return attention(sizes) if kinds[index] == windows.FULL else lightning

    return expert_decoder(config, "MiniMax", sizes, mixer_at=mixer_at)
