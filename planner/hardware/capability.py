"""What arithmetic a GPU has, apart from how fast it is."""

from planner.hardware.types import Gpu

FIRST_CAPABILITY = {"tf32": 8.0, "bf16": 8.0, "fp8": 8.9}
"""First NVIDIA compute capability with tensor-core arithmetic of a dtype (CUDA C++ Programming Guide)."""


def computes(gpu: Gpu, dtype: str) -> bool:
    """Whether a GPU has arithmetic of a dtype; an unknown peak alone is no proof that it has none."""
    if gpu.vendor == "NVIDIA" and gpu.compute_capability:
        return float(gpu.compute_capability) >= FIRST_CAPABILITY.get(dtype, 0.0)
    return dtype in gpu.peaks or dtype in ("fp32", "fp16") or not gpu.peaks
