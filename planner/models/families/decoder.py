"""What decoders share: reading their widths, an attention, an MLP, a layer, and the whole put together."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from planner.models.config import Config
from planner.models.spec import (
    Attention,
    Embedding,
    FeedForward,
    Layer,
    Linear,
    Mixer,
    MixtureOfExperts,
    ModelSpec,
    Norm,
    NormKind,
    Run,
    Split,
    Stack,
    StackKind,
)
from planner.result import InputError, Problem

DEEPEST = 2000
"""No decoder has more layers."""
WIDEST = 10**6
"""No decoder is wider, has more heads or more experts."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The widths that every attention decoder states, under whichever names."""

    hidden: int
    depth: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int


def hidden_of(config: Config) -> int:
    """Width of the residual stream."""
    return int(config.integer("hidden_size", "n_embd", "d_model", "embedding_dim", high=WIDEST))


def depth_of(config: Config) -> int:
    """Number of layers."""
    return int(config.integer("num_hidden_layers", "n_layer", "num_layers", "n_layers", "num_blocks", high=DEEPEST))


def vocabulary_of(config: Config) -> int:
    """Rows of the token table."""
    return int(config.integer("vocab_size", "padded_vocab_size"))


def sizes_of(config: Config) -> Sizes:
    """The widths of an attention decoder; key/value heads default to heads, head_dim to hidden / heads.

    Raises `InputError` where heads cannot share the key/value heads evenly.
    """
    hidden = hidden_of(config)
    heads = config.integer("num_attention_heads", "n_head", "n_heads", "num_heads", high=WIDEST)
    head_dim = config.integer("head_dim", "attention_head_dim", "kv_channels", default=None, high=WIDEST)
    kv_heads = config.integer("num_key_value_heads", "num_kv_heads", "n_head_kv", default=heads, high=WIDEST)
    if heads % kv_heads:
        raise InputError([Problem("heads-not-shared", f"{config.path}num_key_value_heads", kv_heads, {"heads": heads})])
    return Sizes(
        hidden=hidden,
        depth=depth_of(config),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim or max(1, hidden // heads),
        vocabulary=vocabulary_of(config),
    )


def attention(sizes: Sizes, **options: Any) -> Attention:
    """An attention of these sizes; `options` are `Attention`'s fields."""
    fields = {"hidden": sizes.hidden, "heads": sizes.heads, "kv_heads": sizes.kv_heads, "head_dim": sizes.head_dim}
    return Attention(**{**fields, **options})


def head_norms(sizes: Sizes) -> tuple[Norm, Norm]:
    """Query and key norms over one head, with one gain shared by the heads (Qwen3)."""
    return (Norm(width=sizes.head_dim), Norm(width=sizes.head_dim))


def full_norms(sizes: Sizes) -> tuple[Norm, Norm]:
    """Query and key norms over all heads together (OLMo 2)."""
    return (Norm(width=sizes.heads * sizes.head_dim), Norm(width=sizes.kv_heads * sizes.head_dim))


def activation_of(config: Config, default: str = "silu") -> str:
    """Name of the MLP's activation, as transformers spells it."""
    return str(config.text("hidden_act", "hidden_activation", "activation_function", default=default))


def width_of(config: Config, default: int | None = None) -> int:
    """Width of a dense MLP."""
    names = ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size")
    if default is None:
        return int(config.integer(*names, high=WIDEST))
    return int(config.integer(*names, default=default, high=WIDEST))


def mlp(config: Config, hidden: int, width: int, **options: Any) -> FeedForward:
    """A dense MLP; gated, without bias, unless `options` say otherwise."""
    return FeedForward(**{"hidden": hidden, "width": width, "activation": activation_of(config), **options})


def experts_of(config: Config, hidden: int, width: int, **options: Any) -> MixtureOfExperts:
    """Routed experts of `width`, their number and top-k as the configuration names them."""
    experts = config.integer("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts", high=WIDEST)
    top_k = config.integer(
        "num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", "top_k_experts", high=experts
    )
    fields = {"hidden": hidden, "experts": experts, "top_k": top_k, "expert": mlp(config, hidden, width)}
    return MixtureOfExperts(**{**fields, **options})


def block(
    hidden: int,
    mixer: Mixer | tuple[Mixer, ...] = (),
    feed_forward: FeedForward | MixtureOfExperts | tuple[FeedForward | MixtureOfExperts, ...] = (),
    *,
    norms: int = 2,
    norm: Norm | None = None,
    **options: Any,
) -> Layer:
    """A layer with `norms` equal norms (RMS unless `norm` is given)."""
    return Layer(
        hidden=hidden,
        mixers=mixer if isinstance(mixer, tuple) else (mixer,),
        feed_forwards=feed_forward if isinstance(feed_forward, tuple) else (feed_forward,),
        norms=(norm or Norm(width=hidden),) * norms,
        **options,
    )


def layer_norm(width: int, bias: bool = True) -> Norm:
    """A LayerNorm."""
    return Norm(width=width, kind=NormKind.LAYER, bias=bias)


def runs_of(layer_at: Callable[[int], Layer], depth: int) -> tuple[Run, ...]:
    """Layers 0 .. depth - 1, equal neighbours joined."""
    return tuple(Run(layer, len(list(same))) for layer, same in groupby(layer_at(index) for index in range(depth)))


def mtp_stack(layer: Layer, count: int) -> tuple[Stack, ...]:
    """Multi-token-prediction blocks as DeepSeek-V3 builds them (arXiv 2412.19437, section 2.2): each norms the hidden
    state and the next token's embedding, joins the two by a 2h -> h matrix, and runs one layer and a norm."""
    if count == 0:
        return ()
    hidden = layer.hidden
    joined = replace(
        layer,
        norms=(*layer.norms, *(Norm(width=hidden),) * 3),
        extra_linears=(*layer.extra_linears, Linear(role="eh_proj", inputs=2 * hidden, outputs=hidden)),
    )
    return (Stack(kind=StackKind.MTP, hidden=hidden, runs=(Run(joined, count),)),)


def mtp_count(config: Config) -> int:
    """How many multi-token-prediction blocks the checkpoint carries."""
    return int(
        config.integer(
            "num_nextn_predict_layers", "num_mtp_modules", "mtp_num_hidden_layers", default=0, low=0, high=64
        )
    )


def quantization_of(config: Config) -> str | None:
    """The method that the published checkpoint is quantised with, or None."""
    if not config.has("quantization_config"):
        return None
    return config.child("quantization_config").text("quant_method", default=None)


def marked(runs: tuple[Run, ...], offset_gain: bool, rotary_joined: bool) -> tuple[Run, ...]:
    """The runs with what is true of all a family's norms and attentions: how gains are stored, how slices rotate."""
    if not (offset_gain or rotary_joined):
        return runs

    def norms(of: tuple[Norm, ...]) -> tuple[Norm, ...]:
        return tuple(replace(norm, offset_gain=True) for norm in of) if offset_gain else of

    def mixers(layer: Layer) -> tuple[Mixer, ...]:
        return tuple(
            replace(mixer, qk_norms=norms(mixer.qk_norms), rotary_joined=rotary_joined)
            if isinstance(mixer, Attention)
            else mixer
            for mixer in layer.mixers
        )

    return tuple(
        replace(run, layer=replace(run.layer, mixers=mixers(run.layer), norms=norms(run.layer.norms))) for run in runs
    )


def headless(config: Config) -> bool:
    """Whether the checkpoint is a bare model without an output head (embedding models)."""
    names = config.items("architectures", default=[])
    return bool(names) and all(isinstance(name, str) and name.endswith("Model") for name in names)


def decoder(
    config: Config,
    runs: tuple[Run, ...],
    *,
    family: str,
    tied: bool = False,
    norm: Norm | None = None,
    head_bias: bool = False,
    mtp: tuple[Stack, ...] = (),
    offset_gain: bool = False,
    rotary_joined: bool = False,
    **options: Any,
) -> ModelSpec:
    """The whole model: token table, layers, final norm (RMS unless `norm` is given), output head.

    `offset_gain` and `rotary_joined` are `Norm`'s and `Attention`'s fields, for all layers. `tied` is the family's
    default where the configuration doesn't say; `options` are `ModelSpec`'s fields.
    """
    hidden, vocabulary = hidden_of(config), vocabulary_of(config)
    runs = marked(runs, offset_gain, rotary_joined)
    final = norm or Norm(width=hidden, offset_gain=offset_gain)
    fields: dict[str, Any] = {
        "id": "",
        "name": "",
        "model_type": config.text("model_type", default=""),
        "family": family,
        "hidden": hidden,
        "vocabulary": vocabulary,
        "max_positions": config.integer(
            "max_position_embeddings", "n_positions", "max_seq_len", "model_max_length", "seq_length", default=None
        ),
        "embeddings": (Embedding(role="token", rows=vocabulary, width=hidden),),
        "head": None
        if headless(config)
        else Linear(role="lm_head", inputs=hidden, outputs=vocabulary, bias=head_bias, split=Split.COLUMN),
        "tied": config.flag("tie_word_embeddings", default=tied),
        "stacks": (Stack(kind=StackKind.DECODER, hidden=hidden, runs=runs, norms=(final,)), *mtp),
        "logit_softcap": config.has("final_logit_softcapping", "logits_soft_cap", "output_logit_soft_cap"),
        "dtype": config.text("torch_dtype", "dtype", default="bfloat16"),
        "quantization": quantization_of(config),
    }
    return ModelSpec(**{**fields, **options})
