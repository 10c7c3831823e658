"""Lesson: number formats, what they can hold, and what they cost."""

import math
from collections.abc import Mapping, Sequence
from html import escape

from pages.ui import charts, labels
from pages.ui.charts import Series
from pages.ui.learn.lesson import Case, Chart, Control, Drawing, Fact, Lesson, Stage, Task, Values, planned
from pages.ui.learn.numbers import scientific
from pages.ui.tables import Column, Tile, table_html, tiles_html
from pages.ui.text import Text
from planner.advice import precisions
from planner.hardware import catalogue
from planner.result import Term
from planner.teaching.answers import Unit
from planner.teaching.formats import BY_ID, FORMATS, NumberFormat
from planner.units import GIB

_BASE = {
    "task": "train",
    "model": "openai-community/gpt2-medium",
    "gpu": "h100-sxm5-80gb",
    "micro_batch_size": 8,
    "sequence_length": 1024,
    "recompute": "none",
}
_OF_FORMAT = {"fp32": "fp32", "tf32": "tf32", "fp16": "amp-fp16", "bf16": "amp-bf16"}
_GRADIENT, _LARGE, _SCALE = 1e-8, 70000.0, 1024
_COMPARED = ("fp32", "fp16", "bf16", "fp8-e4m3")


def _facts() -> Mapping[str, Fact]:
    fp16, bf16, fp32, fp8 = (BY_ID[name] for name in ("fp16", "bf16", "fp32", "fp8-e4m3"))
    full, mixed = planned(_BASE, precision="fp32"), planned(_BASE, precision="amp-bf16")
    scaled = fp16.stored(_GRADIENT * _SCALE)
    return {
        "fp16_largest": Fact("scientific", fp16.largest),
        "fp16_smallest": Fact("scientific", fp16.smallest),
        "bf16_largest": Fact("scientific", bf16.largest),
        "fp32_largest": Fact("scientific", fp32.largest),
        "fp16_gap": Fact("scientific", fp16.epsilon),
        "bf16_gap": Fact("scientific", bf16.epsilon),
        "fp8_largest": Fact("number", fp8.largest, {"decimals": 0}),
        "int8_largest": Fact("number", BY_ID["int8"].largest, {"decimals": 0}),
        "int4_largest": Fact("number", BY_ID["int4"].largest, {"decimals": 0}),
        "gradient": Fact("scientific", _GRADIENT),
        "large": Fact("number", _LARGE, {"decimals": 0}),
        "scale": Fact("number", _SCALE),
        "scaled": Fact("scientific", scaled),
        "restored": Fact("scientific", scaled / _SCALE),
        "memory_fp32": Fact("bytes", full.memory.required),
        "memory_mixed": Fact("bytes", mixed.memory.required),
        "faster": Fact("number", round(mixed.relative_rate(full) or 0.0, 1)),
        "task_value": Fact("number", 2048),
    }


def _answer() -> Fact:
    return Fact("number", BY_ID["bf16"].spacing(2048.0), {"decimals": 0})


def _changes(values: Values) -> Values:
    return {"precision": _OF_FORMAT.get(values["format"], "fp8" if "fp8" in values["format"] else "amp-bf16")}


def _bits_html(text: Text, one: NumberFormat) -> str:
    """The bits of a number, in the three roles they play."""
    widths = [("sign", 1), ("exponent", one.exponent_bits), ("mantissa", one.mantissa_bits)]
    if one.is_integer:
        widths = [("sign", 1), ("mantissa", one.bits - 1)]
    names = {
        "sign": text.p("bits", "sign"),
        "exponent": text.p("bits", "exponent"),
        "mantissa": text.p("bits", "mantissa"),
    }
    cells = "".join(f'<i class="gp-bit gp-bit-{role}"></i>' * count for role, count in widths)
    legend = "".join(
        f'<li><i class="gp-bit gp-bit-{role}"></i>{escape(names[role])} <b>{escape(text.number(count))}</b></li>'
        for role, count in widths
    )
    said = escape(text.join([f"{names[role]} {text.number(count)}" for role, count in widths]), quote=True)
    bits = f'<div class="gp-bits" dir="ltr" role="img" aria-label="{said}">{cells}</div>'
    return f'{bits}<ul class="gp-legend">{legend}</ul>'


