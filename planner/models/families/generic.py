"""An unknown architecture with the familiar keys: built as a Llama-like decoder, and what was assumed is told."""

import dataclasses
from typing import Any

from planner.models.config import Config
from planner.models.families import windows
from planner.models.families.decoder import (
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
from planner.models.families.experts import EXPERT_WIDTH, EXPERTS, TOP_K, experts, sparse_layers
from planner.models.spec import Layer, Mixer, ModelSpec
from planner.result import InputError, Problem

REQUIRED = (
    ("hidden_size", "n_embd", "d_model"),
    ("num_hidden_layers", "n_layer", "num_layers", "n_layers"),
    ("num_attention_heads", "n_head", "n_heads", "num_heads"),
    ("vocab_size", "padded_vocab_size"),
)
"""What no decoder can be built without, each with its other names."""


def build_assumed(config: Config) -> ModelSpec:
    """A Llama-like decoder: gated MLP, RMSNorms before attention and MLP, grouped-query or latent attention, experts
    where the configuration has their keys.

    `assumed` lists what the configuration left open, as codes: llama-like, gated-mlp, mlp-width (4 x hidden),
    full-attention (no usable statement of windows), untied-head, experts (Mixtral-like), text-only (the nested text
    model alone). Raises `InputError` with every missing key.
    """
    if not config.has(*REQUIRED[0]) and config.has("text_config"):
        return _with(build_assumed(config.child("text_config")), "text-only")
    problems = [
        Problem("missing-key", f"{config.path}{names[0]}", None, {"accepted": list(names)})
        for names in REQUIRED
        if not config.has(*names)
    ]
    many = config.has(*EXPERTS) and config.integer(*EXPERTS, low=0) > 1
    if many and not config.has(*TOP_K):
        problems.append(Problem("missing-key", f"{config.path}{TOP_K[0]}", None, {"accepted": list(TOP_K)}))
    if many and not config.has(*EXPERT_WIDTH):
        problems.append(
            Problem("missing-key", f"{config.path}{EXPERT_WIDTH[0]}", None, {"accepted": list(EXPERT_WIDTH)})
        )
    if problems:
        raise InputError(problems)
    return _decoder(config, many)


def _decoder(config: Config, many: bool) -> ModelSpec:
    sizes = sizes_of(config)
    assumed = ["llama-like", "gated-mlp"]
    listed = config.has("layer_types", "layers_block_type") and config.has("sliding_window")
    reach = windows.by_kind(config, sizes.depth, []) if listed else [None] * sizes.depth
    if config.has("sliding_window") and not listed:
        assumed.append("full-attention")
    if not config.has("tie_word_embeddings"):
        assumed.append("untied-head")
    if many:
        assumed.append("experts")
    sparse = sparse_layers(config, sizes.depth) if many else [False] * sizes.depth
    if not all(sparse) and not config.has("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"):
        assumed.append("mlp-width")
    bias = config.flag("attention_bias", default=False)
    options: dict[str, Any] = {"q_bias": bias, "kv_bias": bias, "o_bias": bias}
    if config.flag("use_qk_norm", "qk_norm", default=False):
        options["qk_norms"] = head_norms(sizes)

    def layer_at(index: int) -> Layer:
        mixer: Mixer
        if config.has("kv_lora_rank"):
            mixer = latent_attention(config, sizes)
        else:
            mixer = attention(sizes, window=reach[index], **options)
        if sparse[index]:
            return block(sizes.hidden, mixer, experts(config, sizes.hidden, index))
        width = width_of(config, 4 * sizes.hidden)
        mlp_bias = config.flag("mlp_bias", default=False)
        return block(sizes.hidden, mixer, mlp(config, sizes.hidden, width, bias=mlp_bias))

    mtp = mtp_stack(layer_at(sizes.depth - 1), mtp_count(config))
    spec = decoder(config, runs_of(layer_at, sizes.depth), family="", mtp=mtp)
    return _with(spec, *assumed)


def _with(spec: ModelSpec, *codes: str) -> ModelSpec:
    return dataclasses.replace(spec, assumed=(*spec.assumed, *codes))
