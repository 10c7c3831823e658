"""What a training precision means for time: the dtype products run in, and bytes of what flows between kernels."""

from dataclasses import dataclass

from planner.workload import MethodKind, Training, TrainingPrecision

_COMPUTE = {
    TrainingPrecision.FP32: "fp32",
    TrainingPrecision.TF32: "tf32",
    TrainingPrecision.FP16: "fp16",
    TrainingPrecision.AMP_FP16: "fp16",
    TrainingPrecision.FP16_AMP: "fp16",
    TrainingPrecision.FP16_MASTER: "fp16",
    TrainingPrecision.FP8: "fp8",
}
_AUTOCAST = (TrainingPrecision.AMP_BF16, TrainingPrecision.AMP_FP16)
_WHOLE = (TrainingPrecision.FP32, TrainingPrecision.TF32)
_FP32_GRADIENTS = (
    *_AUTOCAST,
    *_WHOLE,
    TrainingPrecision.BF16_MASTER,
    TrainingPrecision.FP16_MASTER,
    TrainingPrecision.FP8,
)


@dataclass(frozen=True, slots=True)
class Widths:
    """Bytes of one element of what moves between kernels, and the dtype of products."""

    compute: str  # key of `Gpu.peaks`
    operand: float  # inputs and outputs of products
    weight: float  # weights as products read them
    inner: float  # activations between the products of a layer
    residual: float  # residual stream and norms
    gradient: float  # gradients as they are summed over ranks
    stored: float  # weights as they are stored
    casts: bool  # autocast: products cast their fp32 inputs, and weights once a pass


def compute_dtype(precision: TrainingPrecision) -> str:
    """The dtype that products run in: a key of `Gpu.peaks`."""
    return _COMPUTE.get(precision, "bf16")


def widths(request: Training) -> Widths:
    """Element sizes of a training request: autocast keeps the residual stream and the weights in fp32."""
    precision = request.precision
    whole = precision in _WHOLE
    autocast = precision in _AUTOCAST
    upcast = request.method.kind is MethodKind.QLORA and request.method.kbit_upcast
    operand = 4.0 if whole else 2.0
    return Widths(
        compute=compute_dtype(precision),
        operand=1.0 if precision is TrainingPrecision.FP8 else operand,
        weight=1.0 if precision is TrainingPrecision.FP8 else operand,
        inner=operand,
        residual=4.0 if whole or autocast or upcast else 2.0,
        gradient=4.0 if precision in _FP32_GRADIENTS else 2.0,
        stored=4.0 if whole or autocast else 2.0,
        casts=autocast or upcast or precision is TrainingPrecision.FP8,
    )
