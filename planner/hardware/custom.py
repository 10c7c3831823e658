"""An accelerator of the user's own, from a few figures of its data sheet: a mapping in, a `Gpu` out, and back."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from planner.hardware.types import Gpu
from planner.result import InputError, Problem
from planner.store.names import clean
from planner.units import GIB, GIGA, TERA

PREFIX = "custom-"
"""Starts the id of every custom card, which no card of the catalogue has."""
PEAKS = ("fp32", "fp16", "bf16", "fp8", "int8")
_LONGEST_NAME = 60
_LIMITS: dict[str, tuple[float, float]] = {
    "memory_gib": (0.25, 65_536),
    "bandwidth_gbs": (1, 1_000_000),
    "link_gbs": (1, 100_000),
    "watts": (1, 100_000),
    "price": (0, 10_000),
    **dict.fromkeys(PEAKS, (0.01, 1000000)),
}
"""Lowest and highest value of every number: memory in GiB, rates in GB/s, peaks in TFLOP/s, US dollars an hour."""
_NEEDED = ("name", "memory_gib", "bandwidth_gbs")


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomGpu:
    """What the user knows of a card, in the units of data sheets. Of the peaks, fp16 or bf16 is needed."""

    name: str
    memory_gib: float  # as its driver reports it
    bandwidth_gbs: float
    fp32: float | None = None  # dense TFLOP/s
    fp16: float | None = None
    bf16: float | None = None
    fp8: float | None = None
    int8: float | None = None
    link_gbs: float | None = None  # its own link to others, both directions together; None: PCIe
    watts: float | None = None
    price: float | None = None  # US dollars per hour

    @property
    def id(self) -> str:
        return PREFIX + (re.sub(r"[^a-z0-9]+", "-", self.name.casefold()).strip("-") or "gpu")

    def as_mapping(self) -> dict[str, Any]:
        """What `custom_gpu` reads back; values that are not known are left out."""
        names = ("name", *_LIMITS)
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def gpu(self) -> Gpu:
        """The card for the planner. It has no relatives, so the shares of peak it reaches are those of all cards."""
        return Gpu(
            id=self.id,
            name=self.name,
            vendor="custom",
            architecture="custom",
            memory_marketed_gb=self.memory_gib,
            memory_bytes=round(self.memory_gib * GIB),
            memory_is_reported=True,
            memory_bandwidth=self.bandwidth_gbs * GIGA,
            peaks={d: value * TERA for d in PEAKS if (value := getattr(self, d)) is not None},
            nvlink_bandwidth=None if self.link_gbs is None else self.link_gbs * GIGA,
            power_watts=self.watts,
            confidence="user",
            value_basis="user",
        )


def custom_gpu(raw: Mapping[str, Any]) -> CustomGpu:
    """A card from text or JSON values. Raises `InputError` with every problem, the field being the key."""
    problems = [Problem("unknown-field", str(key)[:60]) for key in raw if key != "name" and key not in _LIMITS]
    problems += [Problem("missing-value", key) for key in _NEEDED if raw.get(key) in (None, "")]
    if raw.get("fp16") in (None, "") and raw.get("bf16") in (None, ""):
        problems.append(Problem("missing-value", "bf16"))
    name = raw.get("name", "")
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        problems.append(Problem("not-a-text", "name", str(name)[:_LONGEST_NAME]))
    values = {}
    for key, (low, high) in _LIMITS.items():
        if raw.get(key) in (None, ""):
            continue
        try:
            values[key] = _number(key, raw[key], low, high)
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return CustomGpu(name=" ".join(clean(str(name)).split()) or "GPU", **values)


def _number(key: str, raw: Any, low: float, high: float) -> float:
    limits = {"low": low, "high": high, "unit": ""}
    try:
        value = math.nan if isinstance(raw, bool) else float(raw)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError([Problem("not-a-number", key, str(raw)[:60], limits)])
    if not low <= value <= high:
        raise InputError([Problem("out-of-range", key, value, limits)])
    return value
