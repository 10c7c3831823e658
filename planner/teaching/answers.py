"""Answers to the tasks of lessons: reading what a learner typed, and judging it with what it may have meant.

A wrong answer is more useful when its mistake has a name, so the usual slips (GB for GiB, bits for bytes, a factor of
a thousand) are told from being merely too high or too low.
"""

import math
import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

from planner.units import GIB, GIGA, HOUR, KIB, KILO, MEGA, MIB, TERA


class Unit(StrEnum):
    """What an answer counts."""

    BYTES = "bytes"  # a bare number is GiB
    SECONDS = "seconds"
    PERCENT = "percent"  # a fraction inside; a bare number is percent
    COUNT = "count"  # of anything: parameters, GPUs, samples


class Verdict(StrEnum):
    """What a learner hears."""

    RIGHT = "right"
    CLOSE = "close"
    UNIT = "unit"  # right but for GB against GiB, bits against bytes, or a power of a thousand
    HIGH = "high"
    LOW = "low"
    UNREADABLE = "unreadable"


_UNITS: dict[Unit, dict[str, float]] = {
    Unit.BYTES: {
        "": GIB,
        "b": 1,
        "kib": KIB,
        "kb": KILO,
        "mib": MIB,
        "mb": MEGA,
        "gib": GIB,
        "gb": GIGA,
        "tib": 1024 * GIB,
        "tb": TERA,
    },
    Unit.SECONDS: {
        "": 1,
        "s": 1,
        "sec": 1,
        "ms": 1e-3,
        "us": 1e-6,
        "µs": 1e-6,
        "μs": 1e-6,
        "min": 60,
        "h": HOUR,
        "ث": 1,
        "ثانية": 1,
        "دقيقة": 60,
        "ساعة": HOUR,
    },
    Unit.PERCENT: {"": 0.01, "%": 0.01, "٪": 0.01, "percent": 0.01, "بالمئة": 0.01, "بالمائة": 0.01},
    Unit.COUNT: {
        "": 1,
        "k": KILO,
        "m": MEGA,
        "million": MEGA,
        "b": GIGA,
        "bn": GIGA,
        "billion": GIGA,
        "t": TERA,
        "x": 1,
        "×": 1,
        "gpus": 1,
        "ألف": KILO,
        "مليون": MEGA,
        "مليار": GIGA,
    },
}

_NUMBER = re.compile(r"^([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)\s*(.*)$")
_INVISIBLE = re.compile("[\u200e\u200f\u2060\u2066-\u2069]")
_SLIPS = (8.0, 1 / 8, GIB / GIGA, GIGA / GIB, 1e3, 1e-3, 1e6, 1e-6, 1024.0, 1 / 1024, 100.0, 0.01)
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was understood, in base units (None: nothing), and how good it is."""

    verdict: Verdict
    value: float | None


def read_answer(raw: str, unit: Unit) -> float | None:
    """A typed answer in base units: bytes, seconds, a fraction, a count. None where it cannot be read.

    Takes Arabic digits, either decimal sign, thousands separators, and the unit's usual names in both languages.
    """
    typed = unicodedata.normalize("NFC", _INVISIBLE.sub("", raw[:_LONGEST])).strip().lower()
    typed = "".join(str(unicodedata.digit(sign)) if sign.isdecimal() else sign for sign in typed)
    typed = typed.replace("−", "-").replace("٫", ".").replace("٬", "").replace("~", "").replace("≈", "")
    typed = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", typed).replace(",", ".").strip()
    found = _NUMBER.match(typed)
    if not found:
        return None
    scale = _UNITS[unit].get(found[2].strip().rstrip("."))
    value = float(found[1])
    return None if scale is None or not math.isfinite(value) else value * scale


def judge(raw: str, unit: Unit, answer: float, tolerance: float) -> Judgement:
    """The typed answer against the true one, where `tolerance` is the relative error that still counts as right."""
    value = read_answer(raw, unit)
    if value is None:
        return Judgement(Verdict.UNREADABLE, None)
    if _near(value, answer, tolerance):
        return Judgement(Verdict.RIGHT, value)
    if any(_near(value * slip, answer, min(tolerance, 0.02)) for slip in _SLIPS):
        return Judgement(Verdict.UNIT, value)
    if _near(value, answer, 3 * tolerance):
        return Judgement(Verdict.CLOSE, value)
    return Judgement(Verdict.HIGH if value > answer else Verdict.LOW, value)


def _near(value: float, answer: float, tolerance: float) -> bool:
    return abs(value - answer) <= tolerance * abs(answer) + 1e-12
