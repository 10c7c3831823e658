"""The roofline: what an accelerator reaches at most for each FLOP that it does per byte moved, and where products lie.

Rates and times are the planner's (`planner.throughput.roofline`); this only arranges them by arithmetic intensity.
Source: Williams, Waterman and Patterson 2009, "Roofline: an insightful visual performance model".
"""

from dataclasses import dataclass

from planner.throughput.roofline import Machine, gemm_seconds

BYTES = 2
"""Of one number in a product: 16-bit operands."""


@dataclass(frozen=True, slots=True)
class Point:
    """A piece of work: FLOP per byte moved, and FLOP/s reached."""

    intensity: float
    rate: float


def ridge(on: Machine) -> float:
    """FLOP per byte from which on arithmetic, not memory, is the limit."""
    return float(on.flops / on.bandwidth)


def roof(on: Machine, intensity: float) -> float:
    """FLOP/s at most at an intensity: the lower of memory's slope and arithmetic's ceiling."""
    return float(min(on.flops, intensity * on.bandwidth))


def intensity_of(rows: int, width: int) -> float:
    """FLOP per byte of `rows` x `width` times `width` x `width`, each operand and the result moved once."""
    return 2 * rows * width * width / (BYTES * (2 * rows * width + width * width))


def product(on: Machine, rows: int, width: int) -> Point:
    """The product as the planner times it."""
    seconds = float(gemm_seconds(on, rows, width, width, BYTES, BYTES))
    return Point(intensity_of(rows, width), 2 * rows * width * width / seconds)
