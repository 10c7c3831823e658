"""Which parts of a plan nothing has been checked against: they make an estimate `extrapolated`, and are named.

What has been checked is in `tests/data` and on the Accuracy page: single cards to 512 GPUs, full fine-tuning, LoRA and
QLoRA, AdamW and SGD, transformers and convolutional networks, vLLM, llama.cpp and transformers.
"""

from planner.models.spec import ModelSpec, Recurrent
from planner.parallel import Offload
from planner.workload import Engine, MethodKind, OptimizerKind, Request, Serving, Training, TrainingPrecision

MOST_GPUS = 512
"""Largest run among the measurements that time and memory were compared with."""

LONGEST_SEQUENCE = 131_072
"""Longest sequence likewise."""

_CHECKED_OPTIMIZERS = frozenset(
    {
        OptimizerKind.ADAMW,
        OptimizerKind.ADAMW_FUSED,
        OptimizerKind.ADAMW_LOOP,
        OptimizerKind.ADAMW_8BIT,
        OptimizerKind.ADAFACTOR,
        OptimizerKind.ADAFACTOR_FOREACH,
        OptimizerKind.ADAFACTOR_HF,
        OptimizerKind.SGD,
        OptimizerKind.SGD_MOMENTUM,
    }
)
_CHECKED_METHODS = frozenset({MethodKind.FULL, MethodKind.LORA, MethodKind.QLORA})
_CHECKED_ENGINES = frozenset({Engine.VLLM, Engine.LLAMA_CPP, Engine.TRANSFORMERS})


def unchecked(request: Request) -> tuple[str, ...]:
    """Stable ids of what in this request nothing has been checked against. Numbers must not be arrays."""
    found = _of_training(request) if isinstance(request, Training) else _of_serving(request)
    if request.layout.gpus > MOST_GPUS:
        found.append("many-gpus")
    if request.model.components:
        found.append("diffusion")
    return tuple(found)


def _of_training(request: Training) -> list[str]:
    found = []
    if request.method.kind not in _CHECKED_METHODS:
        found.append("method")
    if request.optimizer not in _CHECKED_OPTIMIZERS:
        found.append("optimizer")
    if request.precision is TrainingPrecision.FP8:
        found.append("fp8-memory")
    if {request.layout.offload_optimizer, request.layout.offload_parameters} != {Offload.NONE}:
        found.append("offload")
    layout = request.layout
    if max(layout.pipeline_parallel, layout.context_parallel, layout.expert_parallel) > 1:
        found.append("parallel-memory")
    if request.sequence_length > LONGEST_SEQUENCE and request.model.stacks:
        found.append("long-sequence")
    if _recurrent(request.model):
        found.append("recurrent-activations")
    return found


def _of_serving(request: Serving) -> list[str]:
    found = []
    if request.engine not in _CHECKED_ENGINES:
        found.append("engine")
    if request.context > LONGEST_SEQUENCE:
        found.append("long-sequence")
    if request.model.image is not None:
        found.append("image-serving")
    return found


def _recurrent(model: ModelSpec) -> bool:
    stack = model.text_stack
    return stack is not None and any(isinstance(mixer, Recurrent) for run in stack.groups for mixer in run.layer.mixers)
