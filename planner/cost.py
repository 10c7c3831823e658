"""Money and energy: price per GPU-hour times time, power times time. In US dollars, seconds and joules."""

from dataclasses import dataclass

import numpy as np

from planner.hardware.prices import cheapest
from planner.numeric import Number, is_array, maximum
from planner.result import Cost, Speed
from planner.throughput import constants
from planner.units import HOUR, KILOWATT_HOUR, MEGA, YEAR
from planner.workload import Request, Training

BUSY_POWER = 0.95
"""Power of a card at full arithmetic over its limit: large products hold data-centre cards at it."""

_POWER: dict[str, float] = {
    "time.compute": BUSY_POWER,
    "time.attention": BUSY_POWER,
    "time.recompute": BUSY_POWER,
    "time.elementwise": constants.MEMORY_POWER_SHARE,
    "time.memory": constants.MEMORY_POWER_SHARE,
    "time.optimizer": constants.MEMORY_POWER_SHARE,
    "time.communication": constants.MEMORY_POWER_SHARE / 2,
    "time.bubble": constants.IDLE_POWER_SHARE,
    "time.input": constants.IDLE_POWER_SHARE,
    "time.launch": constants.IDLE_POWER_SHARE,
}


def gpu_hour_price(request: Request) -> tuple[float | None, str, str | None]:
    """Dollars per GPU-hour, where they come from, and when they held: the cluster's own, else the cheapest offer."""
    cluster = request.cluster
    if cluster.price_per_gpu_hour is not None:
        return cluster.price_per_gpu_hour, cluster.price_source, cluster.price_date
    offer = cheapest(cluster.gpu.id)
    if offer is None:
        return None, "", None
    return offer.price_per_gpu_hour, f"{offer.provider} {offer.instance} ({offer.source})", offer.as_of


def power_watts(request: Request, speed: Speed) -> Number | None:
    """Mean power of all GPUs: each part of the time at its share of the card's limit. None where that is unknown."""
    limit = request.cluster.gpu.power_watts
    if limit is None:
        return None
    weighted = sum(_POWER[part.id] * part.value for part in speed.parts)
    return limit * request.layout.gpus * weighted / speed.seconds


def cost(request: Request, speed: Speed | None) -> Cost:
    """Cost of a request: by the hour, to the end of what is asked for, by the million tokens; energy to that end.

    Training: `total_samples`; serving: `total_tokens` of output. Without them the end is not asked, and energy is that
    of one step or round.
    """
    price, source, date = gpu_hour_price(request)
    per_hour = None if price is None else price * request.layout.gpus
    if speed is None:
        return Cost(price_per_hour=per_hour, price_source=source, price_date=date)
    finish = _seconds_to_finish(request, speed)
    watts = power_watts(request, speed)
    tokens = speed.tokens_per_second
    counted = is_array(tokens) or tokens > 0  # image networks have no tokens
    return Cost(
        price_per_hour=per_hour,
        seconds_to_finish=finish,
        price_to_finish=None if per_hour is None or finish is None else per_hour * finish / HOUR,
        price_per_million_tokens=None
        if per_hour is None or not counted
        else per_hour / HOUR * MEGA / maximum(tokens, 1e-12),
        energy_joules=None if watts is None else watts * (speed.seconds if finish is None else finish),
        price_source=source,
        price_date=date,
    )


def _seconds_to_finish(request: Request, speed: Speed) -> Number | None:
    if isinstance(request, Training):
        if request.total_samples is None:
            return None
        return np.ceil(request.total_samples / request.global_batch_size) * speed.seconds  # steps are whole
    return None if request.total_tokens is None else request.total_tokens / maximum(speed.tokens_per_second, 1e-12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """What a GPU of one's own costs: bought once, written off over the hours that it works, and fed with power."""

    purchase_price: Number  # US dollars for one GPU, with its share of the machine around it
    years: Number = 4.0  # of use until it is written off
    utilisation: Number = 0.6  # share of these years that it works
    power_price: Number = 0.15  # US dollars per kWh
    pue: Number = 1.2  # power usage effectiveness: the room's energy over the machines'


def owned_hour_price(owned: Ownership, watts: Number | None) -> Number:
    """US dollars for one working hour of one GPU that draws `watts`.

    purchase / (years x utilisation) + power x PUE x price of energy. Hours without work carry no energy here: they are
    in the utilisation. Where the power is unknown (None), energy is left out.
    """
    amortised = owned.purchase_price / (owned.years * YEAR / HOUR * owned.utilisation)
    if watts is None:
        return amortised
    return amortised + watts * HOUR / KILOWATT_HOUR * owned.pue * owned.power_price


def facility_joules(joules: Number, pue: Number) -> Number:
    """Energy drawn from the grid for `joules` used by GPUs: cooling and conversion included, hosts not.

    PUE is defined by ISO/IEC 30134-2 over all machines of a room; the host's own share is not known for each card.
    """
    return joules * pue


def carbon_grams(joules: Number, grams_per_kwh: Number) -> Number:
    """Grams of CO2 equivalent of energy drawn from a grid."""
    return joules / KILOWATT_HOUR * grams_per_kwh
