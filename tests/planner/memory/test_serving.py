"""Serving memory against engine start-up logs, and the properties that must hold for any plan."""

import csv
import dataclasses
import statistics
from pathlib import Path

import numpy as np
import pytest

from planner.memory.engine import PROFILES, graph_bytes
from planner.memory.formats import FORMATS
from planner.memory.serving import cache_budget, kv_capacity_tokens, largest_concurrency, sequence_bytes, serving_memory
from planner.models.catalogue import model
from planner.models.spec import Component, ImageCosts, ModelSpec, ModelTask
from planner.parallel import Layout
from planner.result import Memory
from planner.units import GIB
from planner.workload import Engine, Serving

from .specs import H100, cluster, deepseek_v3_attention, hybrid, llama_8b, mixtral_8x22b

LOGS = list(csv.DictReader((Path(__file__).parents[2] / "data/serving_measured.csv").open()))


def serve(spec: ModelSpec | None = None, **changes: object) -> Serving:
    layout = changes.get("layout", Layout())
    assert isinstance(layout, Layout)
    base = Serving(model=spec or llama_8b(), cluster=cluster(layout.gpus))
    return dataclasses.replace(base, **changes)  # type: ignore[arg-type]


def part(memory: Memory, id: str) -> float:
    found = [t.value for phase in memory.phases for t in phase.terms if t.id == f"mem.serving.{id}"]
    return float(max([*found, *(t.value for t in memory.outside if t.id == f"mem.serving.{id}")]))


def logged(row: dict[str, str]) -> Serving:
    layout = Layout(tensor_parallel=int(row["tensor_parallel"]), pipeline_parallel=int(row["pipeline_parallel"]))
    return serve(
        model(row["model"]),
        layout=layout,
        weight_format=row["weight_format"],
        kv_dtype=row["kv_dtype"],
        memory_fraction=float(row["memory_fraction"]),
    )


def errors(column: str) -> list[float]:
    """Relative errors over the logs that print the column."""
    found = []
    for row in LOGS:
        request = logged(row)
        memory = serving_memory(request)
        weights = memory.phases[0].total
        value = {
            "weights_gib": weights,
            "kv_gib": cache_budget(request),
            "graph_gib": part(memory, "graphs"),
            "activation_gib": max(part(memory, "activations"), part(memory, "logits")),
            "bytes_per_token": cache_budget(request) / kv_capacity_tokens(request),
        }[column]
        if column == "bytes_per_token":
            truth = float(row["kv_gib"]) * GIB / float(row["kv_tokens"])
        else:
            truth = float(row[column]) * GIB
        found.append(abs(value / truth - 1))
    return found


@pytest.mark.parametrize(
    ("column", "median", "most"),
    [
        ("weights_gib", 0.005, 0.05),
        ("bytes_per_token", 0.002, 0.02),
        ("kv_gib", 0.01, 0.17),  # most: Llama-4-Scout, whose loaded weights have parts that its configuration hasn't
        ("graph_gib", 0.10, 0.50),  # most: DeepSeek-V2-Lite, whose many small expert kernels take more
        ("activation_gib", 0.10, 0.70),  # most: a first pipeline stage, where no logits are; the last is the fullest
    ],
)
def test_start_up_logs(column: str, median: float, most: float) -> None:
    """Weights and bytes per token are independent checks. Activations, graphs and so the pool are not: the engine's
    constants were read off these same logs (one GPU type, one version), which this guards but does not validate."""
    found = errors(column)
    assert len(found) > 35
    assert statistics.median(found) < median
    assert max(found) < most


@pytest.mark.parametrize(
    ("prompt", "format", "measured"),  # Qwen2.5 speed benchmark: transformers 4.46, A100, peak of torch, GiB
    [
        (1, "bf16", 28.08),
        (6144, "bf16", 29.50),
        (14336, "bf16", 31.95),
        (30720, "bf16", 36.85),
        (30720, "awq-int4", 18.57),
    ],
)
def test_transformers_peak_of_qwen_14b(prompt: int, format: str, measured: float) -> None:
    request = serve(
        model("Qwen/Qwen2.5-14B"),
        engine=Engine.TRANSFORMERS,
        weight_format=format,
        input_tokens=prompt,
        output_tokens=2048,
    )
    assert serving_memory(request).allocated / GIB == pytest.approx(measured, rel=0.02)


