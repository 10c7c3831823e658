"""State-space mixers: Mamba (arXiv:2312.00752) and Mamba-2 (arXiv:2405.21060), and the models made of them alone."""

from planner.models.config import Config
from planner.models.families.decoder import WIDEST, block, decoder, depth_of, hidden_of
from planner.models.families.registry import family
from planner.models.spec import Extra, Layer, Linear, ModelSpec, Norm, Recurrent, RecurrentKind, Run, Split

UPDATE_FLOPS = 5
"""For each state element and token: decay, outer product, addition, and a multiply-add of the read-out."""
DISCRETISATION_FLOPS = 4
"""For each state element and token of Mamba-1: exp(delta A) and delta B x, which Mamba-2 has for a head only."""


def convolution(channels: int, kernel: int, bias: bool = True) -> Extra:
    """The weights of a causal depthwise convolution."""
    return Extra("convolution", channels * (kernel + (1 if bias else 0)))


def convolution_flops(channels: int, kernel: int) -> float:
    """FLOP of one token through a causal depthwise convolution."""
    return 2.0 * channels * kernel


def mamba1(
    hidden: int,
    inner: int,
    state: int,
    kernel: int,
    rank: int,
    *,
    bias: bool = False,
    conv_bias: bool = True,
    normed: bool = False,
) -> Recurrent:
    """Mamba's selective state space over `inner` channels; `normed` adds norms on delta, B and C (Jamba)."""
    return Recurrent(
        kind=RecurrentKind.MAMBA1,
        hidden=hidden,
        inner=inner,
        projections=(
            Linear(role="in_proj", inputs=hidden, outputs=2 * inner, bias=bias, split=Split.COLUMN),
            Linear(role="x_proj", inputs=inner, outputs=rank + 2 * state, split=Split.ROW),
            Linear(role="dt_proj", inputs=rank, outputs=inner, bias=True, split=Split.COLUMN),
            Linear(role="out_proj", inputs=inner, outputs=hidden, bias=bias, split=Split.ROW),
        ),
        state_elements=inner * state,
        convolution_elements=inner * kernel,
        scan_flops_per_token=float((UPDATE_FLOPS + DISCRETISATION_FLOPS) * inner * state)
        + convolution_flops(inner, kernel),
        inner_norms=(Norm(width=rank), Norm(width=state), Norm(width=state)) if normed else (),
        extras=(convolution(inner, kernel, conv_bias), Extra("state", inner * state + inner)),
    )


def mamba2(
    hidden: int,
    heads: int,
    head_dim: int,
    state: int,
    groups: int,
    kernel: int,
    *,
    bias: bool = False,
    conv_bias: bool = True,
    normed: bool = True,
) -> Recurrent:
    """Mamba-2's state space duality: one decay a head, B and C shared by groups of heads."""
    inner = heads * head_dim
    channels = inner + 2 * groups * state
    return Recurrent(
        kind=RecurrentKind.MAMBA2,
        hidden=hidden,
        inner=inner,
        projections=(
            Linear(role="in_proj", inputs=hidden, outputs=inner + channels + heads, bias=bias, split=Split.COLUMN),
            Linear(role="out_proj", inputs=inner, outputs=hidden, bias=bias, split=Split.ROW),
        ),
        state_elements=inner * state,
        convolution_elements=channels * kernel,
        scan_flops_per_token=float(UPDATE_FLOPS * inner * state) + convolution_flops(channels, kernel),
        inner_norms=(Norm(width=inner),) if normed else (),
        extras=(convolution(channels, kernel, conv_bias), Extra("state", 3 * heads)),
    )


@family("mamba", "falcon_mamba")
def build_mamba(config: Config) -> ModelSpec:
    """Mamba and Falcon-Mamba (arXiv:2410.05355), whose norms on delta, B and C have no gains."""
    hidden = hidden_of(config)
    expand = config.integer("expand", default=2, high=64)
    state = config.integer("state_size", default=16, high=WIDEST)
    default_rank = -(-hidden // 16)
    rank = (
        default_rank
        if config.values.get("time_step_rank") == "auto"
        else config.integer("time_step_rank", default=default_rank, high=WIDEST)
    )
    mixer = mamba1(
        hidden,
        config.integer("intermediate_size", default=expand * hidden, high=WIDEST),
        state,
        config.integer("conv_kernel", default=4, high=1000),
        rank,
        bias=config.flag("use_bias", default=False),
        conv_bias=config.flag("use_conv_bias", default=True),
    )
    layer = block(hidden, mixer, (), norms=1)
    return decoder(config, (Run(layer, depth_of(config)),), family="Mamba", tied=True)


@family("mamba2")
def build_mamba2(config: Config) -> ModelSpec:
    """Mamba-2."""
    hidden = hidden_of(config)
    mixer = mamba2(
        hidden,
        config.integer("num_heads", default=128, high=WIDEST),
        config.integer("head_dim", default=64, high=WIDEST),
        config.integer("state_size", default=128, high=WIDEST),
        config.integer("n_groups", default=8, high=WIDEST),
        config.integer("conv_kernel", default=4, high=1000),
        bias=config.flag("use_bias", default=False),
        conv_bias=config.flag("use_conv_bias", default=True),
    )
    layer: Layer = block(hidden, mixer, (), norms=1)
    return decoder(config, (Run(layer, depth_of(config)),), family="Mamba")
