"""Megatron's arguments that describe a model: from a `ModelSpec`, and back to a catalogue model or a config.json."""

from typing import Any

from planner.launch.found import Found
from planner.launch.options import Options
from planner.launch.render import Line
from planner.launch.types import Unread
from planner.models import catalogue as models
from planner.models.spec import Attention, FeedForward, Layer, MixtureOfExperts, ModelSpec, NormKind
from planner.result import InputError


def lines(spec: ModelSpec, name: str) -> list[Line]:
    """The shape of a decoder of attention layers; of a model with other layers, only what Megatron has a name for."""
    stack = spec.text_stack
    layer = stack.runs[-1].layer if stack else None
    out = [Line("num-layers", stack.depth if stack else 0), Line("hidden-size", spec.hidden)]
    attention = next((mixer for mixer in layer.mixers if isinstance(mixer, Attention)), None) if layer else None
    if attention:
        out += [Line("num-attention-heads", attention.heads), Line("kv-channels", attention.head_dim)]
        if attention.kv_heads != attention.heads:
            out += [Line("group-query-attention", True), Line("num-query-groups", attention.kv_heads)]
        out += [Line("add-qkv-bias", True)] if attention.q_bias and not attention.o_bias else []
        out += [Line("qk-layernorm", True)] if attention.qk_norms else []
        out += [Line("position-embedding-type", "rope")] if attention.rotary else []
    out += _feed_forward(layer) if layer else []
    norms = [norm for run in (stack.runs if stack else ()) for norm in run.layer.norms]
    out += [Line("normalization", "RMSNorm")] if norms and norms[0].kind is NormKind.RMS else []
    out += [] if spec.tied else [Line("untie-embeddings-and-output-weights", True)]
    out += [Line("max-position-embeddings", spec.max_positions)] if spec.max_positions else []
    out += [Line("tokenizer-type", "HuggingFaceTokenizer"), Line("tokenizer-model", name)]
    return out


def _feed_forward(layer: Layer) -> list[Line]:
    part = next(iter(layer.feed_forwards), None)
    dense = part if isinstance(part, FeedForward) else part.expert if isinstance(part, MixtureOfExperts) else None
    if dense is None:
        return []
    out = [Line("ffn-hidden-size", dense.width)]
    if isinstance(part, MixtureOfExperts):
        out += [Line("num-experts", part.experts), Line("moe-router-topk", part.top_k)]
        out += [Line("moe-ffn-hidden-size", dense.width), Line("moe-grouped-gemm", True)]
        if part.shared:
            out.append(Line("moe-shared-expert-intermediate-size", part.shared.width))
    out += [Line("swiglu", True)] if dense.gated else []
    return [*out, *([] if dense.bias else [Line("disable-bias-linear", True)])]


_CONFIG = {
    "num_layers": "num_hidden_layers",
    "hidden_size": "hidden_size",
    "num_attention_heads": "num_attention_heads",
    "num_query_groups": "num_key_value_heads",
    "kv_channels": "head_dim",
    "ffn_hidden_size": "intermediate_size",
    "max_position_embeddings": "max_position_embeddings",
}


def read(options: Options, found: Found) -> int | None:
    """The model of the tokenizer's name where its shape agrees, else a configuration of that shape. Gives the depth."""
    config: dict[str, Any] = {}
    for name, key in _CONFIG.items():
        value = options.whole(name)
        if value is not None:
            config[key] = value
    gated, tied = bool(options.flag("swiglu")), not options.flag("untie_embeddings_and_output_weights")
    for name in ("group_query_attention", "add_qkv_bias", "qk_layernorm", "disable_bias_linear"):
        options.flag(name)
    options.take("normalization")
    experts, top_k = options.whole("num_experts"), options.whole("moe_router_topk")
    width = options.whole("moe_ffn_hidden_size")
    options.whole("moe_shared_expert_intermediate_size")
    vocabulary = options.whole("vocab_size", "padded_vocab_size")
    depth = config.get("num_hidden_layers")
    hint = options.take("tokenizer_model")
    known = _same_shape(hint, config)
    if known:
        found.set("model", known)
        return depth
    if "hidden_size" not in config or depth is None or "num_attention_heads" not in config:
        if depth is not None or hint is not None:
            found.unread.append(Unread("num-layers", str(depth or hint), "model-incomplete"))
        return depth
    config.setdefault("intermediate_size", 4 * config["hidden_size"])
    config |= {
        "vocab_size": vocabulary or 128256,
        "tie_word_embeddings": tied,
        "model_type": "llama" if gated else "gpt_neox",
    }
    if not vocabulary:
        found.assume("vocabulary-assumed", value=128256)
    if experts:
        config |= {"model_type": "mixtral", "num_local_experts": experts, "num_experts_per_tok": top_k or 2}
        config["intermediate_size"] = width or config["intermediate_size"]
    found.set("model_config", config)
    found.assume("model-by-shape", layers=depth, hidden=config["hidden_size"])
    return depth


def _same_shape(hint: Any, config: dict[str, Any]) -> str | None:
    if hint is None:
        return None
    try:
        spec = models.model(str(hint))
    except InputError:
        return None
    stack = spec.text_stack
    agrees = config.get("hidden_size", spec.hidden) == spec.hidden
    return spec.id if agrees and stack and config.get("num_hidden_layers", stack.depth) == stack.depth else None
