"""Which model a list of tensors makes: the dimensions that names and shapes give away, then the usual builder.

Names of Hugging Face's Llama-like decoders and of llama.cpp are known. Element counts are used rather than shapes, as
some packings keep only those: with the width of the residual stream they give the other side of each matrix.
"""

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planner.models.build import build
from planner.models.readers.json_text import fail
from planner.models.readers.table import TensorTable, Weight, table_of
from planner.models.spec import ModelSpec
from planner.result import InputError, Problem

__all__ = ["TensorTable", "spec_from_tensors", "table_of"]

TOLERANCE = 0.001
"""Where the file holds more or fewer parameters than the description by more than this, the file's count is used."""

DISAGREEMENT = 0.1
"""A description inferred from names alone that misses the file's count by more than this is not believed."""

FOREIGN = 0.005
"""Nor is one that leaves out tensors of the layers with more than this share of the parameters (other mixers)."""

_LAYER = re.compile(r"(?:^|\.)(?:layers|blk)\.(\d{1,5})\.(.+)\.(weight|bias)$")
_FUSED = re.compile(r"(?:^|\.)layers\.(\d{1,5})\.(mlp\.experts\.(?:gate_up_proj|down_proj))$")
_EXPERT = re.compile(r"\.experts\.(\d{1,5})\.")

_ROLES: Mapping[str, tuple[str, ...]] = {
    "q": ("self_attn.q_proj", "attn_q"),
    "k": ("self_attn.k_proj", "attn_k"),
    "v": ("self_attn.v_proj", "attn_v"),
    "qkv": ("self_attn.qkv_proj", "attn_qkv"),
    "o": ("self_attn.o_proj", "attn_output"),
    "q_norm": ("self_attn.q_norm", "attn_q_norm"),
    "input_norm": ("input_layernorm", "attn_norm"),
    "mlp_norm": ("post_attention_layernorm", "ffn_norm"),
    "pre_mlp_norm": ("pre_feedforward_layernorm",),
    "gate": ("mlp.gate_proj", "ffn_gate"),
    "up": ("mlp.up_proj", "ffn_up"),
    "down": ("mlp.down_proj", "ffn_down"),
    "gate_up": ("mlp.gate_up_proj",),
    "router": ("mlp.gate", "block_sparse_moe.gate", "ffn_gate_inp"),
    "expert_gate": ("mlp.experts.#.gate_proj", "block_sparse_moe.experts.#.w1"),
    "expert_up": ("mlp.experts.#.up_proj", "block_sparse_moe.experts.#.w3"),
    "expert_down": ("mlp.experts.#.down_proj", "block_sparse_moe.experts.#.w2"),
    "experts_gate": ("ffn_gate_exps",),
    "experts_up": ("ffn_up_exps",),
    "experts_down": ("ffn_down_exps", "mlp.experts.down_proj"),
    "experts_gate_up": ("mlp.experts.gate_up_proj",),
    "shared_gate": ("mlp.shared_expert.gate_proj", "ffn_gate_shexp"),
    "shared_up": ("mlp.shared_expert.up_proj", "ffn_up_shexp"),
    "shared_down": ("mlp.shared_expert.down_proj", "ffn_down_shexp"),
    "shared_expert_gate": ("mlp.shared_expert_gate", "ffn_gate_inp_shexp"),
}
_ROLE_OF = {name: role for role, names in _ROLES.items() for name in names}

_EMBEDDING = re.compile(r"(?:^|\.)(embed_tokens|token_embd)\.weight$")
_FINAL_NORM = re.compile(r"(?:^|[._])(?:layer_?norm|norm|ln_f)\.weight$")
_HEAD = re.compile(r"(?:^|\.)(lm_head|output)\.weight$")


@dataclass(slots=True)
class _Found:
    """Elements of the first weight and bias of each role, and the tensors outside the layers."""

    layers: set[int] = field(default_factory=set)
    weights: dict[str, int] = field(default_factory=dict)
    biases: set[str] = field(default_factory=set)
    sparse: set[int] = field(default_factory=set)  # layers with a router
    experts: int = 0
    foreign: dict[str, int] = field(default_factory=dict)  # elements of tensors in layers that have no known role
    embedding: Weight | None = None
    final_norm: bool = False
    head: bool = False


