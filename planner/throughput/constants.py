"""The few numbers of the time model that no datasheet gives, each with where it comes from and what bounds it.

Those that published runs decide are in `data/training_constants.csv`: `python -m planner calibrate --fit` writes it.
"""

from planner.hardware.catalogue import read_rows

FITTED: dict[str, float] = {row["name"]: float(row["value"]) for row in read_rows("training_constants.csv")}
"""Fitted constants by name; what each means, its bounds and its evidence stand beside it in the file."""

TAIL_WAVES = 0.25
"""Waves of tiles lost to the last, partly filled wave of a matrix product, beyond what the measured large shapes
already lose. Bounds: 0 (stream-K) to 0.5 (uniform remainders, one tile size)."""
TILE_AREA = 128 * 256
"""Elements of an output tile of the fastest kernels (CUTLASS on Ampere and Hopper)."""
TILE_ROWS = 128
FILL_DEPTH = 192
"""Inner elements whose time a tile spends on filling its pipeline and writing its result: k of them are worked
through in k + 192. Bounds: 0 to 512 (CUTLASS pipelines hold 3 to 5 stages of 32 to 64, the epilogue as much again)."""
SMALLEST_TILE = 16
"""Rows of the smallest tensor-core tile: fewer tokens cost as much."""

SUSTAINED_DEFAULT = 0.95
"""Rate of large products in hours of training over that of a short benchmark: random operands switch more transistors
than a benchmark's and hold the card at its power limit. Bounds: 0.75 to 1. Median over published runs on data-centre
cards (llm-foundry on A100 and H100, Megatron-LM and fms-acceleration on A100); GeForce and workstation cards, whose
benchmark figures are long runs at the power limit already, keep 0.95."""

FLASH_SHARE = "flash.default"
"""Name of the fitted rate of fused attention over that of large products, forward, head size 128; by generation where
kernels differ. FlashAttention-2 lacks Hopper's asynchronous copies; cuDNN, which PyTorch picks there, and
FlashAttention-3 use them (arXiv:2307.08691 section 4, arXiv:2407.08608 section 4.1)."""
FLASH_BACKWARD = 0.8
"""Backward rate of fused attention over its forward rate: 170-190 against 190-225 TFLOP/s on A100 (same sources)."""
HALF_RATE_HEAD = 32
"""Head size d reaches d / (d + 32) of the limit: 64 runs at 5/6 of 128's rate (same sources)."""

ADAPTER_TILE = 64
"""Columns that a product with a low-rank factor costs at least: the narrowest tile of cuBLAS's kernels."""

ELEMENTWISE_SHARE = 0.8
"""Bandwidth share of element-wise kernels against a long pure read: they mix reads with writes (bus turn-around), and
many start and drain within tens of microseconds. Bounds: 0.6 to 1."""

EAGER_SCORE_BYTES = (13.0, 20.0)
"""Bytes moved per attention score by unfused attention, forward and backward: scores written, scaled, masked and
soft-maxed, dropped out, read again; half precision."""

LAUNCH_SECONDS = 4.2e-6
"""GPU time of a small kernel from launch to launch, in a stream or a CUDA graph. Decode steps at low concurrency
cost 60-80 us a layer beyond the memory traffic on H100, H200 and B200 alike: about 12 kernels, and the all-reduces."""
HOST_FORWARD = 0.45e-3
"""CPU seconds to issue one decoder layer's forward pass in eager PyTorch: transformers' decode floor of 20-25 ms per
token over 28-32 layers includes sampling and cache handling, about a quarter of it."""
HOST_BACKWARD = 0.4e-3
"""The same for backward: autograd's C++ engine issues about twice the kernels at half the cost."""
HOST_ADAPTER = 0.1e-3
"""CPU seconds that one adapted matrix adds to a pass in eager PyTorch: two small products, a dropout, a scale, a sum
and casts, issued from peft's Python module. Bounds: 0.05 to 0.15 ms (five to seven kernels)."""
HOST_IMAGE = (3.5e-3, 3.0e-3)
"""CPU seconds to issue an image network's forward and backward pass in eager PyTorch: about 170 operations (ResNet-50:
convolutions, norms, activations, sums) at 20 us, backward at half the cost for twice the kernels. Networks differ by
their number of operations, which the tables do not tell: right within a factor of three."""
HOST_COMPILED = 0.25
"""torch.compile's share of those: one call per fused graph region."""
HOST_SHARDED = 0.15e-3
"""CPU seconds that FSDP or ZeRO-3 adds to a layer and pass: unshard, reshard, stream events."""
HOST_SERVING = 0.65e-3
"""CPU seconds per layer and decode step of transformers.generate (20-25 ms per token, 32 layers)."""

GRADIENT_OVERLAP = 0.85
"""Share of the backward pass that can hide gradient reduction: the first buckets wait, the last ones are exposed."""
GATHER_OVERLAP = 0.95
"""Share of a pass that can hide parameter gathers: all but the first layer's."""
RAMP_BYTES = 20 * 2**20
"""Message at which a ring collective takes 1.5 times its large-message time (NCCL, 8 x A100 and 8 x H200: busbw at 1,
16, 128 and 512 MiB is 0.08, 0.45, 0.8 and 0.95 of the limit, latency included)."""

DEQUANTISE_SHARE = 0.45
"""Bandwidth share of unpacking 4-bit weights to 16 bits (bitsandbytes NF4, GPTQ kernels): look-ups, not a stream."""
QUANTISED_BANDWIDTH = 0.75
"""Bandwidth share of products that unpack 4-bit weights on the way, against 16-bit ones: GPTQ and AWQ at batch 1 on
A100 read 0.30-0.48 of peak where BF16 reads 0.63-0.71, launch time included."""

IDLE_POWER_SHARE = 0.25
"""Power of a card that waits on communication or input over its limit."""
MEMORY_POWER_SHARE = 0.65
"""Power of a card bound by memory bandwidth over its limit."""