def test_llama_cpp_log() -> None:
    """Llama-3-8B Q4_K_M, 8,192 tokens: 4.30 GiB of weights on the GPU (the table stays on the host), 1 GiB of cache."""
    request = serve(engine=Engine.LLAMA_CPP, weight_format="gguf-q4_k_m", input_tokens=8192, output_tokens=0)
    memory = serving_memory(request)
    assert memory.phases[0].total / GIB == pytest.approx(4.300, rel=0.002)
    assert part(memory, "kv_cache") == GIB


@pytest.mark.parametrize(("vocabulary", "buffer_gib"), [(151936, 0.30), (262144, 0.51), (248320, 0.48)])
def test_llama_cpp_compute_buffer(vocabulary: int, buffer_gib: float) -> None:
    spec = dataclasses.replace(llama_8b(), vocabulary=vocabulary)
    memory = serving_memory(serve(spec, engine=Engine.LLAMA_CPP, weight_format="gguf-q8_0"))
    assert part(memory, "logits") / GIB == pytest.approx(buffer_gib, rel=0.05)


@pytest.mark.parametrize("engine", list(Engine))
@pytest.mark.parametrize("spec", [llama_8b(), hybrid(), mixtral_8x22b(), deepseek_v3_attention()], ids=lambda s: s.id)
def test_capacity_agrees_with_the_verdict(engine: Engine, spec: ModelSpec) -> None:
    request = serve(spec, engine=engine, weight_format="nf4")
    most = largest_concurrency(request)
    fits = [serving_memory(dataclasses.replace(request, concurrency=n)).spare >= 0 for n in (most, most + 1)]
    if most == 0:
        assert not fits[1]
    else:
        assert fits == [True, False]
        assert most <= kv_capacity_tokens(request) / request.context + 1 or sequence_bytes(request) == 0


def test_what_the_fraction_means() -> None:
    capacity, half = H100.memory_bytes, {"memory_fraction": 0.5}
    vllm = serve(**half)
    weights, logs = serving_memory(vllm).phases[0].total, serving_memory(vllm)
    profiled = max(phase.total for phase in logs.phases) - part(logs, "kv_cache") - part(logs, "batch")
    inside = profiled + part(logs, "overhead_engine")
    assert cache_budget(vllm) == pytest.approx(0.5 * capacity - inside, rel=1e-3)
    assert cache_budget(serve(engine=Engine.SGLANG, **half)) == pytest.approx(0.5 * capacity - weights, rel=1e-3)
    whole = serve(engine=Engine.TENSORRT_LLM, memory_fraction=1.0)
    assert cache_budget(serve(engine=Engine.TENSORRT_LLM, **half)) == pytest.approx(cache_budget(whole) / 2)
    free = serve(engine=Engine.TRANSFORMERS)
    assert cache_budget(free) == cache_budget(dataclasses.replace(free, **half))


@pytest.mark.parametrize("engine", list(Engine))
def test_arrays_equal_numbers(engine: Engine) -> None:
    counts, prompts, ranks = np.array([1, 7, 300]), np.array([5, 1000, 9000]), np.array([1, 2, 4])
    spec = mixtral_8x22b()

    def ask(n: object, tokens: object, degree: object) -> Serving:
        layout = Layout(tensor_parallel=degree, pipeline_parallel=degree, data_parallel=2, expert_parallel=degree)
        return serve(spec, engine=engine, concurrency=n, input_tokens=tokens, layout=layout, max_batched_tokens=tokens)

    many = serving_memory(ask(counts, prompts, ranks))
    most, held = largest_concurrency(ask(1, prompts, ranks)), kv_capacity_tokens(ask(counts, prompts, ranks))
    for i, (n, tokens, degree) in enumerate(zip(counts.tolist(), prompts.tolist(), ranks.tolist(), strict=True)):
        one = ask(n, tokens, degree)
        assert np.broadcast_to(many.device, 3)[i] == pytest.approx(serving_memory(one).device, rel=1e-12)
        assert most[i] == largest_concurrency(dataclasses.replace(one, concurrency=1))
        assert held[i] == pytest.approx(kv_capacity_tokens(one), abs=1)


@pytest.mark.parametrize("engine", list(Engine))
def test_more_work_never_takes_less(engine: Engine) -> None:
    growing = [
        serve(engine=engine, concurrency=np.arange(1, 200)),
        serve(engine=engine, input_tokens=np.arange(1, 20000, 97)),
        serve(engine=engine, output_tokens=np.arange(1, 20000, 97)),
        serve(engine=engine, max_model_length=np.arange(0, 200000, 997)),
    ]
    for request in growing:
        assert (np.diff(serving_memory(request).allocated) >= 0).all()


