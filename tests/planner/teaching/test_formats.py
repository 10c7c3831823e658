"""Number formats against NumPy, PyTorch's published limits, and by their own definition."""

import math

import numpy as np
import pytest

from planner.teaching.formats import BY_ID, FORMATS


@pytest.mark.parametrize(("name", "dtype"), [("fp32", np.float32), ("fp16", np.float16)])
def test_ieee_formats_agree_with_numpy(name, dtype):
    one, info = BY_ID[name], np.finfo(dtype)
    assert one.largest == float(info.max)
    assert one.smallest_normal == float(info.tiny)
    assert one.smallest == float(info.smallest_subnormal)
    assert one.epsilon == float(info.eps)
    generator = np.random.default_rng(1)
    values = generator.standard_normal(500) * 10.0 ** generator.integers(-9, 6, 500)
    for value in values.tolist():
        with np.errstate(over="ignore"):
            assert one.stored(value) == float(dtype(value)), value


@pytest.mark.parametrize(
    ("name", "largest", "tiny", "smallest", "epsilon"),
    [  # torch.finfo of each type
        ("bf16", 3.3895313892515355e38, 1.1754943508222875e-38, 9.183549615799121e-41, 0.0078125),
        ("fp8-e4m3", 448.0, 0.015625, 0.001953125, 0.125),
        ("fp8-e5m2", 57344.0, 6.103515625e-05, 1.52587890625e-05, 0.25),
    ],
)
def test_the_others_have_their_published_limits(name, largest, tiny, smallest, epsilon):
    one = BY_ID[name]
    assert (one.largest, one.smallest_normal, one.smallest, one.epsilon) == (largest, tiny, smallest, epsilon)


def test_integers():
    assert (BY_ID["int8"].largest, BY_ID["int4"].largest) == (127, 7)
    assert BY_ID["int8"].stored(0.4) == 0
    assert BY_ID["int8"].stored(-1000) == -127


@pytest.mark.parametrize("one", FORMATS, ids=lambda one: one.id)
def test_storing_is_stable_monotone_and_symmetric(one):
    values = sorted([0.0, one.smallest / 3, one.smallest, 1e-3, 0.1, 1.0, 1.5, 100.0, one.largest, one.largest * 3])
    stored = [one.stored(value) for value in values]
    assert stored == sorted(stored)
    assert [one.stored(value) for value in stored] == stored
    assert [one.stored(-value) for value in values] == [-value for value in stored]
    assert one.stored(one.largest) == one.largest
    assert one.vanishes(one.smallest / 3)
    assert one.overflows(one.largest * 3)
    assert not one.overflows(one.largest)
    assert one.is_integer or one.exponent_bits + one.mantissa_bits + 1 <= one.bits


def test_overflow_is_infinite_where_the_format_has_infinities():
    assert math.isinf(BY_ID["fp16"].stored(70000))
    assert BY_ID["fp8-e4m3"].stored(70000) == 448
    assert BY_ID["bf16"].stored(70000) == 70144
