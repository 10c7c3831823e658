"""Image classifiers and image-text encoders built from vision transformers."""

from planner.models.config import Config
from planner.models.families.blocks import (
    architecture,
    block,
    layer_norm,
    layers_of,
    linear,
    mlp,
    self_attention,
    tables,
)
from planner.models.families.registry import family
from planner.models.families.vision_towers import clip_tower, plain_tower, siglip_tower
from planner.models.spec import Extra, Linear, ModelSpec, ModelTask, Run, Stack, StackKind


def labels(config: Config) -> int:
    """Classes of the classifier: as configured, else ImageNet's 1,000."""
    if config.has("id2label") and not config.has("num_labels"):
        return len(config.child("id2label").values)
    count: int = config.integer("num_labels", default=1000)
    return count


def classifiers(config: Config, hidden: int, *, copies: int = 1) -> tuple[Linear, ...]:
    """What follows the tower: a classifier, a pooler in a bare ViT, or nothing."""
    name = architecture(config)
    if name.endswith("ForImageClassification") or name.endswith("ForImageClassificationWithTeacher"):
        return (linear("classifier", hidden, labels(config), copies=copies),)
    return (linear("pooler", hidden, hidden),) if name in ("ViTModel", "DeiTModel") else ()


def _spec(config: Config, stack: Stack, linears: tuple[Linear, ...]) -> ModelSpec:
    return ModelSpec(
        id="",
        name="",
        model_type=config.text("model_type"),
        task=ModelTask.VISION,
        hidden=stack.hidden,
        max_positions=stack.tokens_per_item,
        stacks=(stack,),
        linears=linears,
        dtype=config.text("torch_dtype", "dtype", default="float32"),
    )


@family("vit")
def build_vit(config: Config) -> ModelSpec:
    """ViT (arXiv:2010.11929)."""
    stack = plain_tower(config, width=config.integer("intermediate_size"))
    return _spec(config, stack, classifiers(config, stack.hidden))


@family("deit")
def build_deit(config: Config) -> ModelSpec:
    """DeiT (arXiv:2012.12877): a distillation token beside the class token, with a classifier of its own."""
    stack = plain_tower(config, width=config.integer("intermediate_size"), special_tokens=2)
    copies = 2 if architecture(config).endswith("WithTeacher") else 1
    return _spec(config, stack, classifiers(config, stack.hidden, copies=copies))


@family("dinov2")
def build_dinov2(config: Config) -> ModelSpec:
    """DINOv2 (arXiv:2304.07193): layer scales, a mask token, no head."""
    width = int(config.integer("hidden_size") * config.number("mlp_ratio", default=4, low=0.01, high=1000))
    stack = plain_tower(config, width=width, mask_token=config.flag("use_mask_token", default=True), layer_scale=True)
    classifier = 2 * stack.hidden  # class token and mean of the patches
    return _spec(config, stack, classifiers(config, classifier))


def _text_tower(config: Config, activation: str, *, causal: bool) -> Stack:
    hidden = config.integer("hidden_size")
    layer = block(
        self_attention(hidden, config.integer("num_attention_heads"), causal=causal),
        mlp(hidden, config.integer("intermediate_size"), activation=config.text("hidden_act", default=activation)),
        layer_norm(hidden),
    )
    return Stack(
        kind=StackKind.ENCODER,
        hidden=hidden,
        runs=(Run(layer, layers_of(config, "num_hidden_layers")),),
        norms=(layer_norm(hidden),),
    )


def _two_towers(config: Config, text: Stack, vision: Stack, linears: tuple[Linear, ...], scalars: int) -> ModelSpec:
    words = config.child("text_config")
    rows = words.integer("vocab_size")
    context = words.integer("max_position_embeddings")
    return ModelSpec(
        id="",
        name="",
        model_type=config.text("model_type"),
        task=ModelTask.VISION,
        hidden=text.hidden,
        vocabulary=rows,
        max_positions=context,
        embeddings=tables(text.hidden, token=rows, position=context),
        stacks=(text, vision),
        linears=linears,
        extras=(Extra("logit_scale", scalars),),
        dtype=config.text("torch_dtype", "dtype", default="float32"),
    )


@family("clip")
def build_clip(config: Config) -> ModelSpec:
    """CLIP (arXiv:2103.00020): a causal text tower and an image tower, each projected to a shared space."""
    text = _text_tower(config.child("text_config"), "quick_gelu", causal=True)
    vision = clip_tower(config.child("vision_config"))
    shared = config.integer("projection_dim", default=512)
    linears = tuple(linear("projection", tower.hidden, shared, bias=False) for tower in (vision, text))
    return _two_towers(config, text, vision, linears, scalars=1)


@family("siglip", "siglip2")
def build_siglip(config: Config) -> ModelSpec:
    """SigLIP (arXiv:2303.15343): bidirectional text tower with a linear head, image tower with attention pooling."""
    words = config.child("text_config")
    text = _text_tower(words, "gelu_pytorch_tanh", causal=False)
    vision = siglip_tower(config.child("vision_config"))
    head = linear("text_head", text.hidden, words.integer("projection_size", default=text.hidden))
    return _two_towers(config, text, vision, (head,), scalars=2)
