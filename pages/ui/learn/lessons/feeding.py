"""Lesson: feeding the GPU."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pages.ui import words
from pages.ui.learn.lesson import Case, Control, Drawing, Fact, Lesson, Stage, Task, part, planned
from pages.ui.learn.timeline import Block, Lane, timeline_html
from pages.ui.tables import Tile, tiles_html
from pages.ui.text import Text
from planner.plan.plan import Plan, resolve
from planner.plan.request import request_of
from planner.result import Term
from planner.teaching.answers import Unit
from planner.throughput.input_pipeline import copy_seconds, loading_seconds

_BATCH = 256
_BASE = {
    "task": "train",
    "model": "timm/resnet50",
    "gpu": "a100-sxm4-80gb",
    "micro_batch_size": _BATCH,
    "precision": "amp-bf16",
    "sample_kib": 110.0,
}
_START = {"workers": 2, "decode_ms": 8.0, "storage_gbs": 5.0, "pinned": False, "overlapped": False}
_FED = {**_START, "workers": 32, "pinned": True, "overlapped": True}


@dataclass(frozen=True, slots=True)
class _Times:
    """Seconds of one step: the GPU's own work, preparing and copying a batch, and the whole step."""

    busy: float
    loading: float
    copying: float
    period: float

    @property
    def waiting(self) -> float:
        return self.period - self.busy


def _times(plan: Plan) -> _Times:
    request, result = request_of(plan), planned(plan.chosen)
    if result.speed is None:
        raise ValueError("the lesson's GPUs have known speeds")
    period = float(result.speed.seconds)
    waiting = sum(float(term.value) for term in result.speed.parts if term.id == "time.input")
    inputs, cluster = request.input_pipeline, request.cluster
    copied = part(result, "mem.batch")
    return _Times(
        busy=period - waiting,
        loading=float(loading_seconds(inputs, cluster, _BATCH)),
        copying=float(copy_seconds(inputs, cluster, copied)),
        period=period,
    )


def _of(**changes: object) -> _Times:
    return _times(resolve({**_BASE, **_START, **changes}))


def _rate(times: _Times) -> float:
    return _BATCH / times.period


def _facts() -> Mapping[str, Fact]:
    start, more, many, fed = _of(), _of(workers=8), _of(workers=32), _of(**_FED)
    return {
        "batch": Fact("number", _BATCH),
        "busy": Fact("seconds", start.busy),
        "decode": Fact("seconds", _START["decode_ms"] / 1000),
        "workers": Fact("number", _START["workers"]),
        "more_workers": Fact("number", 8),
        "many_workers": Fact("number", 32),
        "loading": Fact("seconds", start.loading),
        "rate_start": Fact("samples_per_second", _rate(start)),
        "rate_more": Fact("samples_per_second", _rate(more)),
        "rate_many": Fact("samples_per_second", _rate(many)),
        "rate_fed": Fact("samples_per_second", _rate(fed)),
        "idle_start": Fact("percent", start.waiting / start.period),
        "batch_bytes": Fact("bytes", part(planned({**_BASE, **_START}), "mem.batch"), {"unit": "MiB"}),
        "copy_pageable": Fact("seconds", start.copying),
        "copy_pinned": Fact("seconds", _of(pinned=True).copying),
        "gain": Fact("number", round(_rate(fed) / _rate(start), 1)),
    }


def _answer() -> Fact:
    return Fact("number", math.ceil(_rate(_of(**_FED)) * _START["decode_ms"] / 1000))


def _lanes(text: Text, times: _Times, overlapped: bool) -> tuple[Lane, ...]:
    loading = Lane(text.t("Processor: load and decode"), (Block(0, times.loading, "load"),))
    if overlapped:
        start = min(max(0.0, times.loading - times.copying), times.period - times.copying)
        copying, computing = Block(start, times.copying, "copy"), Block(0, times.busy, "compute")
        waiting = Block(times.busy, times.waiting, "wait")
    else:
        copying = Block(0, times.copying, "copy")
        computing = Block(times.copying, times.busy, "compute")
        waiting = Block(times.copying + times.busy, times.period - times.copying - times.busy, "wait")
    return (
        loading,
        Lane(text.t("Copy to the GPU"), (copying,)),
        Lane(text.t("GPU: computing, and waiting"), (computing, waiting)),
    )


def _figure(text: Text, stage: Stage) -> Sequence[Drawing]:
    times, values = _times(stage.plan), stage.values
    idle = text.percent(times.waiting / times.period)
    speed = stage.result.speed
    said = text.t("In each step the GPU waits {share} of the time.", share=idle)
    tiles = [
        Tile(label=text.t("Throughput"), value=text.samples_per_second(_rate(times))),
        Tile(label=text.t("GPU waiting"), value=idle),
        Tile(label=text.t("Step time"), value=text.seconds(times.period)),
        Tile(label=text.t("Bound by"), value=words.bound(text, speed.bound if speed else "input")),
    ]
    lanes = _lanes(text, times, values["overlapped"])
    window = 2 * _of().period
    return [timeline_html(text, lanes, period=times.period, window=window, said=said), tiles_html(tiles)]


def _terms(stage: Stage) -> Sequence[Term]:
    speed = stage.result.speed
    return [term for term in speed.parts if term.value > 0 or term.id == "time.input"] if speed else []


LESSON = Lesson(
    id="feeding",
    base=_BASE,
    controls=(
        Control(id="workers", options=(1, 2, 4, 8, 16, 32), default=_START["workers"]),
        Control(id="decode_ms", options=(8.0, 4.0, 1.0), default=_START["decode_ms"]),
        Control(id="storage_gbs", options=(0.5, 1.0, 5.0), default=_START["storage_gbs"]),
        Control(id="pinned", options=(False, True), default=False),
        Control(id="overlapped", options=(False, True), default=False),
    ),
    figure=_figure,
    facts=_facts,
    terms=_terms,
    task=Task(unit=Unit.COUNT, answer=_answer, tolerance=0.06),
    case=Case(
        source="Gao et al., An Empirical Study on Low GPU Utilization of Deep Learning Jobs, ICSE 2024",
        url="https://doi.org/10.1145/3597503.3639232",
        facts={
            "case_jobs": Fact("number", 400),
            "case_half": Fact("percent", 0.50),
            "case_causes": Fact("number", 706),
            "case_data": Fact("percent", 0.46),
            "case_small": Fact("percent", 0.85),
        },
    ),
)
