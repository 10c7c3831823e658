"""Four public rules, each as its source states it."""

from planner.hardware.attainable import executed_dtype
from planner.memory.formats import FORMATS
from planner.models.spec import ModelSpec
from planner.result import InputError
from planner.throughput.precision import compute_dtype
from planner.throughput.training import sequence_tokens
from planner.workload import Serving, Training

ASSUMED_MFU = 0.5


def accelerate_training_bytes(model: ModelSpec) -> float:
    """`accelerate estimate-memory`: training with Adam needs four times the fp32 weights.

    Source: huggingface/accelerate, commands/estimate.py.
    """
    return 4 * 4.0 * model.total_parameters


def deepspeed_bytes(request: Training) -> float:
    """DeepSpeed's estimators of model states per GPU, without offload: ZeRO-2 4 P + 16 P / N; ZeRO-3 18 P / N and
    the largest layer in fp32.

    Source: deepspeedai/DeepSpeed, runtime/zero/stage_1_and_2.py and stage3.py, estimate_zero*_model_states_mem_needs.
    """
    parameters, gpus = float(request.model.total_parameters), float(request.layout.gpus)
    if request.layout.sharding.divides_parameters:
        return 4 * largest_layer(request.model) + 18 * parameters / gpus
    return 4 * parameters + 16 * parameters / gpus


def largest_layer(model: ModelSpec) -> float:
    """Parameters of the largest module: a layer, or the token table."""
    layers = [run.layer.parameters for stack in model.stacks for run in stack.runs]
    return float(max([*layers, *(table.rows * table.width for table in model.embeddings)], default=0))


def serving_bytes(request: Serving) -> float:
    """The rule of thumb of serving guides: bytes of the weights, times 1.2, over all GPUs.

    Source: EleutherAI, "Transformer Math 101" (inference: 1.2 x model memory).
    """
    bits = FORMATS[request.weight_format].bits_per_weight
    shards = float(request.layout.tensor_parallel * request.layout.pipeline_parallel)
    return 1.2 * request.model.total_parameters * bits / 8 / shards


def training_seconds(request: Training) -> float | None:
    """Seconds of a step by 6 N FLOPs a token at half of the peak (Kaplan et al. 2020, arXiv:2001.08361, and a common
    MFU); image networks: 3 forward passes of 2 FLOPs a multiply-accumulate. None where the peak is unknown.
    """
    gpu = request.cluster.gpu
    try:
        peak = gpu.peaks[executed_dtype(gpu, compute_dtype(request.precision))]
    except InputError:
        return None
    if request.model.image is not None:
        flops = 6 * request.model.image.multiply_accumulates * request.global_batch_size
    else:
        tokens = request.global_batch_size * sequence_tokens(request)
        flops = 6 * request.model.active_parameters * tokens
    return float(flops / (ASSUMED_MFU * peak * request.layout.gpus))
