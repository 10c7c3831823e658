"""What the hardware is to be: filters, what is owned, and where the power comes from. One table of inputs, as a plan's.

The link of the page, its widgets and the flags of the command line are all made from this table.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from planner.cost import Ownership
from planner.hardware import carbon, catalogue
from planner.hardware.custom import CustomGpu, custom_gpu
from planner.hardware.types import Gpu
from planner.plan.fields import Field, Kind, Section
from planner.plan.plan import parse_value
from planner.result import InputError, Problem

ANY = "any"
_LONGEST_LIST = 40


def _choice(id: str, default: str, choices: tuple[str, ...]) -> Field:
    return Field(id=id, kind=Kind.CHOICE, section=Section.MACHINE, default=default, choices=choices)


def _number(id: str, default: float | None, low: float, high: float, unit: str = "") -> Field:
    return Field(id=id, kind=Kind.NUMBER, section=Section.MACHINE, default=default, low=low, high=high, unit=unit)


@lru_cache(maxsize=1)
def vendors() -> tuple[str, ...]:
    """Makers of the catalogue's accelerators."""
    return tuple(dict.fromkeys(gpu.vendor for gpu in catalogue.gpus()))


FIELDS: tuple[Field, ...] = (
    _choice("source", ANY, (ANY, "cloud", "owned")),
    _choice("pricing", "on_demand", ("on_demand", "spot", ANY)),
    _choice("vendor", ANY, (ANY, *vendors())),
    _number("memory_gib", 0.0, 0, 65_536, "GiB"),
    Field(id="most_gpus", kind=Kind.INTEGER, section=Section.MACHINE, default=64, low=1, high=65_536, unit="GPUs"),
    _number("budget", None, 0, 1e12, "USD"),
    _number("deadline_hours", None, 0, 1e7, "h"),
    Field(id="grid", kind=Kind.CHOICE, section=Section.MACHINE, default=None),  # choices: planner.hardware.carbon
    _number("pue", 1.2, 1, 5),
    _number("years", 4.0, 0.1, 20, "years"),
    _number("utilisation", 0.6, 0.01, 1),
    _number("power_price", 0.15, 0, 100, "USD per kWh"),
)
"""Numbers and choices. Beside them `owned` (see `parse_owned`) and `custom` (see `parse_custom`)."""

BY_ID = {field.id: field for field in FIELDS}


@dataclass(frozen=True, slots=True)
class Owned:
    """GPUs that the user has: how many, and what one cost."""

    gpu: Gpu
    count: int
    purchase_price: float


@dataclass(frozen=True, slots=True)
class Wishes:
    """`chosen` is what the user set; `values` all that applies. A filter whose value is None does not filter."""

    chosen: Mapping[str, Any]
    values: Mapping[str, Any]
    owned: Mapping[str, Owned]  # by GPU id
    custom: tuple[CustomGpu, ...]

    @property
    def grid(self) -> carbon.Grid | None:
        return carbon.grid(self.values["grid"]) if self.values["grid"] else None

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """The user's own cards and the catalogue's that pass the filters on cards."""
        cards = (*(one.gpu() for one in self.custom), *catalogue.gpus())
        return tuple(gpu for gpu in cards if self._wanted(gpu))

    def _wanted(self, gpu: Gpu) -> bool:
        values = self.values
        return (
            values["vendor"] in (ANY, gpu.vendor)
            and gpu.memory_bytes >= values["memory_gib"] * 2**30
            and (values["source"] != "owned" or gpu.id in self.owned)
        )

    def ownership(self, owned: Owned) -> Ownership:
        """The terms of owning one of the user's cards."""
        names = ("years", "utilisation", "power_price", "pue")
        return Ownership(purchase_price=owned.purchase_price, **{name: self.values[name] for name in names})


def parse_wishes(raw: Mapping[str, Any]) -> tuple[Wishes, tuple[Problem, ...]]:
    """The wishes that `raw` describes; every bad value is named and left out."""
    chosen: dict[str, Any] = {}
    problems: list[Problem] = []
    owned: dict[str, Owned] = {}
    custom: tuple[CustomGpu, ...] = ()
    for key, value in raw.items():
        try:
            if key == "custom":
                custom = parse_custom(value)
            elif key in BY_ID:
                chosen[key] = carbon.grid(str(value)[:80]).id if key == "grid" else parse_value(BY_ID[key], value)
            elif key != "owned":
                problems.append(Problem("unknown-field", str(key)[:60], str(value)[:60]))
        except InputError as error:
            problems.extend(error.problems)
    try:
        owned = parse_owned(raw.get("owned", ""), custom)
    except InputError as error:
        problems.extend(error.problems)
    values = {field.id: chosen.get(field.id, field.default) for field in FIELDS}
    return Wishes(chosen, values, owned, custom), tuple(problems)


def parse_owned(raw: Any, custom: tuple[CustomGpu, ...] = ()) -> dict[str, Owned]:
    """Cards of one's own from "rtx-4090:2:1600,l40s:1:7500": GPU, how many, and the purchase price of one in dollars.

    Raises `InputError` with every bad entry.
    """
    if not isinstance(raw, str) or raw.count(",") >= _LONGEST_LIST:
        raise InputError([Problem("not-a-list", "owned", None, {"longest": _LONGEST_LIST})])
    cards = {one.id: one.gpu() for one in custom}
    found: dict[str, Owned] = {}
    problems: list[Problem] = []
    count = Field(id="owned", kind=Kind.INTEGER, section=Section.MACHINE, default=1, low=1, high=65_536)
    price = Field(id="owned", kind=Kind.NUMBER, section=Section.MACHINE, default=0, low=0, high=1e9)
    for entry in filter(None, (part.strip() for part in raw.split(","))):
        name, how_many, cost, *rest = [*entry.split(":"), "1", "0"][: max(3, entry.count(":") + 1)]
        try:
            if rest:
                raise InputError([Problem("not-owned-cards", "owned", entry[:60])])
            gpu = cards.get(name) or catalogue.gpu(name)
            found[gpu.id] = Owned(gpu, parse_value(count, how_many), parse_value(price, cost))
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return found


def parse_custom(raw: Any) -> tuple[CustomGpu, ...]:
    """Custom cards from a JSON object {"gpus": [...]}, or its text. Raises `InputError`."""
    field = Field(id="custom", kind=Kind.CONFIG, section=Section.MACHINE, default=None)
    cards = parse_value(field, raw).get("gpus", [])
    if not isinstance(cards, list) or len(cards) > _LONGEST_LIST or not all(isinstance(card, dict) for card in cards):
        raise InputError([Problem("not-a-list", "custom", None, {"longest": _LONGEST_LIST})])
    return tuple(custom_gpu(card) for card in cards)


def owned_text(owned: Mapping[str, Owned]) -> str:
    """The inverse of `parse_owned`."""
    return ",".join(f"{id}:{one.count}:{one.purchase_price:g}" for id, one in owned.items())
