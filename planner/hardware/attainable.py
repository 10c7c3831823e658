"""What share of a peak real kernels reach: large matrix products by dtype, and memory bandwidth.

From the measured tables `attainable_flops.csv` and `attainable_bandwidth.csv`; where a card has no row, from its
relatives, and the status says so. A missing peak stays missing: INT8 is never taken to be twice FP16.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from statistics import median
from typing import NamedTuple

from planner.hardware.catalogue import gpus, read_rows
from planner.hardware.types import Gpu
from planner.result import InputError, Problem, Status
from planner.units import TERA

BEST_TO_TYPICAL = 0.95
"""A "best shape" search finds shapes that fill every wave of tiles; the median large shape gives about 5 % less
(A100 and H100, where both statistics are known)."""
HIGHEST = 1.15
"""GeForce clocks run above the printed boost; every card with several reports stays within this (RTX 5090: 1.14)."""
DEFAULT_BANDWIDTH_SHARE = 0.82
"""Median over the cards measured with skinny products (0.79-0.89)."""
NARROW = ("fp8", "int8", "fp4")
"""Formats whose kernels carry scales."""
SAME_PEAK = {"fp16": "bf16", "bf16": "fp16"}
"""Dtypes that run on the same units at the same rate."""

CPU_ARCHITECTURE = "CPU"
"""Architecture of a processor that is used as a device."""
CPU_SHARE = 0.3
"""Share of a processor's SIMD peak that a whole program reaches: large products alone reach 0.5 to 0.8 (oneDNN, BLIS),
clocks fall under wide SIMD, and threads wait for each other. Assumed; nothing here has checked it."""
FALLBACK = {"fp16": "fp32", "bf16": "fp32", "tf32": "fp32"}
"""Where a 16-bit or TF32 product runs on a card without units for it."""


class Attained(NamedTuple):
    """A rate that kernels reach, in FLOP/s or bytes/s, how well it is known, and where it comes from."""

    rate: float
    status: Status
    source: str


class _Share(NamedTuple):
    value: float
    source: str


def _consumer(gpu: Gpu) -> bool:
    return gpu.name.startswith(("GeForce", "Radeon RX", "TITAN"))


@lru_cache(maxsize=1)
def _flops_shares() -> dict[tuple[str, str], _Share]:
    """Attained over peak by card and dtype: the median over sources of each source's typical large product."""
    peaks = {g.id: g.peaks for g in gpus()}
    found: dict[tuple[str, str], list[tuple[float, str]]] = {}
    for row in read_rows("attainable_flops.csv"):
        peak = peaks[row["gpu"]].get(row["dtype"])
        if peak is None or row["statistic"] == "p90":
            continue
        typical = float(row["tflops"]) * TERA * (BEST_TO_TYPICAL if row["statistic"] == "best" else 1.0)
        found.setdefault((row["gpu"], row["dtype"]), []).append((typical / peak, row["source"]))
    return {key: _typical(key[1], rows) for key, rows in found.items()}


def _typical(dtype: str, rows: list[tuple[float, str]]) -> _Share:
    """The middle of what several sources measured; of narrow formats the best.

    Kernels for FP8 and below differ in what they do besides: block scales, quantising their input. The best of them
    is the plain product; what is added counts as element-wise work.
    """
    best = max(rows)
    if dtype in NARROW:
        return _Share(min(best[0], HIGHEST), best[1])
    return _Share(min(median(share for share, _ in rows), HIGHEST), rows[0][1])


@lru_cache(maxsize=1)
def _bandwidth_shares() -> dict[str, _Share]:
    found: dict[str, list[tuple[float, str]]] = {}
    for row in read_rows("attainable_bandwidth.csv"):
        found.setdefault(row["gpu"], []).append((float(row["gbs"]) / float(row["peak_gbs"]), row["source"]))
    return {key: _Share(median(s for s, _ in rows), rows[0][1]) for key, rows in found.items()}


def _base(gpu: Gpu) -> float | None:
    """The card's own share on 16-bit products: how its clock and power limit compare with the rated peak."""
    shares = _flops_shares()
    found = [shares[gpu.id, dtype].value for dtype in ("bf16", "fp16") if (gpu.id, dtype) in shares]
    return max(found, default=None)


