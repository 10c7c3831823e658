"""Rows of inference.csv -> requests: start-up logs, speeds and latencies of serving engines; image networks too."""

import re

from planner.hardware.catalogue import gpu as catalogued_gpu
from planner.hardware.types import Cluster, Gpu
from planner.models.spec import ModelSpec
from planner.naming.engines import named_engine, version_of
from planner.naming.formats import named_format, named_kv
from planner.naming.gpus import named_gpu
from planner.naming.models import named_model
from planner.naming.named import Named, refuse
from planner.parallel import Layout
from planner.units import GIB
from planner.validation.case import Case, Quantity, Row
from planner.validation.sources import source_of
from planner.validation.tables import number, whole
from planner.workload import AttentionImplementation, Engine, Serving

PLAIN_GPU = "a100-sxm4-80gb"
"""Stands in where a row names no GPU and what was measured doesn't depend on one."""

MEMORY_FRACTION = {Engine.VLLM: 0.9, Engine.SGLANG: 0.88, Engine.TENSORRT_LLM: 0.9}
"""Defaults of `gpu_memory_utilization`, `mem_fraction_static` (it varies by card) and `free_gpu_memory_fraction`."""

LARGE_GPU_BYTES = 70 * GIB
_WITHOUT_GPU = frozenset({Quantity.WEIGHTS, Quantity.ALLOCATED})


def inference_case(row: Row) -> Case:
    """The case of a row. Raises `InputError` where something decisive is unknown, `BadCell` on a bad number."""
    image = row.text("domain") == "vision"
    assumed: list[str] = []
    engine = Engine.TRANSFORMERS if image and "timm" in row.text("engine").lower() else named_engine(row.text("engine"))
    notes = row.text("notes") if image else ""
    model = named_model(row.text("model"), number(row, "params_b"), notes, None, image)
    gpu = _gpu(row)
    assumed += [*model.assumed, *gpu.assumed]
    unnamed = bool(gpu.assumed) and gpu.value.id == PLAIN_GPU and not row.text("gpu")
    request = _request(row, model.value, gpu.value, engine, image, assumed)
    measured, left_out, machine = _measured(row, request, image)
    if unnamed:
        left_out += ("no GPU is named",) if set(measured) - {Quantity.WEIGHTS} else ()
        kept = _WITHOUT_GPU | ({Quantity.KV_BYTES} if engine is Engine.LLAMA_CPP else set())
        measured = {key: value for key, value in measured.items() if key in kept}
    return Case(
        id=row.text("id") or f"line {row.line}",
        line=row.line,
        source=source_of(row),
        url=row.text("source_url_or_repo_path"),
        date=row.text("date"),
        model=model.value.name,
        gpu="" if unnamed else gpu.value.id,
        domain="vision_inference" if image else "llm_inference",
        quality=row.text("quality") or "B",
        request=request,
        measured=measured,
        assumed=tuple(assumed),
        left_out=left_out,
        ran=None if unnamed or not row.text("batch_or_concurrency") else True,
        engine_version=version_of(row.text("engine_version")),
        max_length=int(request.max_model_length),
        whole_machine=machine,
        whole_request=bool(re.search(r"generated tokens/s", row.text("notes"))),
    )


def _gpu(row: Row) -> Named[Gpu]:
    if not row.text("gpu"):
        return Named(catalogued_gpu(PLAIN_GPU), ("no GPU named: only what doesn't depend on it",))
    return named_gpu(row.text("gpu"), number(row, "gpu_mem_gb"))


