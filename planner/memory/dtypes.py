"""Bytes per element of everything that training stores, from the precision, the method and the sharding."""

from dataclasses import dataclass
from functools import lru_cache

from planner.workload import Method, MethodKind, Training, TrainingPrecision

_P = TrainingPrecision
_AUTOCAST = {_P.AMP_BF16, _P.AMP_FP16, _P.BF16_AMP, _P.FP16_AMP}
_FP32_WEIGHTS = {_P.FP32, _P.TF32, _P.AMP_BF16, _P.AMP_FP16}
_MASTER = {_P.BF16_MASTER, _P.FP16_MASTER, _P.FP8}
ADAPTER_METHODS = {MethodKind.LORA, MethodKind.DORA, MethodKind.QLORA, MethodKind.ADAPTER}


@dataclass(frozen=True, slots=True)
class Dtypes:
    """Bytes per element. `compute` is what matrix products run in; `residual` what the residual stream is kept in."""

    weight: int  # stored parameters of the base model
    compute: int
    residual: int
    output: int  # what a linear layer hands on: `compute`, but fp32 under bitsandbytes with an fp32 residual stream
    linear_input: int  # a trained linear layer's saved input: 1 in FP8
    trained: int  # stored trained parameters: base weights, or adapters
    gradient: int
    state: int
    master: int  # fp32 master copy beside 16-bit weights
    gathered: int  # unsharded parameters of FSDP and ZeRO-3
    autocast: bool
    weight_copies: bool  # autocast keeps 16-bit copies of fp32 weights


@lru_cache(maxsize=512)
def _dtypes(precision: TrainingPrecision, kind: MethodKind, upcast: bool, adapter_fp32: bool, sharded: bool) -> Dtypes:
    adapters = kind in ADAPTER_METHODS
    full_precision = precision in (_P.FP32, _P.TF32)
    weight = 4 if precision in _FP32_WEIGHTS else 2
    compute = 4 if full_precision else 2
    # FSDP and ZeRO-3 gather 16-bit parameters, so nothing is left for autocast to copy and the residual is 16-bit.
    residual = compute if sharded else weight
    output = compute
    if kind is MethodKind.QLORA and upcast:
        residual = output = 4
    master = 4 if precision in _MASTER else 0
    trained = (4 if adapter_fp32 or weight == 4 else 2) if adapters else weight
    exact = trained if adapters else weight
    return Dtypes(
        weight=weight,
        compute=compute,
        residual=residual,
        output=output,
        linear_input=1 if precision is _P.FP8 else compute,
        trained=trained,
        gradient=4 if master and not adapters else exact,
        state=4 if master and not adapters else exact,
        master=0 if adapters else master,
        gathered=compute,
        autocast=precision in _AUTOCAST,
        weight_copies=precision in (_P.AMP_BF16, _P.AMP_FP16) and not sharded,
    )


def dtypes(request: Training) -> Dtypes:
    """The bytes per element that `request` trains with."""
    method: Method = request.method
    return _dtypes(
        request.precision,
        method.kind,
        method.kbit_upcast,
        method.adapter_fp32,
        request.layout.sharding.divides_parameters,
    )
