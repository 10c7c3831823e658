"""Step 3.5 and 3.7 Flash: gated grouped-query attention, a shared and many routed experts, and a vision tower."""

from itertools import groupby

from planner.models.config import Config
from planner.models.families.blocks import block, layer_norm, layers_of, linear, mlp, rms_norm, self_attention, tables
from planner.models.families.multimodal import assemble
from planner.models.families.registry import family
from planner.models.families.vision_towers import grid, patch_embedding, per_merged
from planner.models.spec import (
    Attention,
    Extra,
    Layer,
    Linear,
    MixtureOfExperts,
    ModelSpec,
    Run,
    Split,
    Stack,
    StackKind,
)

VISION_DEFAULTS = {
    "hidden_size": 1536,
    "intermediate_size": 8960,
    "num_hidden_layers": 47,
    "num_attention_heads": 16,
    "image_size": 728,
    "patch_size": 14,
}
"""Step 3.7's tower where a checkpoint states none: defaults of transformers 5.24 `Step3p7VisionConfig`."""


def _layer(config: Config, window: int | None, sparse: bool) -> Layer:
    """Attention with normed queries and keys and a gate for each head, then a dense MLP or experts."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    head_dim = config.integer("head_dim", default=128)
    attention = Attention(
        hidden=hidden,
        heads=heads,
        kv_heads=config.integer("num_key_value_heads", "num_attention_groups"),
        head_dim=head_dim,
        window=window,
        qk_norms=(rms_norm(head_dim), rms_norm(head_dim)),
    )
    gate = Linear(role="attention_gate", inputs=hidden, outputs=heads, split=Split.COLUMN)
    feed_forward = mlp(hidden, config.integer("intermediate_size"), gated=True, bias=False, activation="silu")
    experts = MixtureOfExperts(
        hidden=hidden,
        experts=config.integer("num_experts", "n_routed_experts", "moe_num_experts", high=10**5),
        top_k=config.integer("num_experts_per_tok", "moe_top_k", default=8, high=10**5),
        expert=mlp(hidden, config.integer("moe_intermediate_size"), gated=True, bias=False, activation="silu"),
        shared=mlp(hidden, config.integer("share_expert_dim"), gated=True, bias=False, activation="silu"),
    )
    return Layer(
        hidden=hidden,
        mixers=(attention,),
        feed_forwards=(experts if sparse else feed_forward,),
        norms=(rms_norm(hidden), rms_norm(hidden)),
        extra_linears=(gate,),
    )


@family("step3p5")
def build_step_text(config: Config) -> ModelSpec:
    """The text decoder: windowed layers between full ones, dense MLPs in the first few."""
    depth = layers_of(config, "num_hidden_layers")
    hidden, vocabulary = config.integer("hidden_size"), config.integer("vocab_size")
    kinds = config.items("layer_types", default=[])
    window = config.integer("sliding_window", default=None)
    dense = config.integer("first_k_dense_replace", default=3, low=0)

    def key(index: int) -> tuple[int | None, bool]:
        windowed = index < len(kinds) and kinds[index] == "sliding_attention"
        return (window if windowed else None), index >= dense

    runs = tuple(Run(_layer(config, *kind), len(list(group))) for kind, group in groupby(map(key, range(depth))))
    return ModelSpec(
        id="",
        name="",
        model_type=config.text("model_type", default="step3p5"),
        hidden=hidden,
        vocabulary=vocabulary,
        max_positions=config.integer("max_position_embeddings", default=None),
        embeddings=tables(hidden, token=vocabulary),
        head=Linear(role="head", inputs=hidden, outputs=vocabulary, split=Split.COLUMN),
        tied=config.flag("tie_word_embeddings"),
        stacks=(Stack(kind=StackKind.DECODER, hidden=hidden, runs=runs, norms=(rms_norm(hidden),)),),
        dtype=config.text("dtype", "torch_dtype", default="bfloat16"),
    )


def _tower(config: Config) -> Stack:
    """ViT with layer scales; two strided 3 x 3 convolutions leave one token of sixteen."""
    hidden = config.integer("hidden_size")
    side = grid(config, image=728, patch=14)
    layer = block(
        self_attention(hidden, config.integer("num_attention_heads"), rotary=True),
        mlp(hidden, config.integer("intermediate_size"), activation="quick_gelu"),
        layer_norm(hidden),
        Extra("layer_scale", 2 * hidden),
    )
    return Stack(
        kind=StackKind.VISION,
        hidden=hidden,
        runs=(Run(layer, layers_of(config, "num_hidden_layers")),),
        norms=(layer_norm(hidden),),
        linears=(
            patch_embedding(config, hidden, bias=False, patch=14),
            linear("conv", 9 * hidden, 2 * hidden, active=0.25),
        ),
        extras=(Extra("position", side**2 * hidden),),
        tokens_per_item=side**2,
        tokens_out=max(1, (side // 4) ** 2),
    )


@family("step3p7")
def build_step(config: Config) -> ModelSpec:
    """Step 3.7 Flash."""
    text = build_step_text(config.child("text_config") if config.has("text_config") else config)
    stated = config.has("vision_config")
    vision = config.child("vision_config") if stated else Config(VISION_DEFAULTS, f"{config.path}vision_config.")
    tower = per_merged(
        _tower(vision),
        linear("conv", 18 * vision.integer("hidden_size"), 4 * vision.integer("hidden_size")),
        linear("projector", 4 * vision.integer("hidden_size"), text.hidden, bias=False),
    )
    return assemble(config, text, tower)
