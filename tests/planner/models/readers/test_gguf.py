import contextlib
import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.models.readers import gguf
from planner.models.readers.ggml import TYPES
from planner.models.readers.gguf import LongList, config_of, read_gguf
from planner.models.readers.tensors import spec_from_tensors
from planner.result import InputError
from tests.planner.models.readers.samples import gguf_bytes, gguf_llama, text


def code(data):
    with pytest.raises(InputError) as caught:
        read_gguf(data)
    return caught.value.problems[0].code


@pytest.mark.parametrize(
    ("name", "bits"),
    {
        **{"F32": 32, "BF16": 16, "Q8_0": 8.5, "Q6_K": 6.5625, "Q5_K": 5.5, "Q4_K": 4.5, "Q4_0": 4.5, "Q3_K": 3.4375},
        **{"Q2_K": 2.625, "IQ4_XS": 4.25, "IQ3_XXS": 3.0625, "IQ2_XXS": 2.0625, "IQ1_S": 1.5625, "TQ1_0": 1.6875},
        **{"TQ2_0": 2.0625, "MXFP4": 4.25, "NVFP4": 4.5},
    }.items(),
)
def test_bits_per_weight(name, bits):
    block, size = next((block, size) for other, block, size in TYPES.values() if other == name)
    assert size * 8 / block == bits


@pytest.mark.parametrize("version", [2, 3])
def test_a_header_without_its_data(version):
    metadata = {"general.architecture": "llama", "flag": True, "x": 1.5, "list": [1, 2], "words": ["a", "b"]}
    data = gguf_bytes(metadata, {"w": (12, (512, 3)), "b": (0, (7,))}, version)
    header = read_gguf(data)
    assert header.version == version
    assert header.metadata == {**metadata, "list": (1, 2), "words": ("a", "b")}
    assert header.tensors.names == ("w", "b")
    assert header.tensors.shapes == ((3, 512), (7,))  # rows first
    assert header.tensors.bytes == (3 * 2 * 144, 28)
    assert read_gguf(io.BytesIO(data + b"tensor data")) == header


def test_vocabularies_are_counted_not_kept():
    header = read_gguf(gguf_bytes({"tokenizer.ggml.tokens": ["t"] * 5000, "scores": [1] * 5000}, {}))
    assert header.metadata == {"tokenizer.ggml.tokens": LongList(5000), "scores": LongList(5000)}


START = b"GGUF" + struct.pack("<I", 3)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "header-truncated"),
        (b"GGML" + b"\0" * 20, "not-gguf"),
        (b"GGUF" + struct.pack("<I", 1), "unsupported-version"),
        (b"GGUF" + struct.pack(">I", 3), "unsupported-version"),
        (START + struct.pack("<QQ", 2**60, 0), "too-many"),
        (START + struct.pack("<QQ", 0, 2**60), "too-many"),
        (START + struct.pack("<QQQ", 0, 1, 2**63), "too-many"),
        (START + struct.pack("<QQQ", 0, 1, 50), "header-truncated"),
        (START + struct.pack("<QQ", 0, 1) + text("k") + struct.pack("<I", 99), "unknown-value-type"),
        (START + struct.pack("<QQ", 0, 1) + text("k") + struct.pack("<IIQ", 9, 9, 3), "nested-array"),
        (START + struct.pack("<QQ", 0, 1) + text("k") + struct.pack("<IIQ", 9, 0, 2**62), "too-many"),
        (START + struct.pack("<QQ", 0, 1) + text("k") + struct.pack("<IIQ", 9, 10, 15_000_000), "header-too-large"),
        (START + struct.pack("<QQ", 0, 1) + text("k") + struct.pack("<IIQ", 9, 8, 10**6), "header-truncated"),
        (gguf_bytes({}, {"w": (77, (1,))}), "unknown-dtype"),
        (gguf_bytes({}, {"w": (12, (100,))}), "size-mismatch"),
        (gguf_bytes({}, {"w": (0, (2**40, 2**40))}), "size-mismatch"),
        (gguf_bytes({}, {"w": (0, (1,) * 5)}), "bad-tensor"),
    ],
)
def test_what_is_refused(data, expected):
    assert code(data) == expected


def test_repeated_names_are_refused():
    one = gguf_bytes({"k": 1}, {})[24:]
    assert code(START + struct.pack("<QQ", 0, 2) + one + one) == "duplicate-key"


def test_a_llama():
    table, metadata = gguf.read(gguf_bytes(*gguf_llama()))
    spec = spec_from_tensors(table, metadata)
    assert spec.model_type == "llama"
    assert spec.total_parameters == table.total_parameters == spec.computed_parameters
    assert spec.quantization == "q4_k"
    assert spec.assumed == ()
    attention = spec.text_stack.runs[0].layer.mixers[0]
    assert (attention.heads, attention.kv_heads, attention.head_dim) == (4, 2, 64)
    assert spec.max_positions == 4096
    assert not spec.tied


def test_the_vocabulary_alone_gives_the_table_of_a_header_without_tensors():
    metadata, _ = gguf_llama()
    spec = spec_from_tensors(*gguf.read(gguf_bytes(metadata, {})))
    assert spec.vocabulary == 1000


def test_experts_and_key_lengths():
    metadata, tensors = gguf_llama()
    del tensors["output.weight"]
    moe = {"llama.expert_count": 8, "llama.expert_used_count": 2, "llama.attention.key_length": 64}
    config = config_of(read_gguf(gguf_bytes(metadata | moe, tensors)))
    assert config["model_type"] == "mixtral"
    assert config["num_local_experts"] == 8
    assert config["num_experts_per_tok"] == 2
    assert config["head_dim"] == 64
    assert config["tie_word_embeddings"] is True


def test_qwen3_with_tied_embeddings():
    """Qwen3-0.6B: 596,049,920 parameters, by its published checkpoint."""
    metadata = {
        "general.architecture": "qwen3",
        **{f"qwen3.{key}": value for key, value in {"block_count": 28, "embedding_length": 1024}.items()},
        **{"qwen3.feed_forward_length": 3072, "qwen3.attention.head_count": 16, "qwen3.context_length": 40960},
        **{"qwen3.attention.head_count_kv": 8, "qwen3.attention.key_length": 128, "qwen3.attention.value_length": 128},
    }
    table, config = gguf.read(gguf_bytes(metadata, {"token_embd.weight": (14, (1024, 151_936))}))
    assert spec_from_tensors(table, config).total_parameters == 596_049_920


def test_an_unknown_file_says_what_is_missing():
    with pytest.raises(InputError) as caught:
        spec_from_tensors(*gguf.read(gguf_bytes({"general.architecture": "odd"}, {"w": (1, (64, 10))})))
    (problem,) = caught.value.problems
    assert problem.code == "cannot-infer"
    assert "hidden_size" in problem.parameters["missing"]
    assert problem.parameters["total_parameters"] == 640
    assert problem.parameters["total_bytes"] == 1280


@given(st.binary(max_size=200))
def test_any_bytes(data):
    for bytes_ in (data, START + data, START + struct.pack("<QQ", 1, 1) + data):
        with contextlib.suppress(InputError):
            read_gguf(bytes_)


VALID = gguf_bytes(*gguf_llama(layers=1, vocabulary=20))


@given(st.lists(st.tuples(st.integers(0, len(VALID) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_mutated_headers(changes):
    data = bytearray(VALID)
    for place, value in changes:
        data[place] = value
    with contextlib.suppress(InputError):
        spec_from_tensors(*gguf.read(bytes(data)))