def _request(row: Row, spec: ModelSpec, gpu: Gpu, engine: Engine, image: bool, assumed: list[str]) -> Serving:
    weights = Named("fp16") if image else named_format(row.text("weight_dtype_or_quant"), row.text("model"), engine)
    assumed += weights.assumed
    layout = _layout(row, engine, assumed)
    version = version_of(row.text("engine_version"))
    fraction = number(row, "gpu_memory_utilization")
    if fraction is None or not 0 < fraction <= 1:
        fraction = MEMORY_FRACTION.get(engine, 0.9)
        assumed.append(f"memory fraction not stated: {fraction}")
    inputs, outputs = _lengths(row, assumed)
    if depth := re.search(r"context depth (\d+)", row.text("notes")):
        inputs += int(depth.group(1))
    concurrency = whole(row, "batch_or_concurrency", 0)
    if not concurrency:
        concurrency = 1
        assumed.append("concurrency not stated: 1")
    return Serving(
        model=spec,
        cluster=Cluster(gpu=gpu, gpus=int(layout.gpus), gpus_per_node=72 if gpu.id.startswith("gb") else 8),
        layout=layout,
        engine=engine,
        weight_format=weights.value,
        kv_dtype=_kv_dtype(row, weights.value, engine, gpu, assumed),
        concurrency=concurrency,
        input_tokens=inputs,
        output_tokens=outputs,
        max_model_length=whole(row, "max_model_len", 0),
        max_batched_tokens=_batched_tokens(row, engine, gpu, version, assumed),
        memory_fraction=fraction,
        cuda_graphs="torch.compile" in row.text("notes")
        if image
        else "enforce_eager" not in row.text("notes").lower().replace("-", "_"),
        attention=_attention(row, engine, version),
        image_size=spec.image.image_size if spec.image else 0,
    )


LLAMA_FUSED = (6300,)
"""llama.cpp's first build that turns flash attention on by itself (August 2025)."""


def _attention(row: Row, engine: Engine, version: tuple[int, ...]) -> AttentionImplementation:
    """Scores are stored where a row says that flash attention is off, or an old llama.cpp isn't told to use it."""
    notes = row.text("notes")
    if re.search(r"no (FA\b|flash attention)", notes):
        return AttentionImplementation.EAGER
    old = engine is Engine.LLAMA_CPP and version and version < LLAMA_FUSED
    return AttentionImplementation.EAGER if old and "FA on" not in notes else AttentionImplementation.FLASH


def _kv_dtype(row: Row, weight_format: str, engine: Engine, gpu: Gpu, assumed: list[str]) -> str:
    """The cache's dtype. NVIDIA's FP8 and NVFP4 checkpoints ask for an FP8 cache, and servers obey "auto".

    vLLM and SGLang also serve others' FP8 checkpoints, which don't; on Blackwell NVIDIA's are the usual ones.
    """
    stated = row.text("kv_dtype")
    if not stated and (told := re.search(r"\b(int8|fp8|bf16|fp16) KV\b", row.text("notes"))):
        return named_kv(told.group(1))
    blackwell = gpu.architecture.startswith("Blackwell")
    theirs = weight_format == "nvfp4" or (
        weight_format.startswith("fp8") and (blackwell or engine is Engine.TENSORRT_LLM)
    )
    if stated or not theirs or engine in (Engine.LLAMA_CPP, Engine.TRANSFORMERS):
        return named_kv(stated)
    assumed.append("cache: FP8, as NVIDIA's checkpoints of this format ask")
    return "fp8"


