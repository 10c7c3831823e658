"""How serving engines spend a GPU's memory: what their memory fraction means, and what they hold beside the model.

One profile an engine. Figures were measured on start-up logs; where an engine prints none, the figure says whose it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from planner.hardware.types import Gpu
from planner.numeric import Number, maximum, where
from planner.units import GIB
from planner.workload import Engine


class FractionOf(StrEnum):
    """What `memory_fraction` is a fraction of."""

    TOTAL = "total"  # weights, cache and (vLLM) activations must fit in fraction x all memory
    FREE = "free"  # the cache gets fraction x what is free once everything else is loaded
    NOTHING = "nothing"  # no such setting: memory grows as needed


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How an engine behaves."""

    fraction_of: FractionOf
    activations_inside: bool = False  # the fraction of the total covers activations and libraries' buffers too
    block_tokens: int = 1  # the cache is handed out in blocks
    window_slack: int = 0  # tokens kept beyond a window: a partly filled block, or a micro-batch
    prefill_tokens: int | None = None  # tokens of one forward pass: fixed; None: max_batched_tokens
    whole_prompts: bool = False  # one forward pass reads every prompt whole
    activation_bytes: int = 2
    logit_bytes: float = 10  # for each sampled token and vocabulary entry: 16-bit, fp32 copy, fp32 probabilities
    logit_rows: int = 0  # logits exist for at least this many tokens; 0: for each sequence
    profiles_most_sequences: bool = False  # reserves logits for the most sequences that it would accept
    context_bytes: float = 0.51 * GIB
    library_bytes: float = 0.25 * GIB  # cuBLAS workspaces, attention work buffers
    captures_graphs: bool = False
    grows_by_copy: bool = False  # a step copies a layer's keys and values to append a token
    tables_on_host: bool = False  # look-up tables stay in host memory
    towers_apart: bool = False  # vision towers come in a file of their own
    unpacks_cache: bool = False  # a quantised cache is unpacked to 16 bits a layer at a time


PROFILES: Mapping[Engine, Profile] = MappingProxyType(
    {
        Engine.VLLM: Profile(
            fraction_of=FractionOf.TOTAL,
            activations_inside=True,
            block_tokens=16,
            window_slack=16,
            logit_bytes=14,
            profiles_most_sequences=True,
            captures_graphs=True,
        ),
        Engine.SGLANG: Profile(fraction_of=FractionOf.TOTAL, captures_graphs=True),
        Engine.TENSORRT_LLM: Profile(
            fraction_of=FractionOf.FREE, block_tokens=32, window_slack=32, captures_graphs=True
        ),
        Engine.LLAMA_CPP: Profile(
            fraction_of=FractionOf.NOTHING,
            block_tokens=256,
            window_slack=512,
            prefill_tokens=512,
            activation_bytes=4,
            logit_bytes=4,
            logit_rows=512,
            context_bytes=0.14 * GIB,
            library_bytes=0.0,
            tables_on_host=True,
            towers_apart=True,
            unpacks_cache=True,
        ),
        Engine.TRANSFORMERS: Profile(fraction_of=FractionOf.NOTHING, whole_prompts=True, grows_by_copy=True),
    }
)
"""Sources. vLLM 0.19 logs (H100, 40 checkpoints): context 0.51 GiB (79.19 visible, 78.68 free), other non-torch
0.25 GiB at one GPU, 14 B a logit by the slope of the profiled peak over five vocabularies (32 K to 152 K). llama.cpp:
compute buffers of 512-token micro-batches equal 4 B x 512 x vocabulary with flash attention (Qwen3-30B 0.30 GiB,
Gemma-3-27B 0.51 GiB); context 0.14 GiB. SGLang and TensorRT-LLM print neither; context and libraries are vLLM's."""

HIDDEN_COPIES = 2
"""Hidden-wide buffers of all batched tokens alive while logits are sampled: the output and its residual."""

GRAPH_SIZES = 51
"""Batch sizes that vLLM captures by default (1, 2, 4, 8, then every 8 to 256 and 16 to 512)."""

GRAPH_BASE_BYTES = 0.1 * GIB
GRAPH_BYTES_PER_SIZE = 0.0055 * GIB
GRAPH_BYTES_PER_SIZE_AND_LAYER = 0.000325 * GIB
"""CUDA-graph pool: 0.38 GiB + 0.0166 GiB a layer at 51 sizes fits vLLM 0.19 on H100 from 8 layers (0.51 GiB) to 80
(1.61 to 1.85 GiB), whatever the hidden size or tensor parallel; a handful of sizes cost 0.1 to 0.4 GiB."""

NCCL_START_BYTES = 1.0 * GIB
"""Communicators and their buffers, per GPU once there are several: free memory at start falls from 78.68 to 77.66 GiB
(H100, TP2 to TP4, PP2, PP4); context and NCCL together 2.3 GiB on 4 x L4."""

ALL_REDUCE_BYTES = 1.85 * GIB
"""Further buffers of tensor-parallel all-reduce over NVLink (vLLM 0.19: non-torch 2.09 GiB against 0.25 alone)."""

ALL_REDUCE_PCIE_BYTES = 0.3 * GIB
"""The same without NVLink: MI50, T4, RTX 3090 logs show 0.1 to 0.6 GiB."""

LARGE_GPU_BYTES = 70 * GIB


def most_sequences(gpu: Gpu, sequences: Number) -> Number:
    """Sequences that vLLM profiles for: its default `max_num_seqs`, or as many as are asked for.

    1,024 on GPUs of 70 GiB and more other than the A100, else 256 (vLLM, engine/arg_utils.py).
    """
    large = gpu.memory_bytes >= LARGE_GPU_BYTES and "a100" not in gpu.id.lower()
    return maximum(sequences, 1024 if large else 256)


def graph_bytes(engine: Engine, gpu: Gpu, layers: Number) -> Number:
    """Memory of captured CUDA graphs for `layers` layers on the GPU."""
    sizes = GRAPH_SIZES
    if engine is Engine.SGLANG:  # up to 8 sequences under 35 GiB, else up to 160 (sglang, server_args.py)
        sizes = 4 if gpu.memory_bytes < 35 * GIB else 23
    return GRAPH_BASE_BYTES + sizes * (GRAPH_BYTES_PER_SIZE + GRAPH_BYTES_PER_SIZE_AND_LAYER * layers)


def all_reduce_bytes(gpu: Gpu, tensor_parallel: Number) -> Number:
    """Buffers of tensor-parallel all-reduce on one GPU; none without tensor parallel."""
    return where(tensor_parallel > 1, ALL_REDUCE_BYTES if gpu.nvlink_bandwidth else ALL_REDUCE_PCIE_BYTES, 0)


def unused_bytes(
    profile: Profile, fraction: Number, capacity: Number, *, outside: Number, everything: Number, activations: Number
) -> Number:
    """Memory that the engine's fraction leaves unused.

    Of the total: the fraction keeps (1 - f) x capacity free for what it doesn't count, `outside` (SGLang: and
    `activations`); what those don't need is idle. Of free memory: (1 - f) x (capacity - `everything` but the cache).
    """
    if profile.fraction_of is FractionOf.TOTAL:
        kept_free = outside if profile.activations_inside else outside + activations
        return maximum(0, (1 - fraction) * capacity - kept_free)
    if profile.fraction_of is FractionOf.FREE:
        return (1 - fraction) * maximum(0, capacity - everything)
    return 0 * capacity
