"""Dense decoders in Llama's form, told apart by biases, query/key norms, where norms sit, and windows."""

from collections.abc import Callable
from typing import Any

from planner.models.config import Config
from planner.models.families import windows
from planner.models.families.decoder import (
    Sizes,
    attention,
    block,
    decoder,
    full_norms,
    head_norms,
    layer_norm,
    mlp,
    mtp_count,
    mtp_stack,
    runs_of,
    sizes_of,
    width_of,
)
from planner.models.families.registry import family
from planner.models.spec import Extra, Layer, Linear, ModelSpec, Norm, NormKind, Split

Windows = Callable[[Config, int], list[int | None]]


def no_windows(config: Config, depth: int) -> list[int | None]:
    """Every layer sees everything."""
    return [None] * depth


def dense_decoder(
    config: Config,
    name: str,
    *,
    windows_of: Windows = no_windows,
    attention_options: dict[str, Any] | None = None,
    mlp_options: dict[str, Any] | None = None,
    norms: int = 2,
    norm: Norm | None = None,
    extras: tuple[Any, ...] = (),
    **options: Any,
) -> ModelSpec:
    """Equal layers of one attention and one MLP; layers differ by their window only."""
    sizes = sizes_of(config)
    width = width_of(config)
    reach = windows_of(config, sizes.depth)

    def layer_at(index: int) -> Layer:
        mixer = attention(sizes, **{"window": reach[index], **(attention_options or {})})
        feed_forward = mlp(config, sizes.hidden, width, **(mlp_options or {}))
        return block(sizes.hidden, mixer, feed_forward, norms=norms, norm=norm, extras=extras)

    mtp = mtp_stack(layer_at(sizes.depth - 1), mtp_count(config))
    return decoder(config, runs_of(layer_at, sizes.depth), family=name, norm=norm, mtp=mtp, **options)


def biases(config: Config, *, qkv: bool, out: bool) -> dict[str, bool]:
    """Attention's biases."""
    return {"q_bias": qkv, "kv_bias": qkv, "o_bias": out}


@family("llama", "mistral", "ministral3", "Yi", "aquila", "xverse", "baichuan", "internlm2", "internlm3", "exaone")
@family("minicpm", "orion", "granite", "smollm3", "helium", "ernie4_5")
def build_llama(config: Config) -> ModelSpec:
    """Llama (arXiv:2302.13971) and Mistral (arXiv:2310.06825): grouped-query attention, SwiGLU, RMSNorm before both.

    Biases are the configuration's; Orion takes LayerNorms, SmolLM3 slides only where `use_sliding_window`.
    """
    model_type = config.text("model_type", default="llama")
    qkv = config.flag("attention_bias", "qkv_bias", "use_bias", "bias", default=False)
    out = config.flag("attention_out_bias", "attention_bias", "use_bias", "bias", default=False)
    mlp_bias = config.flag("mlp_bias", "use_bias", "bias", default=False)
    return dense_decoder(
        config,
        "Llama",
        windows_of=windows.opted_in if model_type == "smollm3" else windows.everywhere,
        attention_options=biases(config, qkv=qkv, out=out),
        mlp_options={"bias": mlp_bias},
        norm=layer_norm(sizes_of(config).hidden) if model_type == "orion" else None,
        tied=model_type in ("minicpm", "ernie4_5", "granite", "smollm3"),
    )


@family("seed_oss")
def build_seed(config: Config) -> ModelSpec:
    """Seed-OSS: Llama with biases on queries, keys and values."""
    qkv, out = config.flag("attention_bias", default=True), config.flag("attention_out_bias", default=False)
    mlp_options = {"bias": config.flag("mlp_bias", default=False)}
    return dense_decoder(config, "Seed", attention_options=biases(config, qkv=qkv, out=out), mlp_options=mlp_options)


@family("qwen2", "qwen2_5_vl_text", "qwen2_vl_text", "mimo")
def build_qwen2(config: Config) -> ModelSpec:
    """Qwen2 (arXiv:2407.10671): biases on queries, keys and values; windows only where `use_sliding_window`."""
    options = biases(config, qkv=True, out=False)
    return dense_decoder(config, "Qwen2", windows_of=windows.opted_in, attention_options=options)


