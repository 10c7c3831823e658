"""Reading and judging what learners type."""

import pytest

from planner.teaching.answers import Unit, Verdict, judge, read_answer
from planner.units import GIB, GIGA, MIB


@pytest.mark.parametrize(
    ("typed", "unit", "value"),
    [
        ("104", Unit.BYTES, 104 * GIB),
        (" 104 GiB ", Unit.BYTES, 104 * GIB),
        ("112GB", Unit.BYTES, 112 * GIGA),
        ("512 MiB", Unit.BYTES, 512 * MIB),
        ("١٠٤٫٣", Unit.BYTES, 104.3 * GIB),
        ("\u2066104.3\u00a0GiB\u2069", Unit.BYTES, 104.3 * GIB),
        ("104,3", Unit.BYTES, 104.3 * GIB),
        ("1,234.5", Unit.COUNT, 1234.5),
        ("1,234", Unit.COUNT, 1234),
        ("~ 7 billion", Unit.COUNT, 7e9),
        ("٧ مليار", Unit.COUNT, 7e9),
        ("39%", Unit.PERCENT, 0.39),
        ("٣٩٪", Unit.PERCENT, 0.39),
        ("39", Unit.PERCENT, 0.39),
        ("850 µs", Unit.SECONDS, 850e-6),
        ("2 min", Unit.SECONDS, 120),
        ("1e-3", Unit.SECONDS, 1e-3),
    ],
)
def test_usual_ways_to_write_a_number_are_read(typed, unit, value):
    assert read_answer(typed, unit) == pytest.approx(value)


@pytest.mark.parametrize("typed", ["", "a lot", "12 apples", "1e999", "--3", "<script>", "9" * 400, "²", "nan"])
def test_what_is_no_number_is_not_guessed(typed):
    assert judge(typed, Unit.BYTES, GIB, 0.1).verdict in (Verdict.UNREADABLE, Verdict.HIGH)
    if not typed.isdigit() or not typed.isascii():
        assert read_answer(typed, Unit.BYTES) is None


def test_mistakes_have_names():
    answer = 104.3 * GIB
    assert judge("104", Unit.BYTES, answer, 0.05).verdict is Verdict.RIGHT
    assert judge("112 GB", Unit.BYTES, answer, 0.05).verdict is Verdict.RIGHT
    assert judge("112", Unit.BYTES, answer, 0.05).verdict is Verdict.UNIT  # GB taken for GiB
    assert judge("834", Unit.BYTES, answer, 0.05).verdict is Verdict.UNIT  # bits taken for bytes
    assert judge("94", Unit.BYTES, answer, 0.05).verdict is Verdict.CLOSE
    assert judge("26", Unit.BYTES, answer, 0.05).verdict is Verdict.LOW
    assert judge("500", Unit.BYTES, answer, 0.05).verdict is Verdict.HIGH
    assert judge("0.39", Unit.PERCENT, 0.39, 0.05).verdict is Verdict.UNIT  # a fraction instead of percent
