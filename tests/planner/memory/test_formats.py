"""Stored bits of each weight format, against published file sizes."""

import csv
from pathlib import Path

import pytest

from planner.memory.formats import FORMATS, kv_element_bytes
from planner.memory.gguf import FILE_TYPES, block_bits, fitting
from planner.memory.serving_weights import active_weight_bytes, weight_bytes, weight_split
from planner.models.spec import ModelSpec
from planner.units import GIB

from .specs import hybrid, llama_8b, mixtral_8x22b

SIZES = list(csv.DictReader((Path(__file__).parents[2] / "data/gguf_sizes.csv").open()))
MODELS = {"meta-llama/Llama-3.1-8B": llama_8b(), "mistralai/Mixtral-8x22B-v0.1": mixtral_8x22b()}


@pytest.mark.parametrize("row", SIZES, ids=lambda row: f"{row['model'].split('/')[1]}-{row['file_type']}")
def test_published_gguf_file_sizes(row: dict[str, str]) -> None:
    size = weight_bytes(MODELS[row["model"]], f"gguf-{row['file_type'].lower()}") / GIB
    assert size == pytest.approx(float(row["gib"]), rel=0.003)


@pytest.mark.parametrize(
    ("file_type", "bits"),
    [("q4_k_m", 4.89), ("q5_k_m", 5.70), ("q6_k", 6.56), ("q8_0", 8.50), ("iq4_xs", 4.46), ("q2_k", 3.16)],
)
def test_bits_per_weight_of_llama_8b(file_type: str, bits: float) -> None:
    model = llama_8b()
    assert weight_bytes(model, f"gguf-{file_type}") * 8 / model.total_parameters == pytest.approx(bits, rel=0.002)


@pytest.mark.parametrize(
    ("format", "bits"),
    [
        ("bf16", 16),
        ("fp32", 32),
        ("fp8", 8 + 16 / 4096),
        ("fp8-block", 8 + 32 / 128**2),
        ("awq-int4", 4 + 20 / 128),
        ("gptq-int4-g32", 4 + 20 / 32),
        ("nf4", 0.515869140625 * 8),
        ("mxfp4", 4.25),
        ("nvfp4", 4.5 + 32 / 4096**2),
    ],
)
def test_bits_of_a_square_matrix(format: str, bits: float) -> None:
    assert FORMATS[format].bits_per_weight == pytest.approx(bits, rel=1e-9)


@pytest.mark.parametrize(("block", "bits"), [("Q4_K", 4.5), ("Q6_K", 6.5625), ("IQ4_XS", 4.25), ("TQ1_0", 1.6875)])
def test_ggml_blocks(block: str, bits: float) -> None:
    assert block_bits(block) == bits


def test_narrow_rows_fall_back() -> None:
    assert fitting("Q4_K", 4096) == "Q4_K"
    assert fitting("Q4_K", 2880) == "Q5_0"
    assert fitting("IQ3_S", 2880) == "IQ4_NL"
    assert fitting("Q6_K", 100) == "F16"


def test_every_mixture_is_a_format() -> None:
    assert {f"gguf-{name.lower()}" for name in FILE_TYPES} <= set(FORMATS)
    assert all(format.engines and format.source for format in FORMATS.values())


@pytest.mark.parametrize("model", [llama_8b(), mixtral_8x22b(), hybrid()], ids=lambda m: m.id)
def test_sixteen_bits_are_two_bytes_a_parameter(model: ModelSpec) -> None:
    assert weight_bytes(model, "bf16") == 2 * model.total_parameters
    assert weight_bytes(model, "fp32") == 4 * model.total_parameters


def test_table_and_output_stay_at_sixteen_bits() -> None:
    split = weight_split(llama_8b(), "gptq-int4")
    assert split.embedding == split.head == 2 * 128256 * 4096
    assert split.total / GIB == pytest.approx(5.38, rel=0.01)  # vLLM 0.19 loads w4a16 Llama-3.1-8B in 5.38 GiB


def test_mxfp4_covers_experts_only_where_there_are_experts() -> None:
    mixture, dense = weight_split(mixtral_8x22b(), "mxfp4"), weight_split(llama_8b(), "mxfp4")
    assert mixture.divided == weight_split(mixtral_8x22b(), "bf16").divided
    assert mixture.experts == pytest.approx(weight_split(mixtral_8x22b(), "bf16").experts * 4.25 / 16)
    assert dense.divided == pytest.approx(weight_split(llama_8b(), "bf16").divided * 4.25 / 16)


def test_a_token_reads_the_experts_it_meets() -> None:
    model = mixtral_8x22b()
    split = weight_split(model, "bf16")
    assert split.active_experts == split.experts / 4
    assert active_weight_bytes(model, "bf16") == pytest.approx(2 * model.active_parameters - split.embedding)


def test_cache_dtypes() -> None:
    assert kv_element_bytes("auto", 4) == 4
    assert kv_element_bytes("q8_0") * 8 == 8.5
    assert kv_element_bytes("q4_0") * 8 == 4.5
