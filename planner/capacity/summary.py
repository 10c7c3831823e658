"""What a placement means: use by week, cost, what to add so that everything runs in time."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.capacity.assign import SECONDS, Offer, assign
from planner.capacity.types import WEEK, Placement, Pool, Scenario
from planner.hardware import prices

HOURS_OF_YEAR = 8760.0


@dataclass(frozen=True, slots=True)
class Addition:
    """Nodes to rent for the scenario's time."""

    gpu: str
    nodes: int
    gpus_per_node: int
    price_per_gpu_hour: float
    cost: float  # US dollars for the scenario's time


def use(scenario: Scenario, placement: Placement) -> dict[str, npt.NDArray[np.float64]]:
    """GPU-hours used in each week, by pool: arrays of `weeks`."""
    found = {pool.name: np.zeros(scenario.weeks) for pool in scenario.pools}
    for run in placement.runs:
        weeks = np.arange(scenario.weeks)
        overlap = np.clip(np.minimum(run.end, (weeks + 1) * WEEK) - np.maximum(run.start, weeks * WEEK), 0, None)
        found[run.pool] += overlap * run.gpus
    return found


def there(scenario: Scenario, pool: Pool) -> npt.NDArray[np.float64]:
    """GPU-hours that a pool has in each week."""
    weeks = np.arange(scenario.weeks)
    return np.where((weeks >= pool.first_week) & (weeks < pool.last_week), pool.gpus * WEEK, 0.0)


def cost(scenario: Scenario, placement: Placement) -> dict[str, float]:
    """US dollars by pool for the scenario's time: rented on demand by use, all else by what is there."""
    used = use(scenario, placement)
    return {
        pool.name: pool.price_per_gpu_hour
        * float(used[pool.name].sum() if pool.on_demand else there(scenario, pool).sum())
        for pool in scenario.pools
    }


def additions(scenario: Scenario, gpus: Iterable[str], *, seconds: float = SECONDS) -> tuple[Addition, ...] | None:
    """The cheapest nodes to rent so that all runs in time, of the given GPUs; None where even they do not help.

    Each is rented for the scenario's whole time at the cheapest dated offer; eight GPUs a node.
    """
    offers = []
    for id in gpus:
        offer = prices.cheapest(id)
        if offer is not None:
            pool = Pool(name=f"+{id}", gpu=id, nodes=1250, last_week=scenario.weeks)
            offers.append(Offer(pool, offer.price_per_gpu_hour * pool.gpus_per_node * scenario.weeks * WEEK))
    if not offers:
        return None
    found = assign(scenario, tuple(offers), seconds=seconds)
    if not found.solved:
        return None
    by_name = {offer.pool.name: offer for offer in offers}
    return tuple(
        Addition(
            by_name[name].pool.gpu,
            nodes,
            by_name[name].pool.gpus_per_node,
            by_name[name].price_per_node / by_name[name].pool.gpus_per_node / scenario.weeks / WEEK,
            nodes * by_name[name].price_per_node,
        )
        for name, nodes in found.added.items()
    )
