"""Seconds of operators on one accelerator: the slower of arithmetic and memory, for the shapes that each GPU holds."""

from dataclasses import dataclass, replace
from functools import lru_cache

from planner.hardware.attainable import CPU_ARCHITECTURE, attainable_bandwidth, attainable_flops, executed_dtype
from planner.hardware.types import Gpu
from planner.numeric import Number, maximum, minimum
from planner.result import Status, worst
from planner.throughput import constants
from planner.throughput.operators import AttentionCore, Product
from planner.workload import AttentionImplementation

DEFAULT_UNITS = 100
"""Processors of a card whose number is unknown: it only sets the loss of partly filled waves."""


@dataclass(frozen=True, slots=True)
class Machine:
    """One accelerator at work in one dtype: rates that kernels attain, in FLOP/s and bytes/s."""

    dtype: str
    peak: float
    flops: float
    bandwidth: float
    sixteen_bit_flops: float  # large products in 16 bits (or in `dtype` where that is wider): what attention uses
    architecture: str
    units: int
    fewest_rows: int  # rows that a product costs at least: a tensor core's tile
    status: Status

    @property
    def streaming(self) -> float:
        """Bytes/s of element-wise kernels, which read and write."""
        return constants.ELEMENTWISE_SHARE * self.bandwidth


@lru_cache(maxsize=4096)
def machine(gpu: Gpu, dtype: str, sustained: bool = False) -> Machine:
    """The accelerator computing in `dtype`; `sustained`: for hours, as in training.

    Raises `InputError` where its peak or bandwidth is unknown.
    """
    flops, bandwidth = attainable_flops(gpu, dtype), attainable_bandwidth(gpu)
    tiles = gpu.architecture != CPU_ARCHITECTURE and executed_dtype(gpu, dtype) != "fp32"  # FP32 units need none
    half = attainable_flops(gpu, dtype if dtype in ("fp32", "tf32", "fp16", "bf16") else _sixteen_bit(gpu))
    held = sustained_share(gpu) if sustained else 1.0
    return Machine(
        dtype=executed_dtype(gpu, dtype),
        peak=gpu.peaks[executed_dtype(gpu, dtype)],
        flops=flops.rate * held,
        bandwidth=bandwidth.rate,
        sixteen_bit_flops=half.rate * held,
        architecture=gpu.architecture,
        units=gpu.sm_count or DEFAULT_UNITS,
        fewest_rows=constants.SMALLEST_TILE if tiles else 1,
        status=worst((flops.status, bandwidth.status)),
    )


def sustained_share(gpu: Gpu) -> float:
    """Rate over hours over that of a short benchmark: power-limited data-centre cards clock down."""
    if "HBM" not in gpu.memory_type:
        return constants.SUSTAINED_DEFAULT
    return constants.FITTED.get(f"sustained.{generation(gpu.architecture)}", constants.SUSTAINED_DEFAULT)


def generation(architecture: str) -> str:
    """The generation whose constants a card takes: a refresh (Blackwell Ultra) counts as the same."""
    return architecture.removesuffix(" Ultra")


def _sixteen_bit(gpu: Gpu) -> str:
    """The 16-bit dtype that attention runs in beside narrower products."""
    return "bf16" if "bf16" in gpu.peaks or "fp16" not in gpu.peaks else "fp16"


