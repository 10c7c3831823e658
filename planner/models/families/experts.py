"""Mixtures of experts: which layers are sparse, the experts' widths, the shared expert, and the decoder around them."""

from collections.abc import Callable
from typing import Any

from planner.models.config import Config
from planner.models.families.decoder import (
    WIDEST,
    Sizes,
    attention,
    block,
    decoder,
    mlp,
    mtp_count,
    mtp_stack,
    runs_of,
    width_of,
)
from planner.models.spec import Extra, FeedForward, Layer, Mixer, MixtureOfExperts, ModelSpec, Norm
from planner.result import InputError, Problem

EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
TOP_K = ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", "experts_per_token", "top_k_experts")
SHARED = ("n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts")
EXPERT_WIDTH = ("moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size")
SHARED_WIDTH = ("shared_expert_intermediate_size", "shared_intermediate_size", "share_expert_dim")


def at_layer(config: Config, index: int, *names: str, **limits: Any) -> Any:
    """A whole number that may be one for all layers or a list with one for each (Hunyuan)."""
    values = dict(config.values)
    for name in names:
        value = values.get(name)
        if isinstance(value, list | tuple):
            if index >= len(value):
                problem = Problem("wrong-length", f"{config.path}{name}", len(value), {"low": index + 1})
                raise InputError([problem])
            values[name] = value[index]
    return Config(values, config.path).integer(*names, **limits)


def sparse_layers(config: Config, depth: int) -> list[bool]:
    """Which layers have routed experts, by whichever of the known patterns the configuration states."""
    kinds = config.items("mlp_layer_types", default=None)
    if kinds is not None:
        return _whole([kind == "sparse" for kind in kinds], depth, config, "mlp_layer_types")
    if isinstance(config.values.get("moe_layer_freq"), list):
        marks = config.items("moe_layer_freq")
        return _whole([mark == 1 for mark in marks], depth, config, "moe_layer_freq")
    first = config.integer("first_k_dense_replace", "num_dense_layers", "moe_layer_start_index", default=0, low=0)
    last = config.integer("moe_layer_end_index", default=depth - 1, low=-1)
    last = depth - 1 if last < 0 else last
    step = config.integer("moe_layer_freq", "moe_layer_interval", "interleave_moe_layer_step", default=1, low=0)
    step = config.integer("decoder_sparse_step", default=step, low=0)
    dense = set(config.integers("mlp_only_layers", default=[]))
    counted_from_one = config.has("decoder_sparse_step", "interleave_moe_layer_step", "moe_layer_interval")
    offset = 1 if counted_from_one else 0
    return [
        step > 0 and first <= index <= last and (index + offset) % step == 0 and index not in dense
        for index in range(depth)
    ]


def _whole(marks: list[bool], depth: int, config: Config, name: str) -> list[bool]:
    if len(marks) < depth:
        raise InputError([Problem("wrong-length", f"{config.path}{name}", len(marks), {"low": depth})])
    return marks[:depth]


def experts(
    config: Config,
    hidden: int,
    index: int = 0,
    *,
    correction: bool = False,
    expert_options: dict[str, Any] | None = None,
    **options: Any,
) -> MixtureOfExperts:
    """The routed experts of a layer and its shared expert, as the configuration names them.

    `correction` adds a trained number to every expert's score; `expert_options` are the experts' `FeedForward` fields,
    `options` are `MixtureOfExperts`' fields.
    """
    count = config.integer(*EXPERTS, high=WIDEST)
    width = at_layer(config, index, *EXPERT_WIDTH, high=WIDEST)
    fields: dict[str, Any] = {
        "hidden": hidden,
        "experts": count,
        "top_k": at_layer(config, index, *TOP_K, high=count),
        "expert": mlp(config, hidden, width, **(expert_options or {})),
        "shared": shared_expert(config, hidden, index, width),
        "extras": (Extra("score_correction", count),) if correction else (),
    }
    return MixtureOfExperts(**{**fields, **options})


def shared_expert(config: Config, hidden: int, index: int, width: int) -> FeedForward | None:
    """The experts that every token meets, joined into one: their own width where stated, else that of the routed."""
    count = at_layer(config, index, *SHARED, default=0, low=0, high=WIDEST)
    own = config.integer(*SHARED_WIDTH, default=0, low=0, high=WIDEST)
    total = own * max(1, count) if own else count * width
    return mlp(config, hidden, total) if total else None


MixerAt = Callable[[int], Mixer | tuple[Mixer, ...]]


def expert_decoder(
    config: Config,
    name: str,
    sizes: Sizes,
    *,
    mixer_at: MixerAt | None = None,
    mixer: dict[str, Any] | None = None,
    expert_fields: dict[str, Any] | None = None,
    dense_options: dict[str, Any] | None = None,
    dense_width: int | None = None,
    norms: int = 2,
    norm: Norm | None = None,
    **options: Any,
) -> ModelSpec:
    """A decoder whose layers have routed experts, but for those that `sparse_layers` leaves dense."""
    sparse = sparse_layers(config, sizes.depth)

    def layer_at(index: int) -> Layer:
        if sparse[index]:
            part: FeedForward | MixtureOfExperts = experts(config, sizes.hidden, index, **(expert_fields or {}))
        else:
            part = mlp(config, sizes.hidden, dense_width or width_of(config), **(dense_options or {}))
        mixing = mixer_at(index) if mixer_at else attention(sizes, **(mixer or {}))
        return block(sizes.hidden, mixing, part, norms=norms, norm=norm)

    mtp = mtp_stack(layer_at(sizes.depth - 1), mtp_count(config))
    return decoder(config, runs_of(layer_at, sizes.depth), family=name, norm=norm, mtp=mtp, **options)
