"""Decoders with LayerNorms and an ungated MLP: GPT-2, GPT-J, GPT-Neo, GPT-NeoX, OPT, BLOOM, Falcon, MPT, Phi, ..."""

import dataclasses
from typing import Any

from planner.models.config import Config
from planner.models.families import windows
from planner.models.families.decoder import (
    Sizes,
    activation_of,
    attention,
    block,
    decoder,
    hidden_of,
    layer_norm,
    runs_of,
    sizes_of,
    vocabulary_of,
    width_of,
)
from planner.models.families.registry import family
from planner.models.spec import Embedding, FeedForward, Layer, Linear, ModelSpec, Norm, NormKind

BIASED = {"q_bias": True, "kv_bias": True, "o_bias": True}


def gpt_decoder(
    config: Config,
    name: str,
    sizes: Sizes,
    *,
    mixer: dict[str, Any],
    width: int | None = None,
    mlp_options: dict[str, Any] | None = None,
    norms: int = 2,
    norm: Norm | None = None,
    reach: list[int | None] | None = None,
    positions: int = 0,
    parallel: bool = False,
    **options: Any,
) -> ModelSpec:
    """Equal layers: attention, an ungated MLP of 4 x hidden unless told, LayerNorms (`parallel`: of one input).

    `positions` learned positions are stored; where there are none, positions are rotary or ALiBi.
    """
    gain = norm or layer_norm(sizes.hidden)
    fields = {"gated": False, "bias": True, "activation": activation_of(config, "gelu"), **(mlp_options or {})}
    feed_forward = FeedForward(hidden=sizes.hidden, width=width or width_of(config, 4 * sizes.hidden), **fields)

    def layer_at(index: int) -> Layer:
        window = reach[index] if reach else None
        mixers = attention(sizes, **{"window": window, **mixer})
        return block(sizes.hidden, mixers, feed_forward, norms=norms, norm=gain, parallel=parallel)

    if positions:
        options["embeddings"] = tables(config, sizes.hidden, positions)
    return decoder(config, runs_of(layer_at, sizes.depth), family=name, norm=gain, **options)


def tables(config: Config, width: int, positions: int) -> tuple[Embedding, Embedding]:
    """The token table and the position table."""
    return (
        Embedding(role="token", rows=vocabulary_of(config), width=width),
        Embedding(role="position", rows=positions, width=hidden_of(config)),
    )


def positions_of(config: Config, default: int) -> int:
    """Rows of the table of learned positions."""
    return int(config.integer("n_positions", "n_ctx", "max_position_embeddings", default=default))


@family("gpt2", "openai-gpt", "gpt_bigcode")
def build_gpt2(config: Config) -> ModelSpec:
    """GPT-2, and StarCoder with one key/value head (arXiv:2305.06161)."""
    sizes = sizes_of(config)
    multi_query = config.text("model_type", default="gpt2") == "gpt_bigcode" and config.flag(
        "multi_query", default=True
    )
    mixer = {**BIASED, "fused_qkv": True, "rotary": False, "kv_heads": 1 if multi_query else sizes.kv_heads}
    mlp_options = {"activation": activation_of(config, "gelu_new")}
    positions = positions_of(config, 1024)
    return gpt_decoder(config, "GPT-2", sizes, mixer=mixer, mlp_options=mlp_options, positions=positions, tied=True)


@family("gpt_neo")
def build_gpt_neo(config: Config) -> ModelSpec:
    """GPT-Neo. Its local layers only mask what is out of the window: implementations compute and cache everything, so
    no window is stated."""
    mixer = {"o_bias": True, "rotary": False}
    mlp_options = {"activation": activation_of(config, "gelu_new")}
    positions = positions_of(config, 2048)
    return gpt_decoder(
        config, "GPT-Neo", sizes_of(config), mixer=mixer, mlp_options=mlp_options, positions=positions, tied=True
    )


@family("gptj")
def build_gptj(config: Config) -> ModelSpec:
    """GPT-J: attention and MLP in parallel behind one norm; the head has a bias."""
    mlp_options = {"activation": activation_of(config, "gelu_new")}
    return gpt_decoder(config, "GPT-J", sizes_of(config), mixer={}, mlp_options=mlp_options, norms=1, head_bias=True)


@family("gpt_neox", "gpt_neox_japanese")
def build_gpt_neox(config: Config) -> ModelSpec:
    """GPT-NeoX and Pythia (arXiv:2204.06745)."""
    bias = config.flag("attention_bias", default=True)
    mixer = {"q_bias": bias, "o_bias": bias, "fused_qkv": True}
    parallel = config.flag("use_parallel_residual", default=True)
    return gpt_decoder(config, "GPT-NeoX", sizes_of(config), mixer=mixer, rotary_joined=True, parallel=parallel)


@family("opt")
def build_opt(config: Config) -> ModelSpec:
    """OPT (arXiv:2205.01068): learned positions with two spare rows; OPT-350m embeds narrower and norms afterwards."""
    sizes = sizes_of(config)
    width = config.integer("word_embed_proj_dim", default=sizes.hidden)
    bias = config.flag("enable_bias", default=True)
    options: dict[str, Any] = {}
    if width != sizes.hidden:
        options["linears"] = (
            Linear(role="project_in", inputs=width, outputs=sizes.hidden),
            Linear(role="project_out", inputs=sizes.hidden, outputs=width),
        )
        options["head"] = Linear(role="lm_head", inputs=width, outputs=sizes.vocabulary)
    spec = gpt_decoder(
        config,
        "OPT",
        sizes,
        mixer={"q_bias": bias, "kv_bias": bias, "o_bias": bias, "rotary": False},
        mlp_options={"bias": bias, "activation": activation_of(config, "relu")},
        embeddings=tables(config, width, positions_of(config, 2048) + 2),
        tied=True,
        **options,
    )
    if config.flag("do_layer_norm_before", default=True):
        return spec
    return without_final_norm(spec)


