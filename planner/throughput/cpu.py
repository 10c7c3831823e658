"""The same model on a processor instead: the same roofline, with the processor's peaks."""

from dataclasses import replace
from functools import lru_cache

from planner.hardware.attainable import CPU_ARCHITECTURE
from planner.hardware.types import Cluster, Cpu, Gpu
from planner.workload import Request


@lru_cache(maxsize=256)
def as_device(cpu: Cpu) -> Gpu:
    """A processor as a device to compute on: its cores, SIMD peaks and memory.

    16-bit floats run at their own rate where the processor has one (AMX, AVX-512 BF16, Arm BFMMLA), else through FP32.
    """
    peaks = {dtype: peak for dtype, peak in cpu.peaks.items() if dtype != "bf16"}
    for dtype in ("bf16", "fp16"):
        peaks[dtype] = cpu.peaks.get("bf16", cpu.peaks.get("fp32", 0.0))
    return Gpu(
        id=cpu.id,
        name=cpu.name,
        vendor="",
        architecture=CPU_ARCHITECTURE,
        form_factor="CPU",
        memory_marketed_gb=cpu.memory_bytes / 2**30,
        memory_bytes=cpu.memory_bytes,
        memory_type="host",
        memory_bandwidth=cpu.memory_bandwidth,
        peaks={dtype: peak for dtype, peak in peaks.items() if peak > 0},
        power_watts=cpu.power_watts,
        sm_count=1,
        sources=cpu.sources,
        unified_memory=True,
    )


def on_cpu(request: Request, cpu: Cpu) -> Request:
    """The request with one processor as its only device."""
    cluster = Cluster(gpu=as_device(cpu), gpus=1, gpus_per_node=1)
    return replace(request, cluster=cluster)
