"""Lesson: several GPUs, and why eight are not eight times as fast."""

from collections.abc import Mapping, Sequence

from pages.ui import charts
from pages.ui.charts import Mark, Series
from pages.ui.learn.lesson import Case, Chart, Control, Drawing, Fact, Lesson, Stage, Task, part, planned
from pages.ui.tables import Column, Tile, tiles_html
from pages.ui.text import Text
from planner import sweep
from planner.plan.plan import resolve
from planner.result import Estimate, Term, total
from planner.sweep import Curve
from planner.teaching.answers import Unit

_BASE = {
    "task": "train",
    "model": "openai-community/gpt2-medium",
    "precision": "amp-bf16",
    "sequence_length": 512,
    "recompute": "none",
    "sharding": "none",
}
_SHOWN = {**_BASE, "gpu": "rtx-4090", "micro_batch_size": 4}
_FAST = {**_SHOWN, "gpu": "h100-sxm5-80gb"}
_GPUS = 8


def _seconds(result: Estimate) -> float:
    return float(result.speed.seconds) if result.speed else 0.0


def _curve(**changes: object) -> Curve:
    return sweep.over_gpus(resolve({**_SHOWN, "gpus": _GPUS, **changes}))


def _efficiency(curve: Curve, gpus: int) -> float:
    return curve.efficiency[curve.x.index(gpus)] or 0.0


def _facts() -> Mapping[str, Fact]:
    one, eight = planned(_SHOWN, gpus=1), planned(_SHOWN, gpus=_GPUS)
    fast, slow = _curve(gpu=_FAST["gpu"]), _curve()
    gradients = part(eight, "mem.gradients")
    waited = total(term for term in eight.speed.parts if term.id == "time.communication") if eight.speed else 0.0
    hidden = total(eight.speed.hidden) if eight.speed else 0.0
    return {
        "gpus": Fact("number", _GPUS),
        "speedup": Fact("number", round(_GPUS * _efficiency(slow, _GPUS), 1)),
        "gradients": Fact("bytes", gradients),
        "sent": Fact("bytes", 2 * (_GPUS - 1) / _GPUS * gradients),
        "step_one": Fact("seconds", _seconds(one)),
        "step_eight": Fact("seconds", _seconds(eight)),
        "waited": Fact("seconds", float(waited)),
        "hidden": Fact("seconds", float(hidden)),
        "fast_efficiency": Fact("percent", _efficiency(fast, _GPUS)),
        "sixteen": Fact("number", 16),
        "across": Fact("percent", _efficiency(slow, 16)),
        "large_batch": Fact("number", 16),
        "large_efficiency": Fact("percent", _efficiency(_curve(micro_batch_size=16), _GPUS)),
    }


def _answer() -> Fact:
    return Fact("percent", _efficiency(_curve(), _GPUS))


def _figure(text: Text, stage: Stage) -> Sequence[Drawing]:
    result, curve = stage.result, sweep.over_gpus(stage.plan)
    gpus = stage.plan.values["gpus"]
    tiles = [Tile(label=text.t("Scaling efficiency"), value=text.percent(_efficiency(curve, gpus)))]
    if result.speed is not None:
        waited = total(term for term in result.speed.parts if term.id == "time.communication")
        tiles += [
            Tile(label=text.t("Step time"), value=text.seconds(result.speed.seconds)),
            Tile(label=text.t("Waiting for communication"), value=text.seconds(waited)),
            Tile(label=text.t("Hidden behind computing"), value=text.seconds(total(result.speed.hidden))),
        ]
    return [tiles_html(tiles), _speedup_chart(text, curve), _efficiency_chart(text, curve)]


def _speedup_chart(text: Text, curve: Curve) -> Chart:
    axis, title = text.t("Number of GPUs"), text.t("Times as fast as one GPU")
    real = [gpus * (share or 0.0) for gpus, share in zip(curve.x, curve.efficiency, strict=True)]
    ideal = [float(gpus) for gpus in curve.x]
    figure = charts.line_chart(
        text,
        curve.x,
        [Series(label=text.t("as computed"), values=real), Series(label=text.t("if nothing were lost"), values=ideal)],
        x_label=axis,
        unit="×",
        marks=[Mark(x=curve.present, y=real[curve.x.index(curve.present)])],
        dark=charts.is_dark(),
    )
    columns = [Column(id="gpus", label=axis, numeric=True), Column(id="times", label=title, numeric=True)]
    rows = [[gpus, round(times, 2)] for gpus, times in zip(curve.x, real, strict=True)]
    return Chart(id="speedup", title=title, alt=title, figure=figure, columns=columns, rows=rows)


def _efficiency_chart(text: Text, curve: Curve) -> Chart:
    axis, title = text.t("Number of GPUs"), text.t("Scaling efficiency")
    shares = [100 * (share or 0.0) for share in curve.efficiency]
    figure = charts.line_chart(
        text,
        curve.x,
        [Series(label=title, values=shares)],
        x_label=axis,
        unit="%",
        marks=[Mark(x=curve.present, y=shares[curve.x.index(curve.present)])],
        decimals=0,
        dark=charts.is_dark(),
    )
    columns = [Column(id="gpus", label=axis, numeric=True), Column(id="share", label=title, unit="%", numeric=True)]
    rows = [[gpus, round(share, 1)] for gpus, share in zip(curve.x, shares, strict=True)]
    return Chart(id="efficiency", title=title, alt=title, figure=figure, columns=columns, rows=rows)


def _terms(stage: Stage) -> Sequence[Term]:
    speed = stage.result.speed
    return [term for term in (*speed.parts, *speed.hidden) if term.value > 0] if speed else []


LESSON = Lesson(
    id="scaling",
    base=_BASE,
    controls=(
        Control(id="gpus", options=(1, 2, 4, 8, 16, 32, 64), default=_GPUS),
        Control(id="gpu", options=("rtx-4090", "a100-sxm4-80gb", "h100-sxm5-80gb"), default="rtx-4090"),
        Control(id="micro_batch_size", options=(1, 2, 4, 8, 16), default=4),
    ),
    figure=_figure,
    facts=_facts,
    terms=_terms,
    task=Task(unit=Unit.PERCENT, answer=_answer, tolerance=0.05),
    case=Case(
        source="pytorch/torchtitan, benchmarks of December 2024",
        url="https://github.com/pytorch/torchtitan/blob/main/benchmarks/llama3_h100_202412_torchtitan.md",
        facts={
            "case_gpus": Fact("number", 512),
            "case_before": Fact("number", 100),
            "case_after": Fact("number", 128),
            "case_lost": Fact("percent", 1 - 100 / 128),
        },
    ),
)
