"""What an hour on a number of one GPU costs: whole instances of an offer, the user's price, or cards of one's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from planner.cost import owned_hour_price
from planner.hardware.prices import Offer, offers
from planner.numeric import Number, ceil_div
from planner.recommend.wishes import ANY, Wishes


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """One way to pay. `per_hour` is for all GPUs, in US dollars; of an offer, for all its instances."""

    kind: Literal["offer", "owned", "user"]
    per_hour: float
    offer: Offer | None = None

    @property
    def as_of(self) -> str | None:
        """When the price held; None where its source gives no date, and for prices of the user."""
        return self.offer.as_of if self.offer else None


@lru_cache(maxsize=1)
def _by_gpu() -> dict[str, tuple[Offer, ...]]:
    found: dict[str, list[Offer]] = {}
    for offer in offers():
        if offer.with_host and offer.gpus >= 1:  # slices of a card are no GPU of the plan's
            found.setdefault(offer.gpu_id, []).append(offer)
    return {id: tuple(some) for id, some in found.items()}


def offers_of(gpu_id: str, pricing: str = ANY) -> tuple[Offer, ...]:
    """Offers of whole cards with their host, by price per GPU."""
    found = [one for one in _by_gpu().get(gpu_id, ()) if pricing in (ANY, one.pricing)]
    return tuple(sorted(found, key=lambda one: one.price_per_gpu_hour))


def charges(gpu_id: str, gpus: Number, watts_per_gpu: Number | None, wishes: Wishes) -> list[Charge | None]:
    """The cheapest way to pay for each of the `gpus` counts; None where none is known or allowed.

    Offers come in whole instances: five GPUs of an eight-GPU machine cost eight. Those with a date go before those
    without, whatever they ask.
    """
    source = wishes.values["source"]
    found: list[Charge | None] = [None] * len(gpus)
    if source in (ANY, "cloud"):
        found = rented(offers_of(gpu_id, wishes.values["pricing"]), gpus)
    user = next((one.price for one in wishes.custom if one.id == gpu_id), None)
    if user is not None and source == ANY:
        found = [Charge(kind="user", per_hour=user * float(count)) for count in gpus]
    owned = wishes.owned.get(gpu_id)
    if owned is None or source == "cloud":
        return found
    each = np.broadcast_to(owned_hour_price(wishes.ownership(owned), watts_per_gpu), np.shape(gpus))
    for place, count in enumerate(gpus):
        other, own = found[place], float(each[place]) * float(count)
        if count <= owned.count and (other is None or own <= other.per_hour):
            found[place] = Charge(kind="owned", per_hour=own)
    return found


def rented(some: Sequence[Offer], gpus: Any) -> list[Charge | None]:
    """The cheapest of some offers for each of the `gpus` counts, in whole instances."""
    some = [one for one in some if one.as_of] or list(some)
    if not some:
        return [None] * len(gpus)
    instances = ceil_div(np.asarray(gpus)[None, :], np.array([one.gpus for one in some])[:, None])
    per_hour = instances * np.array([one.price_per_hour for one in some])[:, None]
    best = per_hour.argmin(axis=0)
    return [
        Charge(kind="offer", per_hour=float(per_hour[row, column]), offer=some[row])
        for column, row in enumerate(best.tolist())
    ]
