"""Lesson: GPU against CPU, and the roofline."""

from collections.abc import Mapping, Sequence

from pages.ui import charts
from pages.ui.charts import Mark, Series
from pages.ui.learn import figures
from pages.ui.learn.lesson import Case, Chart, Control, Drawing, Fact, Lesson, Stage, Task, planned
from pages.ui.tables import Column, Tile, tiles_html
from pages.ui.text import Text
from planner.advice import processors
from planner.hardware import catalogue, cpus, links
from planner.plan.plan import resolve
from planner.plan.request import request_of
from planner.result import Term
from planner.teaching.answers import Unit
from planner.teaching.roofline import intensity_of, product, ridge, roof
from planner.throughput.cpu import as_device
from planner.throughput.roofline import Machine, machine
from planner.units import GIB, TERA

_BASE = {
    "task": "train",
    "model": "google-bert/bert-base-uncased",
    "precision": "amp-bf16",
    "micro_batch_size": 32,
    "sequence_length": 128,
    "recompute": "none",
}
_GPU, _CPU, _WIDTH = "rtx-4090", "ryzen-9-7950x", 4096
_SERVE = {"task": "serve", "model": "meta-llama/Llama-3.1-8B", "concurrency": 1, "gpu": _GPU}
_INTENSITIES = tuple(2.0**power for power in range(-2, 13))


def _gpu(name: str) -> Machine:
    return machine(catalogue.gpu(name), "fp16")


def _cpu(name: str) -> Machine:
    return machine(as_device(cpus.cpu(name)), "bf16")


def _times_slower(base: Mapping[str, object]) -> float:
    """How many times slower the processor does the plan's work."""
    plan = resolve(base)
    rows = processors.compare(request_of(plan), planned(plan.chosen))
    ratio = next(row.ratio for row in rows if row.cpu.id == _CPU)
    return 1 / ratio if ratio else 0.0


def _facts() -> Mapping[str, Fact]:
    gpu, cpu, card = _gpu(_GPU), _cpu(_CPU), catalogue.gpu(_GPU)
    copying = GIB / links.host_bandwidth(card)
    adding = 3 * GIB / cpu.bandwidth
    one, many = (product(gpu, rows, _WIDTH) for rows in (1, 1024))
    return {
        "gpu_rate": Fact("scaled", gpu.flops, {"unit": "FLOP/s"}),
        "cpu_rate": Fact("scaled", cpu.flops, {"unit": "FLOP/s"}),
        "rate_ratio": Fact("number", round(gpu.flops / cpu.flops)),
        "gpu_bandwidth": Fact("scaled", gpu.bandwidth, {"unit": "B/s"}),
        "cpu_bandwidth": Fact("scaled", cpu.bandwidth, {"unit": "B/s"}),
        "bandwidth_ratio": Fact("number", round(gpu.bandwidth / cpu.bandwidth)),
        "gpu_ridge": Fact("number", round(ridge(gpu))),
        "cpu_ridge": Fact("number", round(ridge(cpu))),
        "width": Fact("number", _WIDTH),
        "rows": Fact("number", 1024),
        "intensity_one": Fact("number", round(one.intensity, 1)),
        "intensity_many": Fact("number", round(many.intensity)),
        "reached_one": Fact("scaled", one.rate, {"unit": "FLOP/s"}),
        "reached_many": Fact("scaled", many.rate, {"unit": "FLOP/s"}),
        "training": Fact("number", round(_times_slower({**_BASE, "gpu": _GPU}))),
        "answering": Fact("number", round(_times_slower(_SERVE))),
        "copying": Fact("seconds", 3 * copying),
        "adding": Fact("seconds", adding),
        "vector": Fact("bytes", GIB),
        "task_rows": Fact("number", 64),
    }


def _answer() -> Fact:
    return Fact("number", round(intensity_of(64, _WIDTH), 1))


def _figure(text: Text, stage: Stage) -> Sequence[Drawing]:
    values = stage.values
    gpu, cpu = _gpu(values["gpu"]), _cpu(values["cpu"])
    rows, width = values["rows"], values["width"]
    on_gpu, on_cpu = product(gpu, rows, width), product(cpu, rows, width)
    limit = text.p("bound", "compute") if on_gpu.intensity >= ridge(gpu) else text.p("bound", "memory bandwidth")
    tiles = [
        Tile(label=text.t("FLOP for each byte"), value=text.number(on_gpu.intensity)),
        Tile(
            label=text.t("Reached on the GPU"),
            value=text.scaled(on_gpu.rate, "FLOP/s"),
            note=text.t("bound by {bound}", bound=limit),
        ),
        Tile(label=text.t("Reached on the processor"), value=text.scaled(on_cpu.rate, "FLOP/s")),
        Tile(label=text.t("GPU over processor"), value=text.number(on_gpu.rate / on_cpu.rate)),
    ]
    names = (catalogue.gpu(values["gpu"]).name, cpus.cpu(values["cpu"]).name)
    marks = [Mark(x=on_gpu.intensity, y=on_gpu.rate / TERA), Mark(x=on_cpu.intensity, y=on_cpu.rate / TERA)]
    return [tiles_html(tiles), _roofline(text, dict(zip(names, (gpu, cpu), strict=True)), marks)]


def _roofline(text: Text, machines: Mapping[str, Machine], marks: Sequence[Mark]) -> Chart:
    title, axis = text.t("Roofline"), text.t("FLOP for each byte moved")
    series = [
        Series(label=name, values=[roof(on, intensity) / TERA for intensity in _INTENSITIES])
        for name, on in machines.items()
    ]
    figure = charts.line_chart(
        text, _INTENSITIES, series, x_label=axis, unit="TFLOP/s", marks=marks, steps=False, dark=charts.is_dark()
    )
    figures.logarithmic(figure)
    columns = [Column(id="intensity", label=axis, numeric=True)]
    columns += [Column(id=one.label, label=one.label, unit="TFLOP/s", numeric=True) for one in series]
    rows = [[x, *(round(one.values[at] or 0.0, 3) for one in series)] for at, x in enumerate(_INTENSITIES)]
    return Chart(
        id="roofline",
        title=title,
        alt=text.t("Most that each device reaches, over FLOP for each byte; the marks are this product on both."),
        figure=figure,
        columns=columns,
        rows=rows,
    )


def _terms(stage: Stage) -> Sequence[Term]:
    speed = stage.result.speed
    return [term for term in speed.parts if term.value > 0] if speed else []


LESSON = Lesson(
    id="processors",
    base=_BASE,
    controls=(
        Control(id="rows", options=(1, 4, 16, 64, 256, 1024, 4096), default=1),
        Control(id="width", options=(256, 1024, 4096, 8192), default=_WIDTH),
        Control(id="gpu", options=("t4", "rtx-4090", "a100-sxm4-80gb", "h100-sxm5-80gb"), default=_GPU),
        Control(id="cpu", options=("laptop-4-core", _CPU, "epyc-9654", "xeon-8480plus"), default=_CPU),
    ),
    changes=lambda values: {"precision": "amp-fp16"},
    figure=_figure,
    facts=_facts,
    terms=_terms,
    task=Task(unit=Unit.COUNT, answer=_answer, tolerance=0.05),
    case=Case(
        source="AlexsJones/llmfit, issue 464",
        url="https://github.com/AlexsJones/llmfit/issues/464",
        facts={"case_said": Fact("tokens_per_second", 337), "case_measured": Fact("tokens_per_second", 16.3)},
    ),
)