def _relatives(dtype: str, like: Callable[[Gpu], bool], scaled: bool) -> list[float]:
    """Shares of the measured cards that are `like` ours; `scaled`: over each card's own 16-bit share."""
    shares = _flops_shares()
    found = ((shares[g.id, dtype].value, _base(g)) for g in gpus() if (g.id, dtype) in shares and like(g))
    return [share / base if scaled and base else share for share, base in found if base or not scaled]


def _related_share(gpu: Gpu, dtype: str) -> tuple[_Share, Status] | None:
    """The share of the nearest relatives measured in this dtype, carried over by the card's own 16-bit share."""
    consumer = _consumer(gpu)
    own = _base(gpu)
    circles: Iterable[tuple[str, Status, Callable[[Gpu], bool]]] = (
        (gpu.architecture, Status.INTERPOLATED, lambda g: _kin(g, gpu) and _consumer(g) is consumer),
        (gpu.architecture, Status.INTERPOLATED, lambda g: _kin(g, gpu)),
        (gpu.vendor, Status.EXTRAPOLATED, lambda g: g.vendor == gpu.vendor and _consumer(g) is consumer),
        ("all cards", Status.EXTRAPOLATED, lambda g: True),
    )
    for circle, status, like in circles:
        if found := _relatives(dtype, like, scaled=own is not None):
            share = median(found) * (own or 1.0)
            return _Share(share, f"median of {len(found)} measured cards: {circle}"), status
    return None


def _kin(one: Gpu, other: Gpu) -> bool:
    """Same architecture, a refresh counting as the same (Blackwell and Blackwell Ultra; CDNA 3 and 4 are two)."""
    return one.vendor == other.vendor and one.architecture.split(" Ultra")[0] == other.architecture.split(" Ultra")[0]


@lru_cache(maxsize=4096)
def attainable_flops(gpu: Gpu, dtype: str) -> Attained:
    """FLOP/s that large matrix products reach in `dtype`. Raises `InputError` "unknown-peak" where no peak is known."""
    dtype = executed_dtype(gpu, dtype)
    peak = gpu.peaks[dtype]
    if gpu.architecture == CPU_ARCHITECTURE:
        return Attained(CPU_SHARE * peak, Status.EXTRAPOLATED, "assumed share of SIMD peak")
    shares = _flops_shares()
    if own := shares.get((gpu.id, dtype)):
        return Attained(own.value * peak, Status.MEASURED, own.source)
    sibling = SAME_PEAK.get(dtype, "")
    if (own := shares.get((gpu.id, sibling))) and gpu.peaks.get(sibling) == peak:
        return Attained(own.value * peak, Status.INTERPOLATED, own.source)
    for name in filter(None, (dtype, sibling)):
        if related := _related_share(gpu, name):
            share, status = related
            return Attained(share.value * peak, status, share.source)
    return Attained(_overall() * peak, Status.EXTRAPOLATED, "median of all measured cards and dtypes")


@lru_cache(maxsize=1)
def _overall() -> float:
    return median(share.value for share in _flops_shares().values())


def executed_dtype(gpu: Gpu, dtype: str) -> str:
    """The dtype whose units a product really runs on.

    Cards without matrix units for 16-bit floats or TF32 (Pascal; BF16 on Volta and Turing) compute in FP32.
    Raises `InputError` "unknown-peak" where the card has, or is known to have, neither.
    """
    for candidate in (dtype, FALLBACK.get(dtype, "")):
        if candidate in gpu.peaks:
            return candidate
    raise InputError([Problem("unknown-peak", "gpu", gpu.id, {"dtype": dtype, "known": tuple(gpu.peaks)})])


@lru_cache(maxsize=1024)
def attainable_bandwidth(gpu: Gpu) -> Attained:
    """Bytes/s that streaming kernels reach in device memory. Raises `InputError` "unknown-bandwidth"."""
    if gpu.memory_bandwidth is None:
        raise InputError([Problem("unknown-bandwidth", "gpu", gpu.id)])
    shares = _bandwidth_shares()
    if own := shares.get(gpu.id):
        return Attained(own.value * gpu.memory_bandwidth, Status.MEASURED, own.source)
    kin = [shares[g.id].value for g in gpus() if g.id in shares and _kin(g, gpu)]
    if kin:
        source = f"median of {len(kin)} measured cards: {gpu.architecture}"
        return Attained(median(kin) * gpu.memory_bandwidth, Status.INTERPOLATED, source)
    source = "median of all measured cards"
    return Attained(DEFAULT_BANDWIDTH_SHARE * gpu.memory_bandwidth, Status.EXTRAPOLATED, source)