def without_final_norm(spec: ModelSpec) -> ModelSpec:
    """The same model with nothing between the last layer and the head."""
    first, *rest = spec.stacks
    return dataclasses.replace(spec, stacks=(dataclasses.replace(first, norms=()), *rest))


@family("bloom")
def build_bloom(config: Config) -> ModelSpec:
    """BLOOM (arXiv:2211.05100): ALiBi, a norm behind the token table."""
    sizes = sizes_of(config)
    mixer = {**BIASED, "fused_qkv": True, "rotary": False}
    norms = (layer_norm(sizes.hidden),)
    mlp_options = {"activation": activation_of(config, "bloom_gelu")}
    spec = gpt_decoder(config, "BLOOM", sizes, mixer=mixer, mlp_options=mlp_options, width=4 * sizes.hidden, tied=True)
    return dataclasses.replace(spec, norms=norms)


@family("falcon")
def build_falcon(config: Config) -> ModelSpec:
    """Falcon (arXiv:2311.16867): grouped keys and values in the new architecture, one key/value head with
    `multi_query`, attention and MLP in parallel."""
    sizes = sizes_of(config)
    grouped = config.flag("new_decoder_architecture", default=False)
    parallel = config.flag("parallel_attn", default=True)
    bias = config.flag("bias", default=False)
    single = 1 if config.flag("multi_query", default=True) else sizes.heads
    kv_heads = sizes.kv_heads if grouped else single
    shared = parallel and config.integer("num_ln_in_parallel_attn", default=2 if grouped else 1) == 1
    mixer = {
        "kv_heads": kv_heads,
        "fused_qkv": True,
        "q_bias": bias,
        "o_bias": bias,
        "rotary": not config.flag("alibi", default=False),
    }
    return gpt_decoder(
        config,
        "Falcon",
        sizes,
        mixer=mixer,
        mlp_options={"bias": bias, "activation": activation_of(config, "gelu")},
        norms=1 if shared else 2,
        tied=True,
        parallel=parallel,
    )


@family("mpt")
def build_mpt(config: Config) -> ModelSpec:
    """MPT: ALiBi, no biases."""
    sizes = sizes_of(config)
    inner = config.child("attn_config") if config.has("attn_config") else Config({})
    bias = not config.flag("no_bias", default=True)
    mixer = {
        "fused_qkv": True,
        "q_bias": bias,
        "o_bias": bias,
        "rotary": not inner.flag("alibi", default=True),
        "kv_heads": inner.integer("kv_n_heads", default=sizes.heads),
    }
    width = config.integer("expansion_ratio", default=4, high=1000) * sizes.hidden
    norm = layer_norm(sizes.hidden, bias=bias)
    return gpt_decoder(config, "MPT", sizes, mixer=mixer, width=width, mlp_options={"bias": bias}, norm=norm, tied=True)


@family("phi")
def build_phi(config: Config) -> ModelSpec:
    """Phi-1 to Phi-2 (arXiv:2306.11644): biases everywhere, the head's too; attention and MLP behind one norm."""
    sizes = sizes_of(config)
    normed = config.flag("qk_layernorm", default=False)
    mixer = {**BIASED, "qk_norms": (layer_norm(sizes.head_dim),) * 2 if normed else ()}
    mlp_options = {"activation": activation_of(config, "gelu_new")}
    return gpt_decoder(
        config, "Phi", sizes, mixer=mixer, mlp_options=mlp_options, norms=1, head_bias=True, rotary_joined=True
    )


@family("starcoder2")
def build_starcoder2(config: Config) -> ModelSpec:
    """StarCoder2 (arXiv:2402.19173): biases, a window on every layer."""
    sizes = sizes_of(config)
    bias = config.flag("use_bias", default=True)
    return gpt_decoder(
        config,
        "StarCoder2",
        sizes,
        mixer={"q_bias": bias, "kv_bias": bias, "o_bias": bias},
        mlp_options={"bias": bias, "activation": activation_of(config, "gelu_pytorch_tanh")},
        reach=windows.everywhere(config, sizes.depth),
        tied=True,
    )


@family("stablelm")
def build_stablelm(config: Config) -> ModelSpec:
    """StableLM (arXiv:2402.17834): LayerNorms with a gated MLP; the 12B norms each head's queries and keys and runs
    attention and MLP in parallel."""
    sizes = sizes_of(config)
    bias = config.flag("use_qkv_bias", default=False)
    norms: tuple[Norm, ...] = ()
    if config.flag("qk_layernorm", default=False):
        norms = tuple(
            Norm(width=sizes.head_dim, kind=NormKind.LAYER, copies=copies) for copies in (sizes.heads, sizes.kv_heads)
        )
    mlp_options = {"gated": True, "bias": False, "activation": activation_of(config)}
    return gpt_decoder(
        config,
        "StableLM",
        sizes,
        rotary_joined=True,
        mixer={"q_bias": bias, "kv_bias": bias, "qk_norms": norms},
        mlp_options=mlp_options,
        norms=1 if config.flag("use_parallel_residual", default=False) else 2,
    )
