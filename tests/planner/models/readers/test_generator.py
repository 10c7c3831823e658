import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.models.build import build
from planner.models.readers.generator import free_dimensions, transformer
from planner.result import InputError


@given(st.floats(7, math.log10(2e12)).map(lambda power: min(2e12, max(1e7, 10**power))))
def test_the_count_is_within_one_percent(parameters):
    spec = build(transformer(parameters))
    assert spec.total_parameters == pytest.approx(parameters, rel=0.01)


def test_every_size_has_proportions():
    """No gap anywhere: a thousand sizes over the whole range."""
    for step in range(1001):
        config = transformer(min(2e12, 1e7 * 2e5 ** (step / 1000)))
        assert config["num_attention_heads"] % config["num_key_value_heads"] == 0
        assert config["hidden_size"] % 128 == 0
        assert 1 <= config["intermediate_size"] / config["hidden_size"] <= 6


@pytest.mark.parametrize(("parameters", "depth", "width"), [(6.7e9, 32, 4096), (7e10, 80, 8192), (4.05e11, 126, 16384)])
def test_proportions_are_those_of_published_models(parameters, depth, width):
    """Llama 2 7B and 70B, Llama 3.1 405B: depth and width within a fifth."""
    config = transformer(parameters)
    assert config["num_hidden_layers"] == pytest.approx(depth, rel=0.2)
    assert config["hidden_size"] == pytest.approx(width, rel=0.2)
    assert config["num_key_value_heads"] == 8


def test_key_value_cache_of_small_and_large():
    assert transformer(1e9)["num_key_value_heads"] == transformer(1e9)["num_attention_heads"]
    assert transformer(1e9)["tie_word_embeddings"]
    assert not transformer(7e9)["tie_word_embeddings"]


@pytest.mark.parametrize("parameters", [0, -1, 9e6, 3e12, math.nan, math.inf, "7b", None, True])
def test_out_of_range(parameters):
    with pytest.raises(InputError):
        transformer(parameters)


def test_free_dimensions():
    spec = build(free_dimensions(depth=2, width=256, heads=4, kv_heads=2, mlp_width=512, vocabulary=1000))
    assert spec.total_parameters == 2 * 1000 * 256 + 256 + 2 * (2 * 256 + 2 * 256**2 + 2 * 256 * 128 + 3 * 256 * 512)
    sparse = build(free_dimensions(depth=2, width=256, heads=4, mlp_width=512, vocabulary=1000, experts=8, top_k=2))
    assert sparse.total_parameters - sparse.active_parameters == 2 * 6 * 3 * 256 * 512


def test_impossible_dimensions_are_refused():
    with pytest.raises(InputError):
        build(free_dimensions(depth=2, width=-4, heads=4, mlp_width=512, vocabulary=1000))
