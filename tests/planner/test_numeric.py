"""One formula, one number or many."""

import numpy as np
import pytest

from planner import numeric


@pytest.mark.parametrize(("value", "multiple", "expected"), [(0, 8, 0), (1, 8, 8), (8, 8, 8), (9, 8, 16)])
def test_round_up_scalar_and_array_agree(value, multiple, expected):
    assert numeric.round_up(value, multiple) == expected
    assert numeric.round_up(np.array([value]), multiple)[0] == expected


def test_scalars_stay_python_numbers():
    assert type(numeric.maximum(1, 2, 3)) is int
    assert type(numeric.minimum(1.5, 2)) is float
    assert type(numeric.where(True, 1, 2)) is int


def test_arrays_broadcast():
    assert numeric.maximum(np.array([1, 5]), 3).tolist() == [3, 5]
    assert numeric.where(np.array([True, False]), 1, 2).tolist() == [1, 2]
