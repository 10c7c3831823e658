"""Files are told apart by what is in them, not by their names."""

import json

import pytest

from planner.models.build import build
from planner.models.readers.content import config_of, read_model
from planner.result import InputError

TINY = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "head_dim": 16,
    "intermediate_size": 128,
    "vocab_size": 1000,
}


def header():
    """The header of a two-layer Llama in 16 bits."""
    shapes = {"model.embed_tokens.weight": (1000, 64), "lm_head.weight": (1000, 64), "model.norm.weight": (64,)}
    for layer in range(2):
        name = f"model.layers.{layer}."
        shapes |= {f"{name}self_attn.{role}_proj.weight": (64, 64) for role in "qkvo"}
        shapes |= {f"{name}mlp.{role}_proj.weight": (128, 64) for role in ("gate", "up")}
        shapes |= {f"{name}mlp.down_proj.weight": (64, 128)}
        shapes |= {f"{name}{norm}_layernorm.weight": (64,) for norm in ("input", "post_attention")}
    entries, end = {}, 0
    for name, shape in shapes.items():
        size = 2
        for side in shape:
            size *= side
        entries[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [end, end + size]}
        end += size
    return json.dumps(entries).encode()


def test_configuration_header_and_header_as_json_are_one_model():
    expected = build(TINY).total_parameters
    text = header()
    assert read_model(json.dumps(TINY).encode()).total_parameters == expected
    assert read_model(len(text).to_bytes(8, "little") + text).total_parameters == expected
    assert read_model(text).total_parameters == expected


def test_what_a_link_carries_builds_the_same_model():
    text = header()
    spec = read_model(len(text).to_bytes(8, "little") + text)
    assert build(json.loads(json.dumps(config_of(spec)))).total_parameters == spec.total_parameters


def test_an_index_tells_the_size_only_and_says_so():
    index = {"metadata": {"total_size": 16_060_522_496}, "weight_map": {"model.embed_tokens.weight": "a.safetensors"}}
    spec = read_model(json.dumps(index).encode())
    assert spec.total_parameters == pytest.approx(8_030_261_248, rel=0.01)
    assert spec.assumed == ("size-only",)


@pytest.mark.parametrize("data", [b"", b"\x00" * 40, b"{", b"[1]", b"GGUF", b'{"weight_map": {}}', b"\xff" * 9, b"{}"])
def test_anything_else_is_an_input_error(data):
    with pytest.raises(InputError):
        read_model(data)
