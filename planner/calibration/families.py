"""Which figures err alike: quantities by family, requests by kind, from the most alike to the least."""

from enum import StrEnum

from planner.models.spec import MixtureOfExperts
from planner.validation.case import Quantity
from planner.workload import MethodKind, Request, Serving, TrainingPrecision


class Family(StrEnum):
    """Figures whose errors have the same causes."""

    ALLOCATED = "allocated"
    RESERVED = "reserved"
    DEVICE = "device"
    WEIGHTS = "weights"
    CACHE = "cache"
    ACTIVATION = "activation"
    ENGINE = "engine"
    GRAPHS = "graphs"
    STEP = "step"  # seconds of a training step, and rates
    FIRST_TOKEN = "first-token"
    DECODE = "decode"
    PREFILL = "prefill"
    OUTPUT = "output"


FAMILY: dict[Quantity, Family] = {
    Quantity.ALLOCATED: Family.ALLOCATED,
    Quantity.AFTER: Family.ALLOCATED,
    Quantity.RESERVED: Family.RESERVED,
    Quantity.UNSTATED: Family.RESERVED,
    Quantity.DEVICE: Family.DEVICE,
    Quantity.WEIGHTS: Family.WEIGHTS,
    Quantity.KV_TOKENS: Family.CACHE,
    Quantity.KV_BYTES: Family.CACHE,
    Quantity.ACTIVATION: Family.ACTIVATION,
    Quantity.ENGINE_OTHER: Family.ENGINE,
    Quantity.GRAPHS: Family.GRAPHS,
    Quantity.TOKENS_RATE: Family.STEP,
    Quantity.SAMPLES_RATE: Family.STEP,
    Quantity.STEP_TIME: Family.STEP,
    Quantity.TTFT: Family.FIRST_TOKEN,
    Quantity.TPOT: Family.DECODE,
    Quantity.DECODE_RATE: Family.DECODE,
    Quantity.PREFILL_RATE: Family.PREFILL,
    Quantity.OUTPUT_RATE: Family.OUTPUT,
}

INVERSE = frozenset(
    {Quantity.TOKENS_RATE, Quantity.SAMPLES_RATE, Quantity.DECODE_RATE, Quantity.PREFILL_RATE, Quantity.OUTPUT_RATE}
)
"""Rates: their errors are those of times, upside down."""


def kinds(request: Request) -> tuple[str, ...]:
    """What a request is, from the particular to the general; "" is everything."""
    if isinstance(request, Serving):
        if request.model.image is not None:
            return ("serve image", "image", "")
        return (f"serve {request.engine}", "serve", "")
    if request.model.image is not None:
        return ("train image", "image", "")
    if request.method.kind is not MethodKind.FULL:
        return ("adapters", "tune", "train", "")
    if _routed(request):
        return ("train experts", "train", "")
    if request.fine_tuning:
        return ("full tune", "tune", "train", "")
    if request.precision is TrainingPrecision.FP8:
        return ("train fp8", "train", "")
    return ("train dense", "train", "")


def _routed(request: Request) -> bool:
    stack = request.model.text_stack
    parts = [part for run in stack.runs for part in run.layer.feed_forwards] if stack else []
    return any(isinstance(part, MixtureOfExperts) for part in parts)
