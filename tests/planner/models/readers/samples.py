"""Small headers in the shape of real files, built here."""

import json
import math
import struct

from planner.models.readers.safetensors import BITS


def safetensors_bytes(tensors, metadata=None):
    """A header for `{name: (dtype, shape)}`, tensors laid out one after the other; no data follows."""
    header, offset = ({"__metadata__": metadata} if metadata else {}), 0
    for name, (dtype, shape) in tensors.items():
        size = math.prod(shape) * BITS[dtype] // 8
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text


def llama_tensors(*, layers=2, hidden=256, heads=4, kv_heads=2, head_dim=64, width=512, vocabulary=1000, dtype="BF16"):
    """Tensors of a Llama, unquantised."""
    tensors = {"model.embed_tokens.weight": (dtype, (vocabulary, hidden))}
    for index in range(layers):
        at = f"model.layers.{index}"
        tensors |= {
            f"{at}.input_layernorm.weight": (dtype, (hidden,)),
            f"{at}.post_attention_layernorm.weight": (dtype, (hidden,)),
            f"{at}.self_attn.q_proj.weight": (dtype, (heads * head_dim, hidden)),
            f"{at}.self_attn.k_proj.weight": (dtype, (kv_heads * head_dim, hidden)),
            f"{at}.self_attn.v_proj.weight": (dtype, (kv_heads * head_dim, hidden)),
            f"{at}.self_attn.o_proj.weight": (dtype, (hidden, heads * head_dim)),
            f"{at}.mlp.gate_proj.weight": (dtype, (width, hidden)),
            f"{at}.mlp.up_proj.weight": (dtype, (width, hidden)),
            f"{at}.mlp.down_proj.weight": (dtype, (hidden, width)),
        }
    return tensors | {"model.norm.weight": (dtype, (hidden,)), "lm_head.weight": (dtype, (vocabulary, hidden))}


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_value(value):
    """A metadata value with its type number."""
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + text(value)
    if value and isinstance(value[0], str):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
    return struct.pack("<IIQ", 9, 4, len(value)) + struct.pack(f"<{len(value)}I", *value)


def gguf_bytes(metadata, tensors, version=3):
    """A header for `{key: value}` and `{name: (type number, shape, fastest first)}`; no data follows."""
    parts = [b"GGUF", struct.pack("<IQQ", version, len(tensors), len(metadata))]
    for key, value in metadata.items():
        parts += [text(key), gguf_value(value)]
    for name, (kind, shape) in tensors.items():
        parts += [text(name), struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, 0)]
    return b"".join(parts)


def gguf_llama(*, layers=2, hidden=256, heads=4, kv_heads=2, width=512, vocabulary=1000, kind=12):
    """Metadata and tensors of a Llama whose matrices are of type `kind` (12: Q4_K)."""
    metadata = {
        "general.architecture": "llama",
        "llama.context_length": 4096,
        "llama.embedding_length": hidden,
        "llama.block_count": layers,
        "llama.feed_forward_length": width,
        "llama.attention.head_count": heads,
        "llama.attention.head_count_kv": kv_heads,
        "tokenizer.ggml.tokens": [f"t{index}" for index in range(vocabulary)],
    }
    kv = hidden // heads * kv_heads
    tensors = {"token_embd.weight": (kind, (hidden, vocabulary)), "output_norm.weight": (0, (hidden,))}
    for index in range(layers):
        tensors |= {
            f"blk.{index}.attn_norm.weight": (0, (hidden,)),
            f"blk.{index}.ffn_norm.weight": (0, (hidden,)),
            f"blk.{index}.attn_q.weight": (kind, (hidden, hidden)),
            f"blk.{index}.attn_k.weight": (kind, (hidden, kv)),
            f"blk.{index}.attn_v.weight": (14, (hidden, kv)),
            f"blk.{index}.attn_output.weight": (kind, (hidden, hidden)),
            f"blk.{index}.ffn_gate.weight": (kind, (hidden, width)),
            f"blk.{index}.ffn_up.weight": (kind, (hidden, width)),
            f"blk.{index}.ffn_down.weight": (14, (width, hidden)),
        }
    return metadata, tensors | {"output.weight": (14, (hidden, vocabulary))}
