"""Text encoders: BERT and its descendants. Counts follow the base model with its pooler, as checkpoints are saved."""

from planner.models.config import Config
from planner.models.families.blocks import (
    MOST_LAYERS,
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
from planner.models.spec import (
    Embedding,
    Extra,
    FeedForward,
    Layer,
    Linear,
    ModelSpec,
    ModelTask,
    Norm,
    NormKind,
    Run,
    Stack,
    StackKind,
)


def _spec(
    config: Config,
    stack: Stack,
    embeddings: tuple[Embedding, ...],
    *,
    norms: tuple[Norm, ...] | None = None,
    linears: tuple[Linear, ...] = (),
    extras: tuple[Extra, ...] = (),
) -> ModelSpec:
    """An encoder of one stack, with a LayerNorm after the embeddings unless `norms` says otherwise."""
    return ModelSpec(
        id="",
        name="",
        model_type=config.text("model_type"),
        task=ModelTask.ENCODER,
        hidden=stack.hidden,
        vocabulary=config.integer("vocab_size"),
        max_positions=config.integer("max_position_embeddings", default=None),
        embeddings=embeddings,
        stacks=(stack,),
        norms=(layer_norm(embeddings[0].width),) if norms is None else norms,
        linears=linears,
        extras=extras,
        dtype=config.text("torch_dtype", "dtype", default="float32"),
    )


def _stack(hidden: int, *runs: Run, norms: tuple[Norm, ...] = (), extras: tuple[Extra, ...] = ()) -> Stack:
    return Stack(kind=StackKind.ENCODER, hidden=hidden, runs=runs, norms=norms, extras=extras)


def _sizes(config: Config) -> tuple[int, int, int, int]:
    """Hidden width, heads, MLP width and depth under BERT's key names."""
    return (
        config.integer("hidden_size"),
        config.integer("num_attention_heads"),
        config.integer("intermediate_size"),
        layers_of(config, "num_hidden_layers"),
    )


def _activation(config: Config) -> str:
    name: str = config.text("hidden_act", "hidden_activation", default="gelu")
    return name


def _head(config: Config, hidden: int) -> tuple[Linear, ...]:
    """The pooler, or RoBERTa's two-matrix classifier in its place (a reranker)."""
    pooler = linear("pooler", hidden, hidden)
    if architecture(config).endswith("ForSequenceClassification"):
        labels = config.integer("num_labels", default=1)
        return (pooler, linear("classifier", hidden, labels))
    return (pooler,)


@family("bert", "roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "electra", "jina_embeddings_v3")
def build_bert(config: Config) -> ModelSpec:
    """Post-norm blocks, learned or rotary positions, token types, pooler (arXiv:1810.04805, 1907.11692)."""
    hidden, heads, width, depth = _sizes(config)
    model_type = config.text("model_type")
    rotary = model_type == "jina_embeddings_v3"
    layer = block(
        self_attention(hidden, heads, rotary=rotary),
        mlp(hidden, width, activation=_activation(config)),
        layer_norm(hidden),
    )
    positions = 0 if rotary else config.integer("max_position_embeddings")
    types = config.integer("type_vocab_size", default=2, low=0)
    narrow = config.integer("embedding_size", default=hidden)
    embeddings = tables(narrow, token=config.integer("vocab_size"), position=positions, type=types)
    if model_type == "electra":  # no pooler; narrow embeddings are projected up
        widen = (linear("embedding_projection", narrow, hidden),) if narrow != hidden else ()
        return _spec(config, _stack(hidden, Run(layer, depth)), embeddings, linears=widen)
    return _spec(config, _stack(hidden, Run(layer, depth)), embeddings, linears=_head(config, hidden))


@family("albert")
def build_albert(config: Config) -> ModelSpec:
    """BERT with one stored layer for all depths and a factorised embedding (arXiv:1909.11942)."""
    hidden, heads, width, depth = _sizes(config)
    narrow = config.integer("embedding_size", default=128)
    layer = block(self_attention(hidden, heads), mlp(hidden, width, activation=_activation(config)), layer_norm(hidden))
    stored = min(depth, config.integer("num_hidden_groups", default=1) * config.integer("inner_group_num", default=1))
    embeddings = tables(
        narrow,
        token=config.integer("vocab_size"),
        position=config.integer("max_position_embeddings"),
        type=config.integer("type_vocab_size", default=2, low=0),
    )
    around = (linear("embedding_projection", narrow, hidden), linear("pooler", hidden, hidden))
    return _spec(config, _stack(hidden, Run(layer, depth, stored)), embeddings, linears=around)


@family("distilbert")
def build_distilbert(config: Config) -> ModelSpec:
    """BERT at half the depth without token types or pooler (arXiv:1910.01108)."""
    hidden = config.integer("dim", "hidden_size")
    layer = block(
        self_attention(hidden, config.integer("n_heads", "num_attention_heads")),
        mlp(
            hidden,
            config.integer("hidden_dim", "intermediate_size"),
            activation=config.text("activation", default="gelu"),
        ),
        layer_norm(hidden),
    )
    embeddings = tables(
        hidden, token=config.integer("vocab_size"), position=config.integer("max_position_embeddings", default=512)
    )
    return _spec(config, _stack(hidden, Run(layer, layers_of(config, "n_layers", "num_hidden_layers"))), embeddings)


@family("mpnet")
def build_mpnet(config: Config) -> ModelSpec:
    """BERT with a relative position bias shared by all layers (arXiv:2004.09297)."""
    hidden, heads, width, depth = _sizes(config)
    layer = block(self_attention(hidden, heads), mlp(hidden, width, activation=_activation(config)), layer_norm(hidden))
    buckets = config.integer("relative_attention_num_buckets", default=32)
    stack = _stack(hidden, Run(layer, depth), extras=(Extra("relative_attention_bias", buckets * heads),))
    embeddings = tables(hidden, token=config.integer("vocab_size"), position=config.integer("max_position_embeddings"))
    return _spec(config, stack, embeddings, linears=(linear("pooler", hidden, hidden),))


@family("deberta-v2")
def build_deberta(config: Config) -> ModelSpec:
    """Disentangled attention over a table of relative positions (arXiv:2111.09543)."""
    hidden, heads, width, depth = _sizes(config)
    layer = block(self_attention(hidden, heads), mlp(hidden, width, activation=_activation(config)), layer_norm(hidden))
    positions = config.integer("max_position_embeddings")
    extras: tuple[Extra, ...] = ()
    if config.flag("relative_attention"):
        own_keys = () if config.flag("share_att_key") else _position_projections(config, hidden)
        layer = Layer(
            hidden=hidden,
            mixers=layer.mixers,
            feed_forwards=layer.feed_forwards,
            norms=layer.norms,
            extra_linears=own_keys,
        )
        reach = config.integer("position_buckets", default=-1, low=-1)
        if reach < 1:
            reach = config.integer("max_relative_positions", default=-1, low=-1)
        extras = (Extra("relative_embeddings", 2 * (reach if reach > 0 else positions) * hidden),)
    norms: tuple[Norm, ...] = (
        (layer_norm(hidden),) if "layer_norm" in config.text("norm_rel_ebd", default="none") else ()
    )
    kernel = config.integer("conv_kernel_size", default=0, low=0)
    if kernel:
        groups = config.integer("conv_groups", default=1)
        extras += (Extra("convolution", hidden * (hidden // groups) * kernel + hidden),)
        norms += (layer_norm(hidden),)
    narrow = config.integer("embedding_size", default=hidden)
    embeddings = tables(
        narrow,
        token=config.integer("vocab_size"),
        position=positions if config.flag("position_biased_input", default=True) else 0,
        type=config.integer("type_vocab_size", default=0, low=0),
    )
    widen = (linear("embedding_projection", narrow, hidden, bias=False),) if narrow != hidden else ()
    stack = _stack(hidden, Run(layer, depth), norms=norms, extras=extras)
    return _spec(config, stack, embeddings, norms=(layer_norm(hidden),), linears=widen)


def _position_projections(config: Config, hidden: int) -> tuple[Linear, ...]:
    kinds = config.items("pos_att_type", default=[])
    key = (linear("position_key", hidden, hidden),) if "c2p" in kinds else ()
    return (*key, *((linear("position_query", hidden, hidden),) if "p2c" in kinds else ()))


@family("nomic_bert")
def build_nomic(config: Config) -> ModelSpec:
    """Rotary BERT with a gated MLP and no biases (arXiv:2402.01613)."""
    hidden, heads, width, depth = _sizes(config)
    layer = block(
        self_attention(hidden, heads, bias=False, rotary=True, head_dim=config.integer("head_dim", default=0, low=0)),
        mlp(hidden, width, gated=True, bias=False, activation="silu"),
        layer_norm(hidden),
    )
    types = config.integer("type_vocab_size", default=2, low=0)
    embeddings = tables(hidden, token=config.integer("vocab_size"), type=types)
    return _spec(config, _stack(hidden, Run(layer, depth)), embeddings)


@family("new")
def build_new(config: Config) -> ModelSpec:
    """GTE v1.5: rotary BERT with packed q, k, v and a gated MLP whose down matrix alone has a bias."""
    hidden, heads, width, depth = _sizes(config)
    layer = block(
        self_attention(hidden, heads, rotary=True, fused=True),
        FeedForward(hidden=hidden, width=width, fused_gate=True, activation=_activation(config)),
        layer_norm(hidden),
        Extra("down_bias", hidden),
    )
    types = config.integer("type_vocab_size", default=0, low=0)
    embeddings = tables(hidden, token=config.integer("vocab_size"), type=types)
    return _spec(config, _stack(hidden, Run(layer, depth)), embeddings)


@family("modernbert")
def build_modernbert(config: Config) -> ModelSpec:
    """Pre-norm rotary encoder, one global layer in every few, the rest windowed (arXiv:2412.13663)."""
    hidden, heads, width, depth = _sizes(config)
    norm = Norm(width=hidden, kind=NormKind.LAYER, bias=config.flag("norm_bias"))
    every = config.integer("global_attn_every_n_layers", default=3, high=MOST_LAYERS)
    window = config.integer("local_attention", default=128)
    mlp_bias = config.flag("mlp_bias")

    def layer(index: int) -> Layer:
        attention = self_attention(
            hidden,
            heads,
            bias=config.flag("attention_bias"),
            rotary=True,
            fused=True,
            window=window if index % every else None,
        )
        gated = FeedForward(hidden=hidden, width=width, fused_gate=True, bias=mlp_bias, activation=_activation(config))
        norms = (norm, norm) if index else (norm,)  # the embedding norm stands in for the first layer's
        return Layer(hidden=hidden, mixers=(attention,), feed_forwards=(gated,), norms=norms)

    stack = _stack(hidden, *(Run(layer(index)) for index in range(depth)), norms=(norm,))
    return _spec(config, stack, tables(hidden, token=config.integer("vocab_size")), norms=(norm,))


@family("esm")
def build_esm(config: Config) -> ModelSpec:
    """Pre-norm protein encoder with rotary positions, pooler and contact head (ESM-2, doi:10.1126/science.ade2574)."""
    hidden, heads, width, depth = _sizes(config)
    rotary = config.text("position_embedding_type", default="absolute") == "rotary"
    layer = block(
        self_attention(hidden, heads, rotary=rotary),
        mlp(hidden, width, activation=_activation(config)),
        layer_norm(hidden),
    )
    embeddings = tables(
        hidden, token=config.integer("vocab_size"), position=0 if rotary else config.integer("max_position_embeddings")
    )
    before = (layer_norm(hidden),) if config.flag("emb_layer_norm_before") else ()
    return _spec(
        config,
        _stack(hidden, Run(layer, depth), norms=(layer_norm(hidden),)),
        embeddings,
        norms=before,
        linears=(linear("pooler", hidden, hidden), linear("contact_head", depth * heads, 1)),
    )
