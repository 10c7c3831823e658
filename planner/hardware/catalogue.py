"""The accelerators the planner knows: one row each in `data/gpus.csv`, found by id, name, driver name or short name."""

import csv
import difflib
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from planner.hardware.types import Gpu
from planner.result import InputError, Problem
from planner.units import GIB, GIGA, MIB, TERA

DATA = Path(__file__).parent.parent / "data"

_PEAK_DTYPES = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4", "int4")
_BRANDS = re.compile(r"\b(nvidia|geforce|amd|intel|radeon|instinct|tesla|google|cloud|aws|graphics|apple)\b")
_SERIES = re.compile(r"\b(rtx|gtx|rx|arc)\b")
_MEMORY_SIZE = re.compile(r"\b\d+\s?g(i?b)?\b(\s?hbm\d?e?)?")
_FILLER = re.compile(r"\b(generation|edition|gpu|blackwell)\b")
_FORM = re.compile(r"\b(sxm\d?|pcie|nvl)\b")
MEMORY_TOLERANCE = 0.02
"""Reported totals move by a few MiB between drivers (V100: 32510 then 32768 MiB)."""


def read_rows(name: str) -> list[dict[str, str]]:
    """Rows of one of the planner's own CSV tables."""
    with (DATA / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _number(text: str) -> float | None:
    return float(text) if text else None


def _scaled(text: str, unit: float) -> float | None:
    return float(text) * unit if text else None


def _memory_bytes(row: dict[str, str]) -> int:
    """The driver's report; else the marketed size in GiB, less what cards of the class keep back.

    Memory chips come in powers of two, so a marketed "GB" is a GiB. `memory_share` is the part a driver shows on
    reported cards of the same class: 15/16 on GDDR6 with error correction on, 0.996 on Hopper and Blackwell.
    """
    if row["memory_mib"]:
        return int(row["memory_mib"]) * MIB
    return round(float(row["memory_gb"]) * float(row["memory_share"]) * GIB)


def _gpu(row: dict[str, str]) -> Gpu:
    generation, lanes, sms = row["pcie_generation"], row["pcie_lanes"], row["sm_count"]
    l2 = _scaled(row["l2_mb"], MIB)
    return Gpu(
        id=row["id"],
        name=row["name"],
        vendor=row["vendor"],
        architecture=row["architecture"],
        aliases=tuple(filter(None, row["aliases"].split("|"))),
        compute_capability=row["compute_capability"] or None,
        form_factor=row["form_factor"],
        release_date=row["release_date"] or None,
        memory_marketed_gb=float(row["memory_gb"]),
        memory_bytes=_memory_bytes(row),
        memory_is_reported=bool(row["memory_mib"]),
        memory_type=row["memory_type"],
        memory_bandwidth=_scaled(row["bandwidth_gbs"], GIGA),
        peaks={dtype: float(row[dtype]) * TERA for dtype in _PEAK_DTYPES if row[dtype]},
        nvlink_bandwidth=_scaled(row["link_gbs"], GIGA),
        nvlink_version=row["link_version"] or None,
        pcie_generation=int(generation) if generation else None,
        pcie_lanes=int(lanes) if lanes else None,
        power_watts=_number(row["power_w"]),
        sm_count=int(float(sms)) if sms else None,
        l2_bytes=round(l2) if l2 else None,
        sources=tuple(filter(None, row["sources"].split("|"))),
        confidence=row["confidence"],
        value_basis=row["basis"],
        as_of=row["as_of"] or None,
        note=row["note"],
        unified_memory="unified" in row["memory_type"],
    )


@lru_cache(maxsize=1)
def gpus() -> tuple[Gpu, ...]:
    """Every accelerator of the catalogue, in the catalogue's order (vendor, class, generation)."""
    return tuple(_gpu(row) for row in read_rows("gpus.csv"))


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", _BRANDS.sub(" ", name.lower().replace("_", " ").replace("-", " ")))


def _short_keys(name: str) -> set[str]:
    """What people call a card: without series word, memory size or form factor, in any combination."""
    text = _BRANDS.sub(" ", re.sub(r"\(.*?\)", " ", name.lower()).replace("-", " "))
    keys = {text}
    for pattern in (_SERIES, _MEMORY_SIZE, _FORM, _FILLER):
        keys |= {pattern.sub(" ", key) for key in keys}
    return {re.sub(r"[^a-z0-9]", "", key) for key in keys}


@lru_cache(maxsize=1)
def _exact() -> dict[str, tuple[Gpu, ...]]:
    return _index((gpu, {_key(name) for name in (gpu.id, gpu.name, *gpu.aliases)}) for gpu in gpus())


@lru_cache(maxsize=1)
def _short() -> dict[str, tuple[Gpu, ...]]:
    return _index((gpu, _short_keys(gpu.name)) for gpu in gpus())


def _index(entries: Iterable[tuple[Gpu, set[str]]]) -> dict[str, tuple[Gpu, ...]]:
    index: dict[str, tuple[Gpu, ...]] = {}
    for gpu, keys in entries:
        for key in keys:
            index[key] = (*index.get(key, ()), gpu)
    return index


@lru_cache(maxsize=1)
def _by_id() -> dict[str, Gpu]:
    return {gpu.id: gpu for gpu in gpus()}


def gpu(name: str) -> Gpu:
    """The accelerator with this id, name, driver name or unambiguous short name ("4090", "a6000", "mi300x").

    Raises `InputError`: "unknown-gpu" or "ambiguous-gpu", with the ids it may have meant as `parameters["nearest"]`.
    """
    if found := _by_id().get(name):
        return found
    key = _key(name)
    candidates = _exact().get(key) or _short().get(key) or ()
    if len(candidates) == 1:
        return candidates[0]
    code = "ambiguous-gpu" if candidates else "unknown-gpu"
    raise InputError([Problem(code, "gpu", name, {"nearest": tuple(g.id for g in candidates) or nearest(name)})])


def nearest(name: str, count: int = 5) -> tuple[str, ...]:
    """Ids of the accelerators whose names look most like `name`."""
    names = {key: g.id for keys in (_short(), _exact()) for key, matches in keys.items() for g in matches}
    close = difflib.get_close_matches(_key(name), list(names), n=3 * count, cutoff=0.5)
    return tuple(dict.fromkeys(names[key] for key in close))[:count]


def resolve_reported(name: str, memory_bytes: int) -> Gpu | None:
    """The accelerator that a driver calls `name` and that has about `memory_bytes`; None where no row fits.

    Several cards share a driver name (RTX 3080 10 and 12 GB, RTX 4060 Ti 8 and 16 GB, Orin), so memory decides.
    """
    key = _key(name)
    candidates = _exact().get(key) or _short().get(key) or ()
    if len(candidates) == 1:
        return candidates[0]
    fitting = [g for g in candidates if abs(g.memory_bytes - memory_bytes) <= MEMORY_TOLERANCE * g.memory_bytes]
    # A desktop and a laptop card of the same name and size cannot be told apart: the first row, the desktop's.
    return fitting[0] if fitting else None