@pytest.mark.parametrize("field", ["tensor_parallel", "pipeline_parallel", "expert_parallel"])
def test_division_never_takes_more_and_never_loses_weights(field: str) -> None:
    ways = np.array([1, 2, 4, 8])
    layout = Layout(data_parallel=8 if field == "expert_parallel" else 1, **{field: ways})
    weights = serving_memory(serve(mixtral_8x22b(), layout=layout)).phases[0].total
    assert (np.diff(weights) < 0).all()
    assert (weights * ways >= weights[0] * (1 - 1e-12)).all()


def test_experts_inside_a_tensor_parallel_group() -> None:
    """vLLM's expert parallel over the tensor-parallel ranks holds as much as tensor parallel alone."""
    plain = serve(mixtral_8x22b(), layout=Layout(tensor_parallel=8))
    experts = serve(mixtral_8x22b(), layout=Layout(tensor_parallel=8, expert_parallel=8))
    assert serving_memory(plain).phases[0].total == serving_memory(experts).phases[0].total


@pytest.mark.parametrize(
    ("name", "ranks", "measured"), [("gpt-oss-120b", 1, 65.97), ("gpt-oss-120b", 4, 17.2), ("gpt-oss-20b", 2, 7.0)]
)
def test_mxfp4_experts_are_padded(name: str, ranks: int, measured: float) -> None:
    """vLLM logs: 65.97 GiB on one H100, 17.2 and 7.0 GiB a rank."""
    request = serve(model(f"openai/{name}"), weight_format="mxfp4", layout=Layout(tensor_parallel=ranks))
    assert serving_memory(request).phases[0].total / GIB == pytest.approx(measured, rel=0.02)


def test_hybrid_blocks_are_as_large_as_a_state() -> None:
    """vLLM sets the attention block of Qwen3.5-27B to 784 tokens."""
    one, more = (sequence_bytes(serve(hybrid(), input_tokens=n, output_tokens=0)) for n in (784, 785))
    assert more - one == 784 * 65_536


def test_quantised_cache_enlarges_llama_cpp_buffers() -> None:
    long = {"engine": Engine.LLAMA_CPP, "weight_format": "gguf-q4_k_m", "input_tokens": 262144}
    plain, packed = (serving_memory(serve(kv_dtype=dtype, **long)) for dtype in ("fp16", "q4_0"))
    assert part(packed, "kv_cache") < 0.3 * part(plain, "kv_cache")
    assert part(packed, "activations") > part(plain, "activations") + GIB


def test_graphs_of_few_and_many_layers() -> None:
    assert graph_bytes(Engine.VLLM, H100, 8) / GIB == pytest.approx(0.51, abs=0.05)
    assert graph_bytes(Engine.VLLM, H100, 80) / GIB == pytest.approx(1.73, abs=0.15)
    off = serving_memory(serve(cuda_graphs=False))
    assert not any(term.id == "mem.serving.graphs" for term in off.outside)


def test_models_without_a_cache() -> None:
    bert = serving_memory(serve(model("google-bert/bert-base-uncased"), input_tokens=512, output_tokens=0))
    assert not any(t.id == "mem.serving.kv_cache" for phase in bert.phases for t in phase.terms)

    costs = ImageCosts(parameters=25_557_032, multiply_accumulates=4.1e9, activation_elements=11.1e6, image_size=224)
    network = ModelSpec(id="r50", name="r50", model_type="r50", task=ModelTask.VISION, image=costs)
    small, large = (serving_memory(serve(network, image_size=side, concurrency=8)) for side in (224, 448))
    assert small.phases[0].total == 2 * 25_557_032
    assert part(large, "activations") == 4 * part(small, "activations") > 0

    parts = (
        Component(name="unet", role="denoiser", parameters=10**9),
        Component(name="v", role="vae", parameters=10**8),
    )
    pipeline = ModelSpec(id="d", name="d", model_type="d", task=ModelTask.DIFFUSION, components=parts)
    quantised = serving_memory(serve(pipeline, weight_format="fp8-tensor", engine=Engine.TRANSFORMERS))
    assert quantised.allocated == pytest.approx(10**9 + 2 * 10**8, rel=1e-6)


def test_every_engine_and_format_is_known() -> None:
    assert set(PROFILES) == set(Engine)
    for format in FORMATS.values():
        assert serving_memory(serve(weight_format=format.id)).device > 0
