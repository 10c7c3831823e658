"""Other mixers with a constant state: RWKV-4, xLSTM, Griffin (RecurrentGemma), LFM2's short convolutions."""

from typing import Any

from planner.models.config import Config
from planner.models.families import windows
from planner.models.families.decoder import (
    WIDEST,
    activation_of,
    attention,
    block,
    decoder,
    depth_of,
    head_norms,
    hidden_of,
    layer_norm,
    mlp,
    runs_of,
    sizes_of,
    width_of,
)
from planner.models.families.experts import experts, sparse_layers
from planner.models.families.mamba import UPDATE_FLOPS, convolution, convolution_flops
from planner.models.families.registry import family
from planner.models.spec import Extra, FeedForward, Layer, Linear, ModelSpec, Norm, Recurrent, RecurrentKind, Run, Split


@family("rwkv")
def build_rwkv(config: Config) -> ModelSpec:
    """RWKV-4 (arXiv:2305.13048): per channel a numerator, a denominator and a maximum; token shift in both parts.

    The scan takes about 14 FLOP a channel (equations 16 to 18 and the stable form of appendix D).
    """
    hidden = hidden_of(config)
    inner = config.integer("attention_hidden_size", default=hidden, high=WIDEST)
    width = width_of(config, 4 * hidden)
    mixer = Recurrent(
        kind=RecurrentKind.RWKV,
        hidden=hidden,
        inner=inner,
        projections=(
            *(Linear(role=role, inputs=hidden, outputs=inner, split=Split.COLUMN) for role in ("k", "v", "receptance")),
            Linear(role="o", inputs=inner, outputs=hidden, split=Split.ROW),
        ),
        state_elements=3 * inner,
        convolution_elements=2 * hidden,
        scan_flops_per_token=14.0 * inner,
        extras=(Extra("time_mix", 2 * inner + 3 * hidden),),
    )
    layer = Layer(
        hidden=hidden,
        mixers=(mixer,),
        feed_forwards=(FeedForward(hidden=hidden, width=width, gated=False, activation="relu2"),),
        norms=(layer_norm(hidden),) * 2,
        extras=(Extra("channel_mix", 2 * hidden),),
        extra_linears=(Linear(role="channel_receptance", inputs=hidden, outputs=hidden, split=Split.COLUMN),),
    )
    return decoder(
        config,
        (Run(layer, depth_of(config)),),
        family="RWKV",
        norm=layer_norm(hidden),
        norms=(layer_norm(hidden),),
        max_positions=None,
    )


