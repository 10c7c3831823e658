"""Llama-Nemotron (arXiv:2505.00949): Llama layers thinned out by a search, each on its own."""

from collections.abc import Mapping
from typing import Any

from planner.models.config import Config
from planner.models.families.decoder import WIDEST, Sizes, attention, block, decoder, mlp, runs_of, sizes_of
from planner.models.families.registry import family
from planner.models.spec import Layer, Linear, ModelSpec
from planner.result import InputError, Problem


@family("nemotron-nas", "deci")
def build_nemotron_nas(config: Config) -> ModelSpec:
    """Layers by `block_configs`: attention with its own groups, an MLP of its own width, or neither."""
    sizes = sizes_of(config)
    blocks = config.items("block_configs", longest=2000)
    if len(blocks) < sizes.depth or not all(isinstance(each, Mapping) for each in blocks):
        raise InputError([Problem("wrong-length", f"{config.path}block_configs", len(blocks), {"low": sizes.depth})])

    def layer_at(index: int) -> Layer:
        return _layer(config, sizes, Config(blocks[index], f"{config.path}block_configs[{index}]."))

    return decoder(config, runs_of(layer_at, sizes.depth), family="Nemotron")


def _layer(config: Config, sizes: Sizes, own: Config) -> Layer:
    """One layer; a part that is left out takes its norm with it."""
    attn, ffn = own.child("attention"), own.child("ffn")
    linears: list[Linear] = []
    mixer: tuple[Any, ...] = ()
    feed_forward: tuple[Any, ...] = ()
    if attn.flag("replace_with_linear", default=False):
        linears.append(Linear(role="linear_attention", inputs=sizes.hidden, outputs=sizes.hidden))
    elif not attn.flag("no_op", default=False):
        group = attn.integer("n_heads_in_group", high=sizes.heads)
        window = attn.integer("window_length", default=None)
        bias = config.flag("attention_bias", default=False)
        mixer = (
            attention(
                sizes, kv_heads=max(1, sizes.heads // group), window=window, q_bias=bias, kv_bias=bias, o_bias=bias
            ),
        )
    if ffn.flag("replace_with_linear", default=False):
        linears.append(Linear(role="linear_mlp", inputs=sizes.hidden, outputs=sizes.hidden))
    elif not ffn.flag("no_op", default=False):
        width = int(2 * ffn.number("ffn_mult", high=1000) * sizes.hidden / 3)
        width = min(-(-max(1, width) // 256) * 256, WIDEST)
        feed_forward = (mlp(config, sizes.hidden, width, bias=config.flag("mlp_bias", default=False)),)
    norms = len(mixer) + len(feed_forward) + len(linears)
    return block(sizes.hidden, mixer, feed_forward, norms=norms, extra_linears=tuple(linears))
