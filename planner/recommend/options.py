"""One option: a GPU, how many of them, what a run on them takes; and the options of one GPU for all counts at once."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.cost import carbon_grams, facility_joules, power_watts
from planner.estimate import estimate
from planner.hardware import carbon, links
from planner.hardware.types import Cluster, Gpu
from planner.recommend.candidates import Batch, Candidate
from planner.recommend.charges import Charge, charges
from planner.recommend.wishes import Wishes
from planner.result import TIGHT_SHARE, Estimate, Status, worst
from planner.units import HOUR, MEGA
from planner.workload import Request, Training


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be done: so many units, and whether the user asked for them (else a million, to compare by)."""

    unit: str  # tokens | samples
    amount: float
    asked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A GPU and a number of them. Figures are for all of them and the whole work; None where they are not known."""

    gpu: Gpu
    gpus: int
    sets: Mapping[str, Any]  # fields of the plan beside the GPU that make it this option
    fits: bool
    required_bytes: float
    status: Status
    rate: float | None = None  # units of work per second
    seconds: float | None = None
    charge: Charge | None = None
    price: float | None = None  # US dollars
    watts: float | None = None  # of the GPUs
    joules: float | None = None  # drawn from the grid, PUE included
    grid: carbon.Grid | None = None
    grams: float | None = None  # of CO2 equivalent
    global_batch_size: int | None = None

    @property
    def id(self) -> str:
        return f"{self.gpus}x{self.gpu.id}"

    @property
    def spare_bytes(self) -> float:
        return self.gpu.memory_bytes - self.required_bytes

    @property
    def tight(self) -> bool:
        return self.fits and self.spare_bytes < TIGHT_SHARE * self.gpu.memory_bytes


def work_of(request: Request) -> Work:
    """The plan's work in the unit that its rate counts."""
    if request.model.image is not None or request.model.text_stack is None:
        asked = request.total_samples if isinstance(request, Training) else request.total_tokens
        return Work("samples", float(asked or MEGA), bool(asked))
    if isinstance(request, Training):
        asked = request.total_samples and request.total_samples * request.sequence_length
    else:
        asked = request.total_tokens
    return Work("tokens", float(asked or MEGA), bool(asked))


def on_gpu(request: Request, gpu: Gpu) -> Request:
    """The request on another GPU, with that one's own links and no price."""
    old: Cluster = request.cluster
    cluster = Cluster(
        gpu=gpu,
        gpus=old.gpus,
        gpus_per_node=old.gpus_per_node,
        intra_node=links.intra_node_link(gpu),
        inter_node=old.inter_node,
        price_per_gpu_hour=0.0,  # priced apart: an offer depends on how many GPUs its instances have
    )
    return dataclasses.replace(request, cluster=cluster)


@dataclass(frozen=True, slots=True)
class _Figures:
    """The estimates of all candidates on one GPU, side by side."""

    candidates: Sequence[Candidate]
    gpus: Any
    required: Any
    rate: Any  # NaN where not known
    seconds: Any  # of the whole work
    watts: Any
    status: Status


def options(gpu: Gpu, some: Sequence[Batch], work: Work, wishes: Wishes) -> list[Option]:
    """One option for each number of GPUs: of its layouts the fastest that fits, else the one that needs least."""
    figures = _joined([_figures(batch, estimate(request), request, work) for batch, request in _requests(some, gpu)])
    rows = _best(figures, gpu)
    gpus = figures.gpus[rows].astype(int)
    watts = figures.watts[rows]
    priced = charges(gpu.id, gpus.tolist(), np.nan_to_num(watts / gpus), wishes)
    return [_option(gpu, figures, row, charge, work, wishes) for row, charge in zip(rows.tolist(), priced, strict=True)]


def _requests(some: Sequence[Batch], gpu: Gpu) -> list[tuple[Batch, Request]]:
    return [(batch, on_gpu(batch.request, gpu)) for batch in some]


def _figures(batch: Batch, result: Estimate, request: Request, work: Work) -> _Figures:
    shape = (len(batch.candidates),)
    rate: Any = np.nan
    finish: Any = None
    watts = None
    if result.speed is not None:
        rate = result.speed.tokens_per_second if work.unit == "tokens" else result.speed.samples_per_second
        finish = result.cost.seconds_to_finish
        watts = power_watts(request, result.speed)
    return _Figures(
        batch.candidates,
        np.broadcast_to(np.asarray(request.layout.gpus, dtype=np.float64), shape),
        np.broadcast_to(np.asarray(result.memory.required, dtype=np.float64), shape),
        np.broadcast_to(np.asarray(rate, dtype=np.float64), shape),
        np.broadcast_to(np.asarray(work.amount / rate if finish is None else finish, dtype=np.float64), shape),
        np.broadcast_to(np.asarray(np.nan if watts is None else watts, dtype=np.float64), shape),
        result.status,
    )


def _joined(parts: Sequence[_Figures]) -> _Figures:
    if len(parts) == 1:
        return parts[0]
    return _Figures(
        [one for part in parts for one in part.candidates],
        np.concatenate([part.gpus for part in parts]),
        np.concatenate([part.required for part in parts]),
        np.concatenate([part.rate for part in parts]),
        np.concatenate([part.seconds for part in parts]),
        np.concatenate([part.watts for part in parts]),
        worst(part.status for part in parts),
    )


def _best(figures: _Figures, gpu: Gpu) -> Any:
    """For each number of GPUs the row of its best layout."""
    fits = figures.required <= gpu.memory_bytes
    order = np.lexsort((figures.required, -np.where(fits, np.nan_to_num(figures.rate), 0.0), ~fits, figures.gpus))
    first = np.ones(len(order), dtype=bool)
    first[1:] = figures.gpus[order][1:] != figures.gpus[order][:-1]
    return order[first]


def _option(gpu: Gpu, figures: _Figures, row: int, charge: Charge | None, work: Work, wishes: Wishes) -> Option:
    candidate = figures.candidates[row]
    rate, seconds, watts = (_known(array[row]) for array in (figures.rate, figures.seconds, figures.watts))
    joules = facility_joules(watts * seconds, wishes.values["pue"]) if watts and seconds else None
    grid = _grid(charge, wishes)
    batch = candidate.request.global_batch_size if isinstance(candidate.request, Training) else None
    return Option(
        gpu=gpu,
        gpus=candidate.gpus,
        sets=candidate.sets,
        fits=bool(figures.required[row] <= gpu.memory_bytes),
        required_bytes=float(figures.required[row]),
        status=figures.status,
        rate=rate,
        seconds=seconds,
        charge=charge,
        price=charge.per_hour * seconds / HOUR if charge and seconds else None,
        watts=watts,
        joules=joules,
        grid=grid,
        grams=carbon_grams(joules, grid.grams_per_kwh) if joules and grid else None,
        global_batch_size=None if batch is None else int(batch),
    )


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _grid(charge: Charge | None, wishes: Wishes) -> carbon.Grid | None:
    """The grid that the user names; else that of the offer's region, where its place is known."""
    if wishes.grid is not None:
        return wishes.grid
    if charge is not None and charge.offer is not None:
        return carbon.grid_of_offer(charge.offer.provider, charge.offer.region)
    return None
