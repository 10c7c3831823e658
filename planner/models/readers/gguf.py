"""Headers of GGUF files, versions 2 and 3 (ggml, docs/gguf.md): metadata and tensor list, never the tensor data."""

import io
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from planner.models.readers.ggml import TYPES
from planner.models.readers.json_text import MIB, fail
from planner.models.readers.table import MOST_TENSORS, TensorTable, table_of

LARGEST_HEADER = 64 * MIB
"""Vocabularies with merges and scores stay under 20 MiB."""
MOST_KEYS = 10_000
LONGEST_NAME = 65_535
LONGEST_LIST = 4096
"""Longer lists (vocabularies) are counted, not kept."""
MOST_ITEMS = 16_000_000

_NUMBERS = {**{0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}}
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class LongList:
    """A list that was counted only."""

    length: int


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a GGUF file says about itself."""

    version: int
    metadata: Mapping[str, Any]
    tensors: TensorTable


class _Reader:
    """Reads little-endian values, and stops at the largest header allowed."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.left = LARGEST_HEADER

    def take(self, size: int) -> bytes:
        if size > self.left:
            fail("header-too-large", LARGEST_HEADER - self.left + size, limit=LARGEST_HEADER)
        data = self.stream.read(size)
        if len(data) < size:
            fail("header-truncated", len(data), expected=size)
        self.left -= size
        return data

    def number(self, form: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def count(self, most: int, what: str) -> int:
        value = int(self.number("<Q"))
        if value > most:
            fail("too-many", value, field=f"file.{what}", limit=most)
        return value

    def text(self, longest: int) -> str:
        return self.take(self.count(longest, "string")).decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        if kind in _NUMBERS:
            number = self.number(_NUMBERS[kind])
            return number if not isinstance(number, float) or math.isfinite(number) else None
        if kind == _STRING:
            return self.text(LARGEST_HEADER)
        if kind == _ARRAY:
            return self.array()
        return fail("unknown-value-type", kind)

    def array(self) -> Any:
        kind, length = self.number("<I"), self.count(MOST_ITEMS, "array")
        if kind in _NUMBERS and length > LONGEST_LIST:
            self.take(struct.calcsize(_NUMBERS[kind]) * length)
            return LongList(length)
        if kind == _STRING and length > LONGEST_LIST:
            for _ in range(length):
                self.take(self.count(LARGEST_HEADER, "string"))
            return LongList(length)
        if kind == _ARRAY:  # the format allows nesting; nothing published nests
            return fail("nested-array", length)
        return tuple(self.value(kind) for _ in range(length))


def read_gguf(source: bytes | BinaryIO) -> GgufHeader:
    """The metadata and tensors of a GGUF file. `source` may end where the header ends."""
    reader = _Reader(io.BytesIO(source) if isinstance(source, bytes) else source)
    if reader.take(4) != b"GGUF":
        fail("not-gguf")
    version = reader.number("<I")
    if version not in (2, 3):
        fail("unsupported-version", version, accepted=[2, 3], big_endian=version in (2 << 24, 3 << 24))
    tensors, keys = reader.count(MOST_TENSORS, "tensors"), reader.count(MOST_KEYS, "metadata")
    metadata: dict[str, Any] = {}
    for _ in range(keys):
        key = reader.text(LONGEST_NAME)
        if key in metadata:
            fail("duplicate-key", key[:200])
        metadata[key] = reader.value(reader.number("<I"))
    return GgufHeader(version, metadata, table_of(_tensors(reader, tensors)))


def read(source: bytes | BinaryIO) -> tuple[TensorTable, dict[str, Any]]:
    """The tensors of a GGUF file, and the configuration its metadata amounts to: `spec_from_tensors` takes both."""
    header = read_gguf(source)
    return header.tensors, config_of(header)


def _tensors(reader: _Reader, count: int) -> dict[str, tuple[tuple[int, ...], str, int]]:
    rows: dict[str, tuple[tuple[int, ...], str, int]] = {}
    for _ in range(count):
        name, dimensions = reader.text(LONGEST_NAME), reader.number("<I")
        if name in rows:
            fail("duplicate-tensor", name[:200])
        if dimensions > 4:
            fail("bad-tensor", name[:200], reason="more than four dimensions")
        shape = tuple(int(reader.number("<Q")) for _ in range(dimensions))
        kind, _offset = reader.number("<I"), reader.number("<Q")
        if kind not in TYPES:
            fail("unknown-dtype", kind, tensor=name[:200])
        rows[name] = (shape[::-1], TYPES[kind][0], _size(name, shape, kind))  # fastest-varying first in the file
    return rows


def _size(name: str, shape: tuple[int, ...], kind: int) -> int:
    _, block, size = TYPES[kind]
    elements = math.prod(shape)
    if elements >= 2**63 or (shape and shape[0] % block):
        fail("size-mismatch", name[:200], shape=list(shape), dtype=TYPES[kind][0])
    return elements // block * size


MODEL_TYPES: Mapping[str, str] = {
    **{"llama": "llama", "qwen2": "qwen2", "qwen2moe": "qwen2_moe", "qwen3": "qwen3", "qwen3moe": "qwen3_moe"},
    **{"gemma": "gemma", "gemma2": "gemma2", "gemma3": "gemma3_text", "phi2": "phi", "phi3": "phi3"},
    **{"phimoe": "phimoe", "gpt2": "gpt2", "gptneox": "gpt_neox", "falcon": "falcon", "bloom": "bloom", "mpt": "mpt"},
    **{"starcoder2": "starcoder2", "stablelm": "stablelm", "command-r": "cohere", "cohere2": "cohere2"},
    **{"olmo": "olmo", "olmo2": "olmo2", "olmoe": "olmoe", "granite": "granite", "granitemoe": "granitemoe"},
    **{"glm4": "glm4", "glm4moe": "glm4_moe", "gpt-oss": "gpt_oss", "deepseek2": "deepseek_v3"},
    **{"nemotron": "nemotron", "exaone4": "exaone4", "ernie4_5": "ernie4_5", "smollm3": "smollm3"},
    **{"seed_oss": "seed_oss", "dbrx": "dbrx", "mistral3": "llama", "internlm2": "llama", "minicpm": "llama"},
}
"""llama.cpp's architecture names (gguf-py/gguf/constants.py, MODEL_ARCH_NAMES) -> Hugging Face model_type."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "context_length": ("max_position_embeddings", "n_positions"),
    "embedding_length": ("hidden_size", "n_embd", "d_model"),
    "block_count": ("num_hidden_layers", "n_layer", "n_layers"),
    "feed_forward_length": ("intermediate_size", "n_inner"),
    "expert_feed_forward_length": ("moe_intermediate_size",),
    "expert_shared_feed_forward_length": ("shared_expert_intermediate_size",),
    "expert_count": ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"),
    "expert_used_count": ("num_experts_per_tok",),
    "expert_shared_count": ("n_shared_experts",),
    "leading_dense_block_count": ("first_k_dense_replace",),
    "nextn_predict_layers": ("num_nextn_predict_layers",),
    "attention.head_count": ("num_attention_heads", "n_head", "n_heads"),
    "attention.head_count_kv": ("num_key_value_heads", "num_kv_heads"),
    "attention.key_length": ("head_dim",),
    "attention.sliding_window": ("sliding_window",),
    "attention.q_lora_rank": ("q_lora_rank",),
    "attention.kv_lora_rank": ("kv_lora_rank",),
    "attention.value_length_mla": ("v_head_dim",),
    "vocab_size": ("vocab_size",),
}
"""GGUF metadata key, without the architecture's prefix -> the configuration's keys for it."""


def config_of(header: GgufHeader) -> dict[str, Any]:
    """The Hugging Face style configuration that the metadata amounts to; what tensors alone tell is added."""
    architecture = header.metadata.get("general.architecture")
    if not isinstance(architecture, str) or len(architecture) > 100:
        fail("missing-key", None, field="general.architecture")
    config: dict[str, Any] = {"model_type": MODEL_TYPES.get(architecture, architecture)}
    for key, names in KEYS.items():
        value = header.metadata.get(f"{architecture}.{key}")
        if isinstance(value, tuple):  # one a layer: the description takes the largest
            value = max((item for item in value if _whole(item)), default=None)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            config.update(dict.fromkeys(names, value))
    for adjust in _ADJUSTMENTS:
        adjust(config, header, architecture)
    return config


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _add_vocabulary(config: dict[str, Any], header: GgufHeader, _: str) -> None:
    tokens = header.metadata.get("tokenizer.ggml.tokens")
    table = header.tensors.shape("token_embd.weight")
    if table:  # the table may be padded beyond the tokeniser's list
        config["vocab_size"] = table[0]
    elif isinstance(tokens, LongList | tuple):
        config.setdefault("vocab_size", tokens.length if isinstance(tokens, LongList) else len(tokens))
    if header.tensors.names:
        config["tie_word_embeddings"] = "output.weight" not in header.tensors.index


def _add_experts(config: dict[str, Any], header: GgufHeader, architecture: str) -> None:
    """llama.cpp files Mixtral under llama; its latent attention gives whole key lengths, the rope part in them."""
    if architecture == "llama" and config.get("num_local_experts"):
        config["model_type"] = "mixtral"
    if "kv_lora_rank" in config:
        rope = header.metadata.get(f"{architecture}.rope.dimension_count")
        whole = header.metadata.get(f"{architecture}.attention.key_length_mla") or config.pop("head_dim", None)
        if isinstance(rope, int) and isinstance(whole, int) and 0 < rope < whole:
            config["qk_rope_head_dim"], config["qk_nope_head_dim"] = rope, whole - rope
        value = header.metadata.get(f"{architecture}.attention.value_length")
        config.setdefault("v_head_dim", value if _whole(value) else None)
        config.pop("head_dim", None)


def _add_biases(config: dict[str, Any], header: GgufHeader, _: str) -> None:
    if "blk.0.attn_q.bias" in header.tensors.index and config["model_type"] in ("llama", "glm4_moe"):
        config["attention_bias"] = True


_ADJUSTMENTS: tuple[Callable[[dict[str, Any], GgufHeader, str], None], ...] = (
    _add_vocabulary,
    _add_experts,
    _add_biases,
)
