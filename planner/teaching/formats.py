"""Number formats as arithmetic: what values exist, how far apart they are, and what a number becomes when stored.

Floating point: a sign, `exponent_bits` and `mantissa_bits` with gradual underflow (IEEE 754-2019, section 3.4; TF32 as
NVIDIA's A100 whitepaper has it; FP8 as Micikevicius et al. 2022, arXiv:2209.05433). Integers: two's complement, scaled
by a step of the user's choosing; here the step is 1. All values of these formats are exact as Python floats.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFormat:
    """One format. `bits` is what a stored number takes (TF32 numbers are stored in 32 bits, 19 of which count)."""

    id: str
    bits: int
    exponent_bits: int = 0  # 0: an integer
    mantissa_bits: int = 0
    finite: bool = False  # no infinities, one NaN: the top exponent is used for numbers (E4M3)

    @property
    def is_integer(self) -> bool:
        return self.exponent_bits == 0

    @property
    def bias(self) -> int:
        return int(2 ** (self.exponent_bits - 1) - 1)

    @property
    def lowest_exponent(self) -> int:
        """Of the smallest normal number."""
        return 1 - self.bias

    @property
    def largest(self) -> float:
        """The largest finite value."""
        if self.is_integer:
            return float(2 ** (self.bits - 1) - 1)
        if self.finite:  # all ones is NaN, the mantissa one below is the largest number
            return float((2 - 2 * 2.0**-self.mantissa_bits) * 2.0 ** (self.bias + 1))
        return float((2 - 2.0**-self.mantissa_bits) * 2.0**self.bias)

    @property
    def smallest_normal(self) -> float:
        """The smallest positive value with all its digits."""
        return 1.0 if self.is_integer else float(2.0**self.lowest_exponent)

    @property
    def smallest(self) -> float:
        """The smallest positive value of all."""
        return 1.0 if self.is_integer else float(2.0 ** (self.lowest_exponent - self.mantissa_bits))

    @property
    def epsilon(self) -> float:
        """The gap between 1 and the next value."""
        return self.spacing(1.0)

    def spacing(self, value: float) -> float:
        """The gap between the stored neighbours of `value`: constant for integers, growing with the value else."""
        if self.is_integer:
            return 1.0
        exponent = math.frexp(abs(value))[1] - 1 if value else self.lowest_exponent
        return float(2.0 ** (max(exponent, self.lowest_exponent) - self.mantissa_bits))

    def stored(self, value: float) -> float:
        """What `value` becomes: the nearest stored number, ties to even; beyond the range infinity or the largest."""
        if not math.isfinite(value):
            return value
        step = self.spacing(value)
        nearest = round(value / step) * step
        if abs(nearest) <= self.largest:
            return nearest
        saturates = self.is_integer or self.finite
        return math.copysign(self.largest if saturates else math.inf, value)

    def overflows(self, value: float) -> bool:
        """Whether `value` is too large to be stored."""
        return abs(value) >= self.largest + self.spacing(self.largest) / 2

    def vanishes(self, value: float) -> bool:
        """Whether `value` is not zero, but is stored as zero."""
        return value != 0 and self.stored(value) == 0


FORMATS: tuple[NumberFormat, ...] = (
    NumberFormat(id="fp32", bits=32, exponent_bits=8, mantissa_bits=23),
    NumberFormat(id="tf32", bits=32, exponent_bits=8, mantissa_bits=10),
    NumberFormat(id="fp16", bits=16, exponent_bits=5, mantissa_bits=10),
    NumberFormat(id="bf16", bits=16, exponent_bits=8, mantissa_bits=7),
    NumberFormat(id="fp8-e4m3", bits=8, exponent_bits=4, mantissa_bits=3, finite=True),
    NumberFormat(id="fp8-e5m2", bits=8, exponent_bits=5, mantissa_bits=2),
    NumberFormat(id="int8", bits=8),
    NumberFormat(id="int4", bits=4),
)
"""From the widest to the narrowest."""

BY_ID: dict[str, NumberFormat] = {one.id: one for one in FORMATS}
"""The formats by id."""
