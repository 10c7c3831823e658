"""Swin: known by its totals, as every stage has its own width and number of tokens."""

from planner.models.config import Config
from planner.models.families.blocks import MOST_LAYERS, block, layer_norm, linear, mlp, self_attention
from planner.models.families.convnets import MOST_STAGES
from planner.models.families.registry import family
from planner.models.families.vision import classifiers
from planner.models.families.vision_towers import grid, patch_embedding
from planner.models.spec import Attention, Extra, ImageCosts, Layer, Linear, ModelSpec, ModelTask, Run, Stack, StackKind
from planner.result import InputError, Problem


def _layer(config: Config, hidden: int, heads: int, window: int) -> Layer:
    """Attention inside `window` x `window` patches with a learned bias for every offset."""
    table = Extra("relative_position_bias", (2 * window - 1) ** 2 * heads)
    bias = config.flag("qkv_bias", default=True)
    return block(
        self_attention(hidden, heads, bias=bias, o_bias=True, window=window**2, extras=(table,)),
        mlp(
            hidden,
            int(config.number("mlp_ratio", default=4.0, low=0.01, high=1000) * hidden),
            activation=config.text("hidden_act", default="gelu"),
        ),
        layer_norm(hidden),
    )


@family("swin")
def build_swin(config: Config) -> ModelSpec:
    """Swin (arXiv:2103.14030): windowed attention; between stages four patches merge into one of twice the width."""
    depths = config.integers("depths", low=1, high=MOST_LAYERS)
    heads = config.integers("num_heads", low=1, high=10**4)
    if len(depths) != len(heads) or not 1 <= len(depths) <= MOST_STAGES:
        raise InputError([Problem("length-mismatch", "depths", depths, {"num_heads": heads})])
    hidden = config.integer("embed_dim", default=96)
    window = config.integer("window_size", default=7, high=1000)
    side = grid(config, image=224, patch=4)
    stacks = []
    for stage, (depth, count) in enumerate(zip(depths, heads, strict=True)):
        last = stage == len(depths) - 1
        before = (patch_embedding(config, hidden, patch=4),) if stage == 0 else ()
        merge = () if last else (linear("merge", 4 * hidden, 2 * hidden, bias=False, active=0.25),)
        embedded = (layer_norm(hidden),) if stage == 0 else ()
        norms = (*embedded, layer_norm(hidden if last else 4 * hidden))
        stacks.append(
            Stack(
                kind=StackKind.VISION,
                hidden=hidden,
                runs=(Run(_layer(config, hidden, count, window), depth),),
                norms=norms,
                linears=(*before, *merge),
                tokens_per_item=side**2,
            )
        )
        if not last:
            hidden, side = 2 * hidden, -(-side // 2)
    after = classifiers(config, hidden)
    return ModelSpec(
        id="",
        name="",
        model_type="swin",
        task=ModelTask.VISION,
        hidden=hidden,
        image=_costs(config, tuple(stacks), after),
        dtype=config.text("torch_dtype", "dtype", default="float32"),
    )


def _costs(config: Config, stacks: tuple[Stack, ...], after: tuple[Linear, ...]) -> ImageCosts:
    """One image through all stages: matrices, scores and weighted values of each window."""
    multiplies = sum(float(matrix.matrix_elements) for matrix in after)
    activations = sum(float(matrix.outputs) for matrix in after)
    for stack in stacks:
        tokens = stack.tokens_per_item or 0
        for matrix in stack.linears:
            multiplies += tokens * matrix.active * matrix.matrix_elements
            activations += tokens * matrix.active * matrix.outputs
        for run in stack.runs:
            each = run.count * tokens
            multiplies += each * sum(matrix.matrix_elements for matrix in run.layer.linears)
            activations += each * sum(matrix.outputs for matrix in run.layer.linears)
            for mixer in run.layer.mixers:
                if isinstance(mixer, Attention):
                    met = min(mixer.window or tokens, tokens)
                    multiplies += each * 2 * met * mixer.hidden
                    activations += each * (met * mixer.heads + mixer.hidden)
    return ImageCosts(
        parameters=sum(stack.parameters for stack in stacks) + sum(matrix.parameters for matrix in after),
        multiply_accumulates=multiplies,
        activation_elements=activations,
        image_size=config.integer("image_size", default=224),
    )
