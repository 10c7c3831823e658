"""Carbon intensity of electricity grids: yearly averages of countries, states, provinces and cloud regions.

An average over a year and a whole grid: what a run at some hour causes differs, and so does what a provider's
certificates say. Good for comparing places, not for accounting.
"""

import difflib
from dataclasses import dataclass
from functools import lru_cache

from planner.hardware.catalogue import read_rows
from planner.result import InputError, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """One grid. `year` is None where the source gives none; `offers` are the "provider/region" that draw from it."""

    id: str  # ISO 3166 alpha-3 of a country, US-CA, CN-HE, SE3, gcp:europe-west4
    name: str
    kind: str  # country | us_state | province | bidding_zone | cloud_region
    country: str
    grams_per_kwh: float  # CO2 equivalent
    year: int | None
    basis: str
    source: str
    note: str = ""
    offers: tuple[str, ...] = ()


def _grid(row: dict[str, str]) -> Grid:
    return Grid(
        id=row["id"],
        name=row["name"],
        kind=row["kind"],
        country=row["country"],
        grams_per_kwh=float(row["g_per_kwh"]),
        year=int(row["year"]) if row["year"] else None,
        basis=row["basis"],
        source=row["source"],
        note=row["note"],
        offers=tuple(filter(None, row["offers"].split("|"))),
    )


@lru_cache(maxsize=1)
def grids() -> dict[str, Grid]:
    """Every grid by id."""
    return {row["id"]: _grid(row) for row in read_rows("grid_carbon.csv")}


def grid(id: str) -> Grid:
    """The grid with this id, or with this name. Raises `InputError` "unknown-grid" with the nearest ids."""
    found = grids().get(id) or _by_name().get(id.casefold())
    if found:
        return found
    names = {**{one.casefold(): one for one in grids()}, **{name: one.id for name, one in _by_name().items()}}
    close = difflib.get_close_matches(id.casefold(), list(names), n=5, cutoff=0.5)
    raise InputError([Problem("unknown-grid", "grid", id, {"nearest": tuple(dict.fromkeys(names[c] for c in close))})])


@lru_cache(maxsize=1)
def _by_name() -> dict[str, Grid]:
    """By name in lower case; where a country and a state share one (Georgia), the country, which comes first."""
    found: dict[str, Grid] = {}
    for one in grids().values():
        found.setdefault(one.name.casefold(), one)
    return found


@lru_cache(maxsize=1)
def _by_offer() -> dict[str, Grid]:
    return {offer: one for one in grids().values() for offer in one.offers}


def grid_of_offer(provider: str, region: str) -> Grid | None:
    """The grid that a provider's region draws from; None where its place is not known (prices for any region)."""
    return _by_offer().get(f"{provider}/{region}")