@family("qwen")
def build_qwen(config: Config) -> ModelSpec:
    """Qwen 1 (arXiv:2309.16609): one qkv matrix with a bias; the configuration states gate and up together."""
    halved = Config({**config.values, "intermediate_size": width_of(config) // 2}, config.path)
    return dense_decoder(halved, "Qwen", attention_options={"fused_qkv": True, "q_bias": True})


def norm_options(sizes: Sizes, config: Config, default: bool = True) -> dict[str, Any]:
    """Per-head query and key norms where `use_qk_norm`."""
    return {"qk_norms": head_norms(sizes) if config.flag("use_qk_norm", "qk_norm", default=default) else ()}


@family("qwen3", "qwen3_vl_text", "hunyuan_v1_dense")
def build_qwen3(config: Config) -> ModelSpec:
    """Qwen3 (arXiv:2505.09388) and Hunyuan dense: per-head query and key norms, no biases."""
    bias = config.flag("attention_bias", default=False)
    options = {**biases(config, qkv=bias, out=bias), **norm_options(sizes_of(config), config)}
    return dense_decoder(config, "Qwen3", windows_of=windows.opted_in, attention_options=options)


@family("olmo")
def build_olmo(config: Config) -> ModelSpec:
    """OLMo 1 (arXiv:2402.00838): norms without parameters."""
    norm = Norm(width=sizes_of(config).hidden, kind=NormKind.NONE)
    bias = config.flag("attention_bias", default=False)
    return dense_decoder(config, "OLMo", attention_options=biases(config, qkv=bias, out=bias), norm=norm)


@family("olmo2", "olmo3")
def build_olmo2(config: Config) -> ModelSpec:
    """OLMo 2 and 3 (arXiv:2501.00656): norms after the parts, and on queries and keys over all heads; three of four
    layers of OLMo 3 slide."""
    options = {"qk_norms": full_norms(sizes_of(config))}

    def reach(config: Config, depth: int) -> list[int | None]:
        return windows.by_kind(config, depth, windows.every_nth(depth, 4))

    return dense_decoder(config, "OLMo", windows_of=reach, attention_options=options, offset_gain=True)


@family("exaone4")
def build_exaone4(config: Config) -> ModelSpec:
    """EXAONE 4 (arXiv:2507.11407): norms after the parts, per-head query and key norms, three of four layers slide."""

    def reach(config: Config, depth: int) -> list[int | None]:
        return windows.patterned(config, depth, 4)

    options = {"qk_norms": head_norms(sizes_of(config))}
    return dense_decoder(config, "EXAONE", windows_of=reach, attention_options=options)


@family("cohere", "cohere2")
def build_cohere(config: Config) -> ModelSpec:
    """Command R: attention and MLP in parallel behind one LayerNorm without bias; three of four layers of Command A and
    R7B slide. Query and key norms have a gain for every head (Command R+)."""
    sizes = sizes_of(config)

    def reach(config: Config, depth: int) -> list[int | None]:
        return windows.patterned(config, depth, 4)

    bias = config.flag("attention_bias", default=False)
    options: dict[str, Any] = biases(config, qkv=bias, out=bias)
    if config.flag("use_qk_norm", default=False):
        gains = (sizes.heads, sizes.kv_heads)
        options["qk_norms"] = tuple(Norm(width=sizes.head_dim, kind=NormKind.LAYER, copies=copies) for copies in gains)
    norm = layer_norm(sizes.hidden, bias=False)
    return dense_decoder(
        config,
        "Command R",
        windows_of=reach,
        attention_options=options,
        norms=1,
        norm=norm,
        tied=True,
        offset_gain=True,
    )


@family("glm", "glm4")
def build_glm(config: Config) -> ModelSpec:
    """GLM-4 (arXiv:2406.12793): gate and up in one matrix; the 0414 models norm before and after both parts."""
    options = biases(config, qkv=config.flag("attention_bias", default=False), out=False)
    norms = 4 if config.text("model_type", default="glm") == "glm4" else 2
    return dense_decoder(
        config, "GLM", attention_options=options, mlp_options={"fused_gate": True}, norms=norms, rotary_joined=True
    )


@family("chatglm")
def build_chatglm(config: Config) -> ModelSpec:
    """ChatGLM2 and 3: multi-query groups, one qkv matrix with a bias, gate and up in one matrix."""
    sizes = sizes_of(config)
    groups = config.integer("multi_query_group_num", default=sizes.heads, high=sizes.heads)
    bias = config.flag("add_bias_linear", default=False)
    options = {
        "kv_heads": groups if config.flag("multi_query_attention", default=False) else sizes.heads,
        "fused_qkv": True,
        "q_bias": config.flag("add_qkv_bias", default=bias) or bias,
        "o_bias": bias,
    }
    mlp_options = {"fused_gate": True, "bias": bias}
    head = Linear(role="lm_head", inputs=sizes.hidden, outputs=sizes.vocabulary, split=Split.COLUMN)
    return dense_decoder(
        config, "GLM", attention_options=options, mlp_options=mlp_options, head=head, rotary_joined=True
    )


@family("phi3")
def build_phi3(config: Config) -> ModelSpec:
    """Phi-3 and Phi-4 (arXiv:2404.14219): one qkv matrix, gate and up in one matrix, a window on every layer."""
    options = {"fused_qkv": True}
    return dense_decoder(
        config,
        "Phi",
        windows_of=windows.everywhere,
        attention_options=options,
        mlp_options={"fused_gate": True},
        rotary_joined=True,
    )


@family("arcee", "nemotron", "apertus")
def build_squared(config: Config) -> ModelSpec:
    """MLPs without a gate: AFM and Nemotron-4 (arXiv:2402.16819; squared ReLU, the latter with LayerNorms), Apertus
    (arXiv:2509.14233; xIELU with two learned numbers, query and key norms)."""
    sizes = sizes_of(config)
    model_type = config.text("model_type", default="arcee")
    bias = config.flag("attention_bias", default=False)
    options: dict[str, Any] = biases(config, qkv=bias, out=bias)
    if model_type == "apertus":
        options |= norm_options(sizes, config)
    return dense_decoder(
        config,
        model_type.capitalize(),
        attention_options=options,
        mlp_options={"gated": False, "bias": config.flag("mlp_bias", default=False)},
        norm=layer_norm(sizes.hidden) if model_type == "nemotron" else None,
        rotary_joined=model_type == "nemotron",
        extras=(Extra("xielu", 2),) if model_type == "apertus" else (),
    )
