"""Sizes in logs -> bytes."""

import re

from planner.units import KIB

SIZE = r"(-?[\d,]+(?:\.\d+)?)\s*(bytes|B|[KMGT]i?B)\b"
"""A size with its unit, as two groups."""

_POWERS = {"K": 1, "M": 2, "G": 3, "T": 4}


def in_bytes(number: str, unit: str) -> float:
    """Bytes of a size. The decimal units of these logs are binary in fact: PyTorch's MPS, vLLM and SGLang divide by
    powers of 1024 and write GB.
    """
    return float(number.replace(",", "")) * KIB ** _POWERS.get(unit[0].upper(), 0)


def size_after(before: str, text: str) -> float | None:
    """The size that follows the pattern `before`, the last such in the text; None where there is none."""
    found = re.findall(before + SIZE, text)
    return in_bytes(*found[-1][-2:]) if found else None


def size_before(after: str, text: str) -> float | None:
    """The size that the pattern `after` follows, the last such in the text; None where there is none."""
    found = re.findall(SIZE + after, text)
    return in_bytes(*found[-1][:2]) if found else None
