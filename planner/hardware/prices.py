"""Dated offers of cloud providers, in US dollars. A snapshot, not a quotation: each says when and where it was read."""

import datetime
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Literal

from planner.hardware.catalogue import read_rows

Pricing = Literal["on_demand", "spot"]

STALE_DAYS = 90
"""A price older than this may no longer hold: cloud prices of GPUs move several times a year."""


class Age(StrEnum):
    """How far a price can be trusted to hold."""

    RECENT = "recent"
    STALE = "stale"
    UNDATED = "undated"


def age(as_of: str | None, today: datetime.date) -> Age:
    """The age of a price read on `as_of` (YYYY-MM-DD; None: the source gives no date)."""
    if as_of is None:
        return Age.UNDATED
    days = (today - datetime.date.fromisoformat(as_of)).days
    return Age.STALE if days > STALE_DAYS else Age.RECENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One instance of one provider. `as_of` is None where the source gives no date."""

    provider: str
    instance: str
    gpu_id: str
    gpus: float  # below 1 where the instance holds a slice of a card
    price_per_hour: float  # the whole instance
    pricing: str
    region: str
    as_of: str | None
    source: str
    with_host: bool = True  # False: an accelerator to be added to a machine that is priced apart
    vcpus: float | None = None
    ram_gib: float | None = None
    note: str = ""

    @property
    def price_per_gpu_hour(self) -> float:
        return self.price_per_hour / self.gpus


def _offer(row: dict[str, str]) -> Offer:
    return Offer(
        provider=row["provider"],
        instance=row["instance"],
        gpu_id=row["gpu"],
        gpus=float(row["gpus"] or 1),
        price_per_hour=float(row["usd_per_hour"]),
        pricing=row["pricing"],
        region=row["region"],
        as_of=row["as_of"] or None,
        source=row["source"],
        with_host=row["with_host"] == "yes",
        vcpus=float(row["vcpus"]) if row["vcpus"] else None,
        ram_gib=float(row["ram_gib"]) if row["ram_gib"] else None,
        note=row["note"],
    )


@lru_cache(maxsize=1)
def offers() -> tuple[Offer, ...]:
    """Every offer of the catalogue."""
    return tuple(_offer(row) for row in read_rows("prices.csv"))


@lru_cache(maxsize=1024)
def cheapest(gpu_id: str, pricing: Pricing = "on_demand") -> Offer | None:
    """The lowest price per GPU-hour for whole cards with their host, dated offers first. None where none is known."""
    found = [o for o in offers() if o.gpu_id == gpu_id and o.pricing == pricing and o.with_host and o.gpus >= 1]
    return min(found, key=lambda o: (o.as_of is None, o.price_per_gpu_hour), default=None)


@lru_cache(maxsize=1)
def rentable() -> tuple[str, ...]:
    """Ids of the GPUs that some provider rents out whole, on demand."""
    return tuple(sorted({o.gpu_id for o in offers() if cheapest(o.gpu_id) is not None}))
