"""The optimizer step: bytes per parameter that it moves, over the memory bandwidth; over PCIe where offloaded."""

from planner.hardware.links import host_bandwidth
from planner.numeric import Number
from planner.parallel import Offload
from planner.throughput.offload import NVME_BANDWIDTH
from planner.throughput.roofline import Machine
from planner.workload import OptimizerKind, Training, TrainingPrecision

ADAM_FUSED = 7.0
"""Values read and written per parameter by one fused kernel: weight, gradient and two states read, three written."""
ADAM_FOREACH = 25.0
"""By PyTorch's foreach AdamW: decay 2, moments 3 + 4, square root, corrections and quotient 10, update 3, copies."""

TRAFFIC: dict[OptimizerKind, float] = {
    OptimizerKind.ADAMW: ADAM_FOREACH,
    OptimizerKind.ADAMW_FUSED: ADAM_FUSED,
    OptimizerKind.ADAMW_LOOP: ADAM_FOREACH,
    OptimizerKind.ADAMW_8BIT: 4.0,  # weight and gradient read, weight written; states are bytes
    OptimizerKind.PAGED_ADAMW_8BIT: 4.0,
    OptimizerKind.PAGED_ADAMW: ADAM_FUSED,
    OptimizerKind.ADAFACTOR: 12.0,
    OptimizerKind.ADAFACTOR_FOREACH: 12.0,
    OptimizerKind.ADAFACTOR_HF: 16.0,
    OptimizerKind.LION: 8.0,
    OptimizerKind.MUON: 12.0,
    OptimizerKind.SGD: 3.0,
    OptimizerKind.SGD_MOMENTUM: 5.0,
}
"""Values moved per trained parameter and step (torch.optim and bitsandbytes kernels, counted by pass)."""
CLIP_TRAFFIC = 3.0
"""Gradient-norm clipping: read for the norm, read and written for the scaling."""
CPU_OPTIMIZER_PARAMETERS_PER_SECOND = 1.2e9
"""Parameters that DeepSpeed's CPU-Adam updates a second on one socket (arXiv:2101.06840, section 4.2)."""

_PURE = (TrainingPrecision.BF16, TrainingPrecision.FP16, TrainingPrecision.BF16_AMP, TrainingPrecision.FP16_AMP)


def update_seconds(request: Training, on: Machine, parameters: Number) -> Number:
    """Seconds to update `parameters` trained parameters held by one rank (or its host)."""
    width = 2 if request.precision in _PURE else 4
    if request.layout.offload_optimizer is Offload.NONE:
        return parameters * width * (TRAFFIC[request.optimizer] + CLIP_TRAFFIC) / on.bandwidth
    copied = 2 * width * parameters / host_bandwidth(request.cluster.gpu)  # gradients out, weights back
    states = 16 * parameters / NVME_BANDWIDTH if request.layout.offload_optimizer is Offload.NVME else 0.0
    return copied + parameters / CPU_OPTIMIZER_PARAMETERS_PER_SECOND + states
