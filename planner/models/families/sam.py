"""Segment Anything (arXiv:2304.02643): a windowed image encoder, a prompt encoder and a small mask decoder."""

from planner.models.config import Config
from planner.models.families.blocks import block, layer_norm, layers_of, linear, mlp, self_attention
from planner.models.families.registry import family
from planner.models.families.vision_towers import grid, patch_embedding
from planner.models.spec import Extra, Layer, Linear, ModelSpec, ModelTask, Norm, Run, Stack, StackKind


def _tower(config: Config) -> Stack:
    """ViT with decomposed relative positions; few layers see the whole image, the rest a window."""
    hidden, heads = config.integer("hidden_size"), config.integer("num_attention_heads")
    side = grid(config, image=1024, patch=16)
    window = config.integer("window_size", default=14, high=10**4)
    depth = layers_of(config, "num_hidden_layers")
    everywhere = set(config.integers("global_attn_indexes", default=[]))
    relative = config.flag("use_rel_pos", default=True)

    def layer(reach: int) -> Layer:
        offsets = (Extra("relative_position", 2 * (2 * reach - 1) * (hidden // heads)),) if relative else ()
        return block(
            self_attention(
                hidden,
                heads,
                fused=True,
                bias=config.flag("qkv_bias", default=True),
                o_bias=True,
                window=None if reach == side else reach**2,
                extras=offsets,
            ),
            mlp(hidden, config.integer("mlp_dim"), activation=config.text("hidden_act", default="gelu")),
            layer_norm(hidden),
        )

    out = config.integer("output_channels", default=256)
    return Stack(
        kind=StackKind.VISION,
        hidden=hidden,
        runs=tuple(Run(layer(side if index in everywhere else window)) for index in range(depth)),
        norms=(layer_norm(out, copies=2),),
        linears=(
            patch_embedding(config, hidden),
            linear("neck", hidden, out, bias=False),
            linear("neck", 9 * out, out, bias=False),
        ),
        extras=(Extra("position", side * side * hidden),),
        tokens_per_item=side * side,
        tokens_out=side * side,
    )


def _mask_decoder(config: Config) -> tuple[tuple[Linear, ...], tuple[Norm, ...], tuple[Extra, ...]]:
    """Two-way transformer between tokens and image, upscaling, and an MLP for each mask."""
    hidden, width = config.integer("hidden_size", default=256), config.integer("mlp_dim", default=2048)
    depth = layers_of(config, "num_hidden_layers")
    masks = config.integer("num_multimask_outputs", default=3) + 1
    inner = hidden // config.integer("attention_downsample_rate", default=2)
    crosses = 2 * depth + 1  # tokens to image and back in each layer, tokens to image at the end
    fourth, eighth = hidden // 4, hidden // 8
    iou = config.integer("iou_head_hidden_dim", default=256)
    iou_depth = config.integer("iou_head_depth", default=3, low=2, high=1000)
    linears = (
        linear("attention", hidden, hidden, copies=4 * depth),
        linear("cross", hidden, inner, copies=3 * crosses),
        linear("cross", inner, hidden, copies=crosses),
        linear("up", hidden, width, copies=depth),
        linear("down", width, hidden, copies=depth),
        linear("mask", hidden, hidden, copies=2 * masks),
        linear("mask", hidden, eighth, copies=masks),
        linear("iou", hidden, iou),
        linear("iou", iou, iou, copies=iou_depth - 2),
        linear("iou", iou, masks),
    )
    upscale = 4 * (hidden * fourth + fourth * eighth) + fourth + eighth  # two transposed 2 x 2 convolutions
    norms = (layer_norm(hidden, copies=4 * depth + 1), layer_norm(fourth))
    return linears, norms, (Extra("upscale", upscale), Extra("mask_tokens", (masks + 1) * hidden))


def _prompt_encoder(config: Config) -> tuple[tuple[Norm, ...], tuple[Extra, ...]]:
    """Convolutions over a mask prompt and embeddings of points and boxes."""
    hidden = config.integer("hidden_size", default=256)
    channels = config.integer("mask_input_channels", default=16)
    fourth = max(1, channels // 4)
    convolutions = (4 * fourth + fourth) + (4 * fourth * channels + channels) + (channels * hidden + hidden)
    points = config.integer("num_point_embeddings", default=4) + 2  # plus "no mask" and "not a point"
    norms = (layer_norm(fourth), layer_norm(channels))
    return norms, (Extra("mask_embedding", convolutions), Extra("point_embedding", points * hidden))


@family("sam")
def build_sam(config: Config) -> ModelSpec:
    """SAM; nearly all parameters and time are the image encoder's."""
    vision = config.child("vision_config")
    tower = _tower(vision)
    linears, norms, extras = _mask_decoder(config.child("mask_decoder_config"))
    prompt_norms, prompt_extras = _prompt_encoder(config.child("prompt_encoder_config"))
    frequencies = Extra("position_frequencies", 2 * vision.integer("num_pos_feats", default=128))
    return ModelSpec(
        id="",
        name="",
        model_type="sam",
        task=ModelTask.VISION,
        hidden=tower.hidden,
        max_positions=tower.tokens_per_item,
        stacks=(tower,),
        linears=linears,
        norms=(*norms, *prompt_norms),
        extras=(*extras, *prompt_extras, frequencies),
        dtype=config.text("torch_dtype", "dtype", default="float32"),
    )