def _figure(text: Text, stage: Stage) -> Sequence[Drawing]:
    one, value, scale = BY_ID[stage.values["format"]], stage.values["value"], stage.values["loss_scale"]
    stored = one.stored(value * scale)
    back = stored / scale
    if one.overflows(value * scale):
        fate = text.t("overflow: too large for this format")
    elif one.vanishes(value * scale):
        fate = text.t("underflow: it has become zero")
    else:
        fate = text.t("off by {share}", share=text.percent(abs(back - value) / value, 2))
    tiles = [
        Tile(label=text.t("Comes back as"), value=scientific(text, back, 4), note=fate),
        Tile(label=text.t("Largest value"), value=scientific(text, one.largest)),
        Tile(label=text.t("Smallest above zero"), value=scientific(text, one.smallest)),
        Tile(label=text.t("Gap to the next number"), value=scientific(text, one.spacing(value * scale))),
    ]
    return [_bits_html(text, one) + tiles_html(tiles), _table_html(text), _gaps(text), _costs_html(text, stage)]


def _table_html(text: Text) -> str:
    columns = [
        Column(id="format", label=text.t("Format")),
        Column(id="bits", label=text.p("bits", "bits"), numeric=True),
        Column(id="largest", label=text.t("Largest value"), numeric=True),
        Column(id="smallest", label=text.t("Smallest above zero"), numeric=True),
        Column(id="gap", label=text.t("Gap after 1"), numeric=True),
    ]
    rows = [
        [one.id, one.bits, *(scientific(text, value) for value in (one.largest, one.smallest, one.epsilon))]
        for one in FORMATS
    ]
    return table_html(text, columns, rows, caption=text.t("Every format at a glance"))


def _gaps(text: Text) -> Chart:
    """Distance between neighbours over the size of the number, both in powers of two."""
    exponents = list(range(-26, 19, 2))
    series = []
    for name in _COMPARED:
        one = BY_ID[name]
        values = [math.log2(one.spacing(2.0**e)) if one.smallest <= 2.0**e <= one.largest else None for e in exponents]
        series.append(Series(label=name, values=values))
    title = text.t("The gap between neighbours, over the size of the number")
    figure = charts.line_chart(
        text,
        exponents,
        series,
        x_label=text.t("size: power of two"),
        unit=text.t("gap: power of two"),
        steps=False,
        dark=charts.is_dark(),
    )
    lowest = min(value for one in series for value in one.values if value is not None)
    figure.layout.yaxis.range = [lowest - 3, 18]
    columns = [Column(id="size", label=text.t("size: power of two"), numeric=True)]
    columns += [Column(id=one.label, label=one.label, numeric=True) for one in series]
    rows = [[exponent, *(one.values[place] for one in series)] for place, exponent in enumerate(exponents)]
    return Chart(id="gaps", title=title, alt=title, figure=figure, columns=columns, rows=rows)


def _costs_html(text: Text, stage: Stage) -> str:
    """Memory and speed of the same training in each precision."""
    slowest = planned(_BASE, precision="fp32")
    columns = [
        Column(id="precision", label=text.t("Precision")),
        Column(id="memory", label=text.t("Memory"), unit="GiB", numeric=True),
        Column(id="speed", label=text.t("Speed, fp32 = 1"), numeric=True),
    ]
    rows = []
    for row in precisions.compare(stage.plan):
        if row.id in _COSTS and row.estimate is not None:
            size, rate = row.estimate.memory.required / GIB, row.estimate.relative_rate(slowest)
            rows.append([labels.choice(text, "precision", row.id), round(size, 1), round(rate or 0.0, 2)])
    gpu = catalogue.gpu(stage.plan.values["gpu"]).name
    caption = text.t("Training {model} on {gpu}", model=stage.plan.spec.name, gpu=gpu)
    return table_html(text, columns, rows, caption=caption)


_COSTS = ("fp32", "tf32", "amp-fp16", "amp-bf16", "bf16", "fp8")


def _terms(stage: Stage) -> Sequence[Term]:
    shown = ("mem.weights", "mem.weights.copies", "mem.activations", "mem.optimizer")
    return [term for term in stage.result.memory.parts if term.id in shown]


LESSON = Lesson(
    id="precision",
    base=_BASE,
    changes=_changes,
    controls=(
        Control(id="format", options=tuple(one.id for one in FORMATS), default="fp16"),
        Control(id="value", options=(1e-8, 1e-4, 0.1, 1.0, 300.0, 70000.0), default=1e-8),
        Control(id="loss_scale", options=(1, 1024, 65536), default=1),
    ),
    figure=_figure,
    facts=_facts,
    terms=_terms,
    task=Task(unit=Unit.COUNT, answer=_answer, tolerance=0.01),
    case=Case(
        source="redhat-performance/configiq, issue 112",
        url="https://github.com/redhat-performance/configiq/issues/112",
        facts={"case_said": Fact("number", 2684804), "case_measured": Fact("number", 1007303)},
    ),
)
