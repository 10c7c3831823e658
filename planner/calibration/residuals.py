"""What the planner got wrong on the measured rows that it carries, and bands of those errors.

`data/comparisons.csv` has one comparison a line: what was measured, what was predicted and within which limits, and
ln(measured / predicted), with the row's source, model and card. `python -m planner calibrate` writes it.
"""

from collections import Counter
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from planner.hardware.catalogue import gpus, read_rows

ENOUGH_ROWS = 30
"""Rows that a band needs; a more general kind is asked where there are fewer."""

ROWS_OF_A_SOURCE = 100
"""Most rows that one source counts for: a large table says no more about others' conventions than a small one."""

WEIGHT = {"A": 1.0, "B": 0.3}
"""What a row counts for: with all settings stated, and with one or two assumed, whose errors are partly ours in
mapping. Rows of quality C are never learnt from."""

TAILS = (0.05, 0.95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Residual:
    """One comparison: `error` is ln(measured / predicted), of the time where a rate was measured."""

    id: str
    source: str
    url: str
    date: str
    domain: str
    model: str
    gpu: str
    gpus: int
    kinds: tuple[str, ...]
    family: str
    quantity: str
    quality: str
    measured: float
    predicted: float
    low: float
    high: float
    status: str
    error: float
    rule: str  # a public rule that speaks about this, and what it says; empty and 0 where there is none
    ruled: float
    assumed: str

    @property
    def relative(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.measured - 1

    @property
    def covered(self) -> bool:
        return self.low <= self.measured <= self.high


COLUMNS = tuple(field.name for field in fields(Residual))


@dataclass(frozen=True, slots=True)
class Band:
    """Errors that 90 of 100 measurements stay within: ln(measured / predicted) from `low` to `high`."""

    low: float
    high: float
    rows: int
    sources: int
    kind: str
    gpus: frozenset[str]


_NUMBERS = frozenset({"measured", "predicted", "low", "high", "error", "ruled"})


@lru_cache(maxsize=1)
def residuals() -> tuple[Residual, ...]:
    """The carried comparisons."""
    return tuple(Residual(**{name: _cell(name, row[name]) for name in COLUMNS}) for row in read_rows("comparisons.csv"))


def _cell(name: str, text: str) -> Any:
    if name in _NUMBERS:
        return float(text)
    if name == "kinds":
        return tuple(text.split("|"))
    return int(text) if name == "gpus" else text


def forget() -> None:
    """Read the file anew: it was written again."""
    for cached in (residuals, _group, band):
        cached.cache_clear()


UNTAUGHT = frozenset({"peak_unstated"})
"""Quantities that teach nothing: whose counter isn't told."""

ALIKE = {"device": ("device", "reserved"), "reserved": ("device", "reserved")}
"""Families that stand in for each other where a row's own has no other source: what the driver shows is what the
allocator holds, and little more."""


@lru_cache(maxsize=512)
def _group(family: str, kind: str, alike: bool = False) -> tuple[Residual, ...]:
    families = ALIKE.get(family, (family,)) if alike else (family,)
    return tuple(
        each
        for each in residuals()
        if each.family in families and kind in each.kinds and each.quality in WEIGHT and each.quantity not in UNTAUGHT
    )


@lru_cache(maxsize=8192)
def band(family: str, kinds: tuple[str, ...], source: str = "", model: str = "") -> Band | None:
    """The band of a family of figures for a request of `kinds`, from the most particular kind with rows enough.

    A row of a known `source` is judged by the other sources alone, or by other models where those are too few.
    None where nothing of the family was ever measured.
    """
    best: tuple[Residual, ...] = ()
    where = ""
    for kind in kinds:
        found = _others(_group(family, kind), source, model)
        if source or len(found) < ENOUGH_ROWS:
            found = max(found, _others(_group(family, kind, True), source, model), key=len)
        if len(found) > len(best):
            best, where = found, kind
        if len(best) >= ENOUGH_ROWS:
            break
    return _band(best, where) if best else None


def _others(rows: tuple[Residual, ...], source: str, model: str) -> tuple[Residual, ...]:
    if not source:
        return rows
    apart = tuple(each for each in rows if each.source != source)
    if len(apart) >= ENOUGH_ROWS and len({each.source for each in apart}) > 1:
        return apart
    return tuple(each for each in rows if each.source != source or each.model != model)


def _band(rows: tuple[Residual, ...], kind: str) -> Band:
    """Weighted quantiles, widened for few rows: with n rows the outermost stand for 1/(n+1) of what is to come."""
    counts: Counter[str] = Counter()
    for each in rows:
        counts[each.source] += WEIGHT[each.quality]  # type: ignore[assignment]
    weighted = sorted(
        (each.error, WEIGHT[each.quality] * min(1.0, ROWS_OF_A_SOURCE / counts[each.source])) for each in rows
    )
    total = sum(weight for _, weight in weighted)
    low, high = (_quantile(weighted, total, share) for share in TAILS)
    middle = _quantile(weighted, total, 0.5)
    wider = 1 + 2 / len(rows)
    return Band(
        low=middle + (low - middle) * wider,
        high=middle + (high - middle) * wider,
        rows=len(rows),
        sources=len(counts),
        kind=kind,
        gpus=frozenset(each.gpu for each in rows),
    )


def _quantile(weighted: list[tuple[float, float]], total: float, share: float) -> float:
    target, passed = share * total, 0.0
    for value, weight in weighted:
        passed += weight
        if passed >= target:
            return value
    return weighted[-1][0]


@lru_cache(maxsize=1)
def architectures() -> dict[str, str]:
    """Architecture of every card by id."""
    return {gpu.id: gpu.architecture for gpu in gpus()}
