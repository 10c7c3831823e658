"""Arithmetic that reads the same for one number and for an array of layouts.

A formula is written once. Given Python numbers it stays in Python numbers (a single estimate then costs
microseconds, not NumPy dispatch); given arrays it broadcasts (a million-layout sweep runs the same code).
"""

from typing import Any, TypeAlias

import numpy as np

Number: TypeAlias = Any
"""A Python int or float, or a NumPy array of them. `Any`, as the two share operators but no useful base type."""


_ARRAY = (np.ndarray, np.generic)


def is_array(*values: Number) -> bool:
    """Whether any of `values` is a NumPy array (0-d arrays and NumPy scalars count as arrays)."""
    return any(isinstance(value, _ARRAY) for value in values)


def maximum(first: Number, *rest: Number) -> Number:
    """Element-wise maximum of any number of broadcastable values."""
    for value in rest:
        if isinstance(first, _ARRAY) or isinstance(value, _ARRAY):
            first = np.maximum(first, value)
        elif value > first:
            first = value
    return first


def minimum(first: Number, *rest: Number) -> Number:
    """Element-wise minimum of any number of broadcastable values."""
    for value in rest:
        if isinstance(first, _ARRAY) or isinstance(value, _ARRAY):
            first = np.minimum(first, value)
        elif value < first:
            first = value
    return first


def where(condition: Number, then: Number, otherwise: Number) -> Number:
    """`then` where `condition` holds, else `otherwise`. Both sides are computed: guard divisions with `maximum`."""
    if isinstance(condition, _ARRAY):
        return np.where(condition, then, otherwise)
    return then if condition else otherwise


def ceil_div(numerator: Number, denominator: Number) -> Number:
    """Smallest whole number at or above numerator / denominator, for whole numbers."""
    return -(-numerator // denominator)


def round_up(value: Number, multiple: Number) -> Number:
    """Smallest multiple of `multiple` at or above `value`, for whole numbers."""
    return ceil_div(value, multiple) * multiple