@family("xlstm")
def build_xlstm(config: Config) -> ModelSpec:
    """xLSTM-7B (arXiv:2503.13427): mLSTM with a matrix memory, a normaliser and a maximum for every head."""
    hidden = hidden_of(config)
    heads = config.integer("num_heads", default=8, high=WIDEST)
    bias = config.flag("use_bias", default=False)
    keys = int(hidden * config.number("qk_dim_factor", default=0.5, high=64))
    values = int(hidden * config.number("v_dim_factor", default=1.0, high=64))
    state = keys * (values // heads)

    def into(role: str, outputs: int, biased: bool = bias) -> Linear:
        return Linear(role=role, inputs=hidden, outputs=outputs, bias=biased, split=Split.COLUMN)

    mixer = Recurrent(
        kind=RecurrentKind.XLSTM,
        hidden=hidden,
        inner=values,
        projections=(
            into("q", keys),
            into("k", keys),
            into("v", values),
            into("output_gate", values),
            into("input_gate", heads, True),
            into("forget_gate", heads, True),
            Linear(role="o", inputs=values, outputs=hidden, bias=bias, split=Split.ROW),
        ),
        state_elements=state + keys + heads,
        scan_flops_per_token=float(UPDATE_FLOPS * (state + keys)),
        inner_norms=(Norm(width=values),),
    )
    multiple = config.integer("ffn_round_up_to_multiple_of", default=64, high=10**5)
    wanted = int(hidden * config.number("ffn_proj_factor", default=2.667, high=64))
    width = -(-wanted // multiple) * multiple
    layer = block(hidden, mixer, mlp(config, hidden, width, bias=bias))
    return decoder(config, (Run(layer, depth_of(config)),), family="xLSTM")


@family("recurrent_gemma")
def build_recurrent_gemma(config: Config) -> ModelSpec:
    """RecurrentGemma (arXiv:2404.07839, Griffin arXiv:2402.19427): two RG-LRU blocks, then local attention. The
    recurrence takes about 8 FLOP a channel (its equations 3 and 4); gates are block-diagonal."""
    sizes = sizes_of(config)
    hidden, inner = sizes.hidden, config.integer("lru_width", default=sizes.hidden, high=WIDEST)
    kernel = config.integer("conv1d_width", default=4, high=1000)
    block_width = inner // sizes.heads
    gate = Linear(role="lru_gate", inputs=block_width, outputs=inner, bias=True, split=Split.COLUMN)
    recurrent = Recurrent(
        kind=RecurrentKind.RGLRU,
        hidden=hidden,
        inner=inner,
        projections=(
            Linear(role="in_proj", inputs=hidden, outputs=2 * inner, bias=True, split=Split.COLUMN),
            gate,
            gate,
            Linear(role="out_proj", inputs=inner, outputs=hidden, bias=True, split=Split.ROW),
        ),
        state_elements=inner,
        convolution_elements=inner * (kernel - 1),
        scan_flops_per_token=8.0 * inner + convolution_flops(inner, kernel),
        extras=(convolution(inner, kernel), Extra("decay", inner)),
    )
    bias = config.flag("attention_bias", default=False)
    local = attention(sizes, window=windows.window_of(config), q_bias=bias, kv_bias=bias, o_bias=True)
    pattern = config.items("block_types", "_block_types", default=None) or ["recurrent", "recurrent", "attention"]
    feed_forward = FeedForward(
        hidden=hidden,
        width=max(1, width_of(config) // 2),  # the configuration states gate and up together
        bias=True,
        activation=activation_of(config, "gelu_pytorch_tanh"),
    )

    def layer_at(index: int) -> Layer:
        return block(hidden, local if pattern[index % len(pattern)] == "attention" else recurrent, feed_forward)

    return decoder(
        config, runs_of(layer_at, sizes.depth), family="RecurrentGemma", tied=True, offset_gain=True, rotary_joined=True
    )


@family("lfm2", "lfm2_moe")
def build_lfm2(config: Config) -> ModelSpec:
    """LFM2 (arXiv:2511.23404): doubly gated short convolutions, some layers of attention with query and key norms."""
    sizes = sizes_of(config)
    hidden = sizes.hidden
    kernel = config.integer("conv_L_cache", default=3, high=1000)
    bias = config.flag("conv_bias", default=False)
    short = Recurrent(
        kind=RecurrentKind.SHORT_CONVOLUTION,
        hidden=hidden,
        inner=hidden,
        projections=(
            Linear(role="in_proj", inputs=hidden, outputs=3 * hidden, bias=bias, split=Split.COLUMN),
            Linear(role="out_proj", inputs=hidden, outputs=hidden, bias=bias, split=Split.ROW),
        ),
        convolution_elements=hidden * kernel,
        scan_flops_per_token=convolution_flops(hidden, kernel) + 2.0 * hidden,
        extras=(convolution(hidden, kernel, bias),),
    )
    listed = config.integers("full_attn_idxs", default=list(range(sizes.depth)))
    default = [windows.FULL if index in set(listed) else "conv" for index in range(sizes.depth)]
    kinds = windows.kinds_of(config, sizes.depth, default)
    full = attention(sizes, qk_norms=head_norms(sizes))
    many = config.text("model_type", default="lfm2") == "lfm2_moe"
    sparse = sparse_layers(config, sizes.depth) if many else [False] * sizes.depth
    width = _lfm2_width(config)

    def layer_at(index: int) -> Layer:
        part: Any = experts(config, hidden) if sparse[index] else mlp(config, hidden, width)
        return block(hidden, full if kinds[index] == windows.FULL else short, part)

    return decoder(config, runs_of(layer_at, sizes.depth), family="LFM2", tied=True)


def _lfm2_width(config: Config) -> int:
    """LFM2 states an MLP width that it takes two thirds of and rounds up, unless told not to."""
    width = int(config.integer("intermediate_size", "block_ff_dim", high=WIDEST))
    if not config.flag("block_auto_adjust_ff_dim", default=False):
        return width
    width = int(config.number("block_ffn_dim_multiplier", default=1.0, high=64) * int(2 * width / 3))
    multiple = int(config.integer("block_multiple_of", default=256, high=10**5))
    return -(-width // multiple) * multiple