def _layout(row: Row, engine: Engine, assumed: list[str]) -> Layout:
    gpus = whole(row, "n_gpus", 1)
    tensor, pipeline, data = (whole(row, name, 0) for name in ("tp", "pp", "dp"))
    if not tensor and not pipeline and not data and gpus > 1:
        if engine in (Engine.LLAMA_CPP, Engine.TRANSFORMERS):
            pipeline = gpus  # layers are shared out over the GPUs
        else:
            tensor = gpus
        assumed.append("degrees not stated: all GPUs hold one copy")
    if tensor and not pipeline and engine in (Engine.LLAMA_CPP, Engine.TRANSFORMERS) and tensor == gpus and gpus > 1:
        tensor, pipeline = 1, gpus
    if engine in (Engine.LLAMA_CPP, Engine.TRANSFORMERS) and (tensor or 1) * (pipeline or 1) == 1 and not data:
        pipeline = gpus
    tensor, pipeline = tensor or 1, pipeline or 1
    data = data or max(1, gpus // (tensor * pipeline))
    if tensor * pipeline * data != gpus:
        if row.text("n_gpus") and tensor * pipeline != gpus:
            raise refuse("degrees-are-not-the-gpus", "n_gpus", f"{data} x {tensor} x {pipeline} != {gpus}")
        data = max(1, gpus // (tensor * pipeline))
    return Layout(
        data_parallel=data, tensor_parallel=tensor, pipeline_parallel=pipeline, expert_parallel=whole(row, "ep", 1)
    )


def _lengths(row: Row, assumed: list[str]) -> tuple[int, int]:
    inputs, outputs = number(row, "input_len"), number(row, "output_len")
    if inputs is None:
        inputs = 1 if outputs else 0
        if outputs:
            assumed.append("prompt length not stated: 1")
    ratio = 0.9 if re.search(r"length ratio|0\.8.?-.?1\.0", row.text("notes")) else 1.0
    if ratio != 1.0:
        assumed.append("lengths are 0.8 to 1.0 of nominal: 0.9 taken")
    return max(1, round(inputs * ratio)), max(1, round((outputs or 0) * ratio))


def _batched_tokens(row: Row, engine: Engine, gpu: Gpu, version: tuple[int, ...], assumed: list[str]) -> int:
    """Tokens of a forward pass: stated, else vLLM's default by card (arg_utils.py), SGLang's chunk, TensorRT-LLM's."""
    stated = re.search(r"max_num_batched_tokens\s*=\s*(\d+)", row.text("notes"))
    if stated:
        return int(stated.group(1))
    found = re.search(r"\bub (\d+)", row.text("notes"))
    if engine is Engine.LLAMA_CPP and found:
        return int(found.group(1))
    large = gpu.memory_bytes >= LARGE_GPU_BYTES and "a100" not in gpu.id
    tokens = {Engine.VLLM: 8192 if large else 2048, Engine.SGLANG: 8192, Engine.TENSORRT_LLM: 8192}.get(engine, 8192)
    if engine in (Engine.VLLM, Engine.SGLANG):
        assumed.append(f"tokens of a forward pass not stated: {tokens}")
    return tokens


_RATES = (
    ("prefill_tok_s", Quantity.PREFILL_RATE, 1.0),
    ("decode_tok_s", Quantity.DECODE_RATE, 1.0),
    ("output_tok_s_total", Quantity.OUTPUT_RATE, 1.0),
    ("ttft_ms", Quantity.TTFT, 1e-3),
    ("tpot_ms", Quantity.TPOT, 1e-3),
)
_NEED_LENGTHS = tuple(quantity for _, quantity, _ in _RATES)
_MEMORY = (
    ("weights_gib", Quantity.WEIGHTS, GIB),
    ("kv_tokens", Quantity.KV_TOKENS, 1.0),
    ("kv_gib", Quantity.KV_BYTES, GIB),
    ("activation_gib", Quantity.ACTIVATION, GIB),
    ("other_gib", Quantity.ENGINE_OTHER, GIB),
    ("graph_gib", Quantity.GRAPHS, GIB),
)


def _measured(row: Row, request: Serving, image: bool) -> tuple[dict[Quantity, float], tuple[str, ...], bool]:
    """What was measured, what was left out, and whether memory is summed over the GPUs."""
    found: dict[Quantity, float] = {}
    left_out: list[str] = []
    for column, quantity, unit in (*_RATES, *_MEMORY):
        value = number(row, column)
        if value:
            found[quantity] = value * unit
    notes = row.text("notes").lower()
    if image and (value := number(row, "samples_per_s")):
        found[Quantity.SAMPLES_RATE] = value
    if peak := number(row, "peak_mem_gib"):
        counter = Quantity.ALLOCATED if request.engine is Engine.TRANSFORMERS else Quantity.DEVICE
        found[counter] = peak * GIB / (request.layout.gpus if "summed over" in notes else 1)
    if not row.text("output_len") and not row.text("input_len"):
        left_out += [f"{quantity}: lengths not stated" for quantity in _NEED_LENGTHS if found.pop(quantity, None)]
    if Quantity.OUTPUT_RATE in found and not row.text("batch_or_concurrency"):
        left_out.append("output_tokens_per_second: concurrency not stated")
        del found[Quantity.OUTPUT_RATE]
    if "token pool" in notes:  # set by hand: says nothing about memory
        left_out += [
            f"{each}: pool set by hand" for each in (Quantity.KV_TOKENS, Quantity.KV_BYTES) if found.pop(each, 0)
        ]
    if request.engine is Engine.LLAMA_CPP:
        found.pop(Quantity.KV_TOKENS, None)  # the length asked for, not a capacity
    return found, tuple(left_out), row.text("weights_gib_scope") == "total"