def gemm_seconds(
    on: Machine,
    rows: Number,
    inputs: Number,
    outputs: Number,
    activation_bytes: Number,
    weight_bytes: Number,
    groups: Number = 1,
) -> Number:
    """Seconds of `groups` products of `rows` x `inputs` times `inputs` x `outputs`: max(arithmetic, memory).

    Arithmetic: 2 m k n over the attained rate of large products, at least one tile of rows, plus the last wave of
    tiles that fills only part of the processors, plus what each tile spends at its start and end. Memory: both
    operands and the result once.
    Source: roofline model, Williams et al. 2009; tile and wave quantisation, NVIDIA matrix multiplication guide.
    """
    fewest = maximum(rows, on.fewest_rows)
    wave = constants.TAIL_WAVES * on.units * constants.TILE_AREA / constants.TILE_ROWS
    tail = 1 + wave / (groups * outputs * maximum(1, rows / constants.TILE_ROWS)) + constants.FILL_DEPTH / inputs
    arithmetic = 2 * fewest * inputs * outputs * tail / on.flops
    moved = activation_bytes * rows * (inputs + outputs) + weight_bytes * inputs * outputs
    return groups * maximum(arithmetic, moved / on.bandwidth)


def product_seconds(
    on: Machine,
    product: Product,
    tokens: Number,
    tensor_parallel: Number,
    expert_parallel: Number,
    activation_bytes: Number,
    weight_bytes: Number,
    touched: Number | None = None,
) -> Number:
    """Seconds of one product in all its layers for `tokens` tokens on one rank.

    Experts: a rank holds copies / expert_parallel of them and gets its peers' tokens in exchange for its own, so it
    computes tokens x active rows whatever the degree. Of those copies only the ones a batch touches are read:
    E (1 - (1 - k/E)^T), for T tokens that each pick k of E at random: `touched`, where the caller knows it already.
    """
    inputs, outputs = product.local(tensor_parallel)
    if not product.routed:
        return product.layers * gemm_seconds(on, tokens, inputs, outputs, activation_bytes, weight_bytes)
    if touched is None:
        touched = touched_experts(product.copies, product.active, tokens * expert_parallel)
    touched = touched / expert_parallel
    rows = tokens * product.active / touched
    grouped = replace(on, flops=constants.FITTED["grouped"] * on.flops)
    return product.layers * gemm_seconds(grouped, rows, inputs, outputs, activation_bytes, weight_bytes, touched)


def touched_experts(experts: int, active: float, tokens: Number) -> Number:
    """Distinct experts that `tokens` tokens meet when each picks `active` of `experts` at random."""
    return maximum(minimum(active, experts), experts * (1 - (1 - active / experts) ** tokens))


def flash_seconds(
    on: Machine,
    core: AttentionCore,
    queries: Number,
    keys: Number,
    heads_share: Number,
    kernel: AttentionImplementation = AttentionImplementation.SDPA,
) -> Number:
    """Seconds of fused attention, forward, in all layers of `core`: masked and out-of-window blocks are skipped.

    A causal mask leaves half the pairs; a window w leaves w keys for each query.
    """
    pairs = queries * _mean_keys(core, keys)
    head = max(1, core.key_dim, core.value_dim)
    share = constants.FITTED.get(f"{kernel}.{generation(on.architecture)}", constants.FITTED[constants.FLASH_SHARE])
    limit = share * on.sixteen_bit_flops
    rate = limit * head / (head + constants.HALF_RATE_HEAD) * (128 + constants.HALF_RATE_HEAD) / 128
    return core.layers * core.flops_per_pair * heads_share * pairs / min(rate, on.sixteen_bit_flops)


def _mean_keys(core: AttentionCore, keys: Number) -> Number:
    """Keys that the mean query meets: s/2 under a causal mask, w - w^2/2s under one with a window w < s."""
    if not core.causal:
        return core.span(keys)
    span = core.span(keys)
    return span - span * span / (2 * keys)


def eager_seconds(
    on: Machine, core: AttentionCore, queries: Number, keys: Number, heads_share: Number, score_bytes: float
) -> Number:
    """Seconds of unfused attention in all layers of `core`: every score is stored, masked ones too.

    `score_bytes` are moved for each score, beside the two products.
    """
    pairs = queries * keys * core.heads * heads_share
    products = core.flops_per_pair * heads_share * queries * keys / on.flops
    return core.layers * (products + pairs * score_bytes / on.bandwidth)
