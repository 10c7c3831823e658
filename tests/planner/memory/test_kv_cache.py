"""Cached bytes per sequence, against caches of the reference implementation (transformers 5.24, bf16), exact."""

import csv
from pathlib import Path

import numpy as np
import pytest

from planner.memory.kv_cache import kv_bytes, kv_bytes_per_token, state_bytes
from planner.models.catalogue import model
from planner.models.spec import Run, StackKind
from planner.units import GIB

from .specs import attention, decoder, deepseek_v3_attention, hybrid, layer, llama_8b

ROWS = list(csv.DictReader((Path(__file__).parents[2] / "data/kv_cache.csv").open()))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['model'].split('/')[1]}-{row['tokens']}")
def test_equals_the_reference_cache(row: dict[str, str]) -> None:
    spec = model(row["model"])
    one = kv_bytes(spec, int(row["tokens"]), "bf16", encoder_tokens=int(row["encoder_tokens"]))
    assert int(row["sequences"]) * (one + state_bytes(spec, convolution_bytes=2)) == int(row["bytes"])


@pytest.mark.parametrize(
    ("name", "per_token"),
    [
        ("meta-llama/Llama-3.1-8B", 131_072),
        ("Qwen/Qwen3-0.6B", 114_688),
        ("Qwen/Qwen3-30B-A3B", 98_304),
        ("deepseek-ai/DeepSeek-V3", 70_272),
        ("moonshotai/Kimi-K2-Instruct", 70_272),
        ("Qwen/Qwen3.5-27B", 65_536),
        ("openai/gpt-oss-120b", 36_864),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 6_144),
    ],
)
def test_growth_per_token(name: str, per_token: int) -> None:
    assert kv_bytes_per_token(model(name), "bf16") == per_token


def test_windows_at_32k() -> None:
    assert kv_bytes(model("google/gemma-3-27b-it"), 32768, "bf16") / GIB == pytest.approx(2.9, abs=0.1)
    # ollama keeps a micro-batch of 512 tokens beyond the window
    assert kv_bytes(
        model("google/gemma-4-26B-A4B"), 32768, "bf16", block_tokens=256, window_slack=512
    ) / 1e9 == pytest.approx(0.99, abs=0.01)


def test_latents_are_whole_on_every_rank() -> None:
    spec = deepseek_v3_attention()
    assert kv_bytes(spec, 1, "bf16") == kv_bytes(spec, 1, "bf16", tensor_parallel=8) == 70_272


def test_heads_are_replicated_beyond_their_number() -> None:
    ranks = np.array([1, 2, 4, 8, 16, 32])
    assert kv_bytes(llama_8b(), 1, "bf16", tensor_parallel=ranks).tolist() == [
        131072,
        65536,
        32768,
        16384,
        16384,
        16384,
    ]


def test_tokens_may_be_an_array() -> None:
    spec = decoder((Run(layer(4096, attention(window=1024), 64), 3), Run(layer(4096, attention(), 64), 1)), 4096, 100)
    tokens = np.array([1, 1000, 1024, 5000])
    assert kv_bytes(spec, tokens, "bf16").tolist() == [kv_bytes(spec, int(t), "bf16") for t in tokens]
    assert kv_bytes(spec, 5000, "bf16") == 4096 * (3 * 1024 + 5000)
    assert kv_bytes_per_token(spec, "bf16", tokens=10) == 4 * kv_bytes_per_token(spec, "bf16")


def test_blocks() -> None:
    assert kv_bytes(llama_8b(), 17, "bf16", block_tokens=16) == kv_bytes(llama_8b(), 32, "bf16")
    windowed = decoder((Run(layer(4096, attention(window=1000), 64), 1),), 4096, 100)
    assert kv_bytes(windowed, 9999, "bf16", block_tokens=16, window_slack=16) == 4096 * 1024


@pytest.mark.parametrize(("dtype", "ratio"), [("fp8", 0.5), ("q8_0", 8.5 / 16), ("q4_0", 4.5 / 16), ("fp32", 2)])
def test_cache_dtype_is_its_own_choice(dtype: str, ratio: float) -> None:
    assert kv_bytes(llama_8b(), 100, dtype) == ratio * kv_bytes(llama_8b(), 100, "bf16")


def test_states_do_not_grow() -> None:
    spec = hybrid()
    assert state_bytes(spec, convolution_bytes=4) == 149.625 * 2**20  # llama.cpp prints 149.62 MiB for the 27B
    assert kv_bytes(spec, 1000, "bf16") == 1000 * 65_536


def test_layers_without_a_cache_of_their_own() -> None:
    shared = attention(cached=False, projects_kv=False)
    spec = decoder((Run(layer(4096, attention(), 64), 2), Run(layer(4096, shared, 64), 2)), 4096, 100)
    assert kv_bytes(spec, 1, "bf16") == 2 * 4096


def test_encoders_cache_nothing() -> None:
    spec = model("google-bert/bert-base-uncased")
    assert spec.stack(StackKind.DECODER) is None
    assert kv_bytes(spec, 512) == 0