def _find(table: TensorTable) -> _Found:
    found = _Found()
    for weight in table.weights:
        if match := _LAYER.search(weight.name) or _FUSED.search(weight.name):
            found.layers.add(int(match[1]))
            role = _ROLE_OF.get(_EXPERT.sub(".experts.#.", f".{match[2]}.").strip("."))
            if expert := _EXPERT.search(f".{match[2]}."):
                found.experts = max(found.experts, int(expert[1]) + 1)
            if role and weight.name.endswith("bias"):
                found.biases.add(role)
            elif role:
                found.weights.setdefault(role, weight.elements)
            else:
                found.foreign[weight.name] = weight.elements
            if role == "router":
                found.sparse.add(int(match[1]))
        elif _EMBEDDING.search(weight.name):
            found.embedding = weight
        else:
            found.final_norm = found.final_norm or _FINAL_NORM.search(weight.name) is not None
            found.head = found.head or _HEAD.search(weight.name) is not None
    return found


def _whole(found: _Found) -> bool:
    """Whether first and last tensors are there, and every layer between."""
    return (
        found.embedding is not None
        and (found.final_norm or "input_norm" not in found.weights)
        and bool(found.layers)
        and len(found.layers) == max(found.layers) + 1
    )


def _heads(config: dict[str, Any], found: _Found, known: Mapping[str, Any], hidden: int) -> None:
    """Head counts from the outputs of q and k; head_dim from the query norm, else the usual one that divides both."""
    weights = found.weights
    q = (weights.get("q") or weights.get("o", 0)) // hidden
    k = weights["k"] // hidden if "k" in weights else (weights.get("qkv", 0) // hidden - q) // 2
    if q <= 0 or k <= 0:
        return
    norm = weights.get("q_norm", q)
    heads, stated = known.get("num_attention_heads"), known.get("head_dim")
    usual = next((width for width in (128, 64, 32) if q % width == 0 and k % width == 0), None)
    by_heads = q // heads if isinstance(heads, int) and 0 < heads <= q else None
    head_dim = stated if isinstance(stated, int) and stated > 0 else by_heads or (norm if norm < q else usual)
    if not head_dim or q % head_dim or k % head_dim:
        return
    config.update(head_dim=head_dim, num_attention_heads=q // head_dim, num_key_value_heads=k // head_dim)


def _mlp(config: dict[str, Any], found: _Found, hidden: int) -> None:
    weights = found.weights
    gate = weights.get("gate") or weights.get("up") or weights.get("gate_up", 0) // 2
    if gate:
        config["intermediate_size"] = gate // hidden
    experts = found.experts or (weights.get("router", 0) // hidden)
    if not experts:
        return
    fused = weights.get("experts_gate", 0) or weights.get("experts_gate_up", 0) // 2
    width = (weights.get("expert_gate") or fused // experts) // hidden
    if not width:
        return
    config.update(num_experts=experts, num_local_experts=experts, moe_intermediate_size=width)
    config.setdefault("intermediate_size", width)
    if found.sparse:
        config["mlp_only_layers"] = sorted(found.layers - found.sparse)
    if shared := weights.get("shared_gate"):
        config["shared_expert_intermediate_size"] = shared // hidden


def _model_type(found: _Found, q_outputs: int) -> str:
    weights, sparse = found.weights, found.experts or "router" in found.weights
    if "pre_mlp_norm" in weights:
        return "gemma3_text" if "q_norm" in weights else "gemma2"
    if "q_norm" in weights and weights["q_norm"] == q_outputs:
        return "olmoe" if sparse else "olmo2" if "input_norm" not in weights else ""
    if sparse:
        return "qwen3_moe" if "q_norm" in weights else "qwen2_moe" if "shared_expert_gate" in weights else "mixtral"
    if "q_norm" in weights:
        return "qwen3"
    if "qkv" in weights:
        return "phi3"
    if "up" in weights and "gate" not in weights:
        return "arcee"  # a Llama whose MLP has no gate
    return "qwen2" if "q" in found.biases and "o" not in found.biases else "llama"


def _infer(found: _Found, known: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration that the tensors give away; keys that they don't are left out."""
    config: dict[str, Any] = {"tie_word_embeddings": not found.head}
    if found.layers:
        config["num_hidden_layers"] = max(found.layers) + 1
    shape = found.embedding.shape if found.embedding else None
    hidden = shape[1] if shape and len(shape) == 2 else found.weights.get("input_norm", 0)
    if not hidden:
        return config
    config["hidden_size"] = hidden
    if found.embedding:
        config["vocab_size"] = found.embedding.elements // hidden
    _heads(config, found, known, hidden)
    _mlp(config, found, hidden)
    config["model_type"] = _model_type(found, found.weights.get("q", 0) // hidden)
    config["attention_bias"] = "q" in found.biases
    config["mlp_bias"] = "gate" in found.biases
    return config


REQUIRED = ("hidden_size", "num_hidden_layers", "num_attention_heads", "vocab_size", "intermediate_size")

_DTYPES = {"F16": "float16", "F32": "float32", "F64": "float32"}


def spec_from_tensors(table: TensorTable, metadata: Mapping[str, Any] | None = None, *, id: str = "") -> ModelSpec:
    """The model that the tensors make. `metadata` are configuration keys known already, which win (GGUF states them).

    The file is the truth about size: where the description's count misses it by over 0.1 %, the file's is recorded.
    Raises `InputError`: cannot-infer, with what is missing and the file's totals; incomplete-checkpoint where layers
    or outer tensors lie in other files.
    """
    known, found = {key: value for key, value in (metadata or {}).items() if value is not None}, _find(table)
    totals: dict[str, Any] = {"total_parameters": table.total_parameters, "total_bytes": table.total_bytes}
    named = "model_type" in known
    if not named:
        _check_whole(table, found, totals)
    config = {**_infer(found, known), **known}
    missing = [key for key in REQUIRED if not config.get(key)]
    if missing:
        fail("cannot-infer", missing[0], missing=missing, **totals)
    try:
        spec = build(config, id=id)
    except InputError as error:
        raise InputError(
            Problem(problem.code, problem.field, problem.value, {**problem.parameters, **totals})
            for problem in error.problems
        ) from error
    difference = abs((spec.computed_parameters + spec.mtp_parameters) / max(1, table.total_parameters) - 1)
    if not named and difference > DISAGREEMENT:
        fail("cannot-infer", config["model_type"], computed=spec.computed_parameters, **totals)
    stored = max(table.bytes_by_dtype, key=lambda dtype: table.bytes_by_dtype[dtype], default="")
    whole = _whole(found) and len(found.layers) >= config["num_hidden_layers"]
    return dataclasses.replace(
        spec,
        dtype=_DTYPES.get(stored, spec.dtype),
        quantization=table.quantization or spec.quantization,
        recorded_parameters=table.total_parameters if whole and difference > TOLERANCE else None,
        assumed=(*spec.assumed, *_assumed(found, known)),
    )


def _check_whole(table: TensorTable, found: _Found, totals: Mapping[str, Any]) -> None:
    """Refuse one file of several, and layers that hold what no Llama-like decoder has."""
    if found.weights.keys() & {"q", "qkv"} and not _whole(found):
        fail("incomplete-checkpoint", len(table.names), layers=len(found.layers), **totals)
    if sum(found.foreign.values()) > FOREIGN * table.total_parameters:
        largest = sorted(found.foreign, key=lambda name: -found.foreign[name])[:5]
        fail("cannot-infer", largest[0][:200], unknown=[name[:200] for name in largest], **totals)


def _assumed(found: _Found, known: Mapping[str, Any]) -> tuple[str, ...]:
    """What the tensors alone leave open: the architecture's name, and the width of a head unless a norm shows it."""
    kind = () if "model_type" in known else ("model_type",)
    shown = "q_norm" in found.weights or "head_dim" in known or "num_attention_heads" in known
    return kind if shown else (*kind, "head_dim")
