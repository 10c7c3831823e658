"""What serving engines add to the arithmetic: kernels per layer, host time, share of bandwidth, with sources."""

from dataclasses import dataclass

from planner.throughput import constants
from planner.workload import Engine


@dataclass(frozen=True, slots=True)
class EngineCosts:
    """Costs of one engine's step beyond the roofline."""

    kernels: float  # GPU kernels of a dense layer in a decode step, matrix products included
    routed_kernels: float  # further kernels of a routed layer: router, sorting, grouped products, weighing
    host_layer: float  # CPU seconds per layer where kernels are issued one by one
    step: float  # seconds per step outside the layers: scheduling, sampling, detokenising
    prefill_share: float  # rate of prefill products over large products: mixed lengths, padding, small chunks
    request: float = 0.02  # seconds of a request outside its passes: tokenising, queueing for a step, streaming
    host_bound: bool = False  # kernels are always issued one by one
    copies_cache: bool = False  # appends to the cache by copying it, and repeats key/value heads
    quantised_host: float = 0.0  # further CPU seconds per layer where products unpack their weights
    hbm_share: float = 1.0  # bandwidth share of its matrix-vector kernels on cards with HBM
    unpacked_share: float = constants.QUANTISED_BANDWIDTH  # and of those that unpack 4-bit weights
    unpacks: bool = False  # products of quantised weights run at the 16-bit rate
    prompts_first: float = 0.0  # share of the other prompts that a prompt waits for where prompts go before decoding
    hop: float = 0.0  # seconds of handing a decode step on to the next pipeline stage: synchronising, copying
    micro_batch: int = 0  # tokens that pass a pipeline stage together; 0: max_batched_tokens
    logical_batch: int = 0  # tokens in the pipeline at a time


ENGINES: dict[Engine, EngineCosts] = {
    Engine.VLLM: EngineCosts(12, 3, 0.35e-3, 0.4e-3, 0.75),
    Engine.SGLANG: EngineCosts(12, 3, 0.35e-3, 0.4e-3, 0.75, prompts_first=0.3),
    Engine.TENSORRT_LLM: EngineCosts(11, 3, 0.25e-3, 0.4e-3, 0.8),
    Engine.LLAMA_CPP: EngineCosts(
        11,
        4,
        0.05e-3,
        0.3e-3,
        0.65,
        request=0.005,
        hbm_share=0.6,
        unpacked_share=0.95,
        unpacks=True,
        hop=0.1e-3,
        micro_batch=512,
        logical_batch=2048,
    ),
    Engine.TRANSFORMERS: EngineCosts(
        45,
        30,
        0.65e-3,
        1.5e-3,
        0.75,
        request=0.0,
        host_bound=True,
        copies_cache=True,
        quantised_host=0.35e-3,
        unpacked_share=0.45,
    ),
}
"""vLLM, SGLang: 80-layer Llama 70B in FP8 at concurrency 4-8 takes 60-80 us a layer beyond its memory traffic on H100,
H200 and B200, whatever the tensor-parallel degree; a routed layer adds a
router, a sort and a weighted sum.
SGLang reads waiting prompts before it decodes on, so clients of equal length stay bunched: of the others' prompts
0.2-0.35 are waited for (Qwen3-32B, TP2 to TP8, 16 to 128 clients); engines that mix both in a pass keep them apart.
transformers: 20-25 ms a token whatever the size, 28-32 layers; GPTQ and AWQ layers issue their kernels from Python,
0.3-0.4 ms a layer more (Qwen2.5 speed benchmark). llama.cpp (b2824): batch-1 F16 reaches 0.85-0.92 of Ada's bandwidth,
0.41-0.54 of A100's and H100's, for which its kernels are not tuned. Prefill:
llama.cpp 8B F16 reaches 145 of RTX 4090's 157 TFLOP/s without attention, 68 of 73 on RTX 3090."""

SMALL_LATENCY = {"nvlink": 6e-6, "pcie": 20e-6}
"""Seconds of an all-reduce of one decode step's activations inside a node: engines replace NCCL's ring by one-shot
kernels over NVLink (vLLM, TensorRT-LLM: 5-10 us for 8 GPUs); over PCIe they cannot."""

HALF_SUMS_SHARE = 0.72
"""Rate of llama.cpp's products with FP16 sums over half the attained INT8 rate: with its share of prefill, 0.45-0.5 of
the FP16 peak on RTX 3090, 4090, A6000 and A100 (8B F16, 512 tokens)."""

ATTENTION_BANDWIDTH = 0.8
"""Bandwidth share of paged attention in decoding against a long read: pages are short, the last ones part empty."""
