"""Lesson: watching the GPU, and setting up its environment."""

from collections.abc import Mapping, Sequence
from html import escape

from pages.ui import charts
from pages.ui.charts import Series
from pages.ui.learn import names
from pages.ui.learn.lesson import Case, Chart, Control, Drawing, Fact, Lesson, Stage, Task, planned
from pages.ui.learn.traces import MADE_UP, Recording, recordings
from pages.ui.tables import Column, Tile, tiles_html
from pages.ui.text import Text
from planner.environment.compatibility import driver_for, rows
from planner.hardware import catalogue
from planner.result import Term
from planner.teaching.answers import Unit

_CAUSES = {"a": "working", "b": "held", "c": "under", "d": "starved"}
"""What each recording shows."""

_GPU = "h100-sxm5-80gb"
_BASE = {
    "task": "train",
    "model": "openai-community/gpt2",
    "gpu": _GPU,
    "precision": "amp-bf16",
    "sequence_length": 1024,
    "recompute": "none",
}
_CUDA = "12.8"


def _facts() -> Mapping[str, Fact]:
    a, b, c = (recordings()[name] for name in "abc")
    small, large = planned(_BASE, micro_batch_size=1), planned(_BASE, micro_batch_size=16)
    need = driver_for(_CUDA)
    built = next(row for row in rows("pytorch") if row.cuda == _CUDA)
    return {
        "power_a": Fact("scaled", a.median_power, {"unit": "W"}),
        "power_c": Fact("scaled", c.median_power, {"unit": "W"}),
        "busy_c": Fact("percent", c.mean_utilisation),
        "limit": Fact("scaled", catalogue.gpu(_GPU).power_watts or 0.0, {"unit": "W"}),
        "held_b": Fact("bytes", b.memory or 0.0),
        "mfu_small": Fact("percent", small.speed.mfu if small.speed else 0.0),
        "mfu_large": Fact("percent", large.speed.mfu if large.speed else 0.0),
        "cuda": Fact("isolate", f"CUDA {_CUDA}"),
        "driver_full": Fact("isolate", need.full if need else ""),
        "driver_least": Fact("isolate", need.least if need else ""),
        "framework": Fact("isolate", built.name),
        "cudnn": Fact("isolate", f"cuDNN {built.cudnn}"),
    }


def _answer() -> Fact:
    return Fact("percent", recordings()["c"].median_power / recordings()["a"].median_power)


def _figure(text: Text, stage: Stage) -> Sequence[Drawing]:
    name, guess = stage.values["trace"], stage.values["guess"]
    one = recordings()[name]
    memory = "–" if one.memory is None else text.bytes(one.memory)
    tiles = [
        Tile(label=text.t("Time with a kernel running"), value=text.percent(one.mean_utilisation), note=text.t("mean")),
        Tile(label=text.t("Power"), value=text.scaled(one.median_power, "W"), note=text.t("median")),
        Tile(
            label=text.t("Memory in use"),
            value=memory,
            note=text.t("largest") if one.memory else text.t("not recorded"),
        ),
    ]
    return [
        tiles_html(tiles) + _verdict_html(text, name, guess),
        _chart(text, one, "utilisation", text.t("Time with a kernel running"), "%", name),
        _chart(text, one, "power", text.t("Power"), "W", name),
    ]


def _verdict_html(text: Text, name: str, guess: str) -> str:
    origin = text.t("This recording is made up.") if name in MADE_UP else text.t("A real recording, thinned out.")
    note = f'<p class="gp-note">{escape(origin)}</p>'
    if guess == "open":
        return note
    right = guess == _CAUSES[name]
    said = names.cause(text, guess) if right else text.t("That does not match what is seen. Look again.")
    return f'{note}<p class="gp-verdict gp-{"fits" if right else "tight"}">{escape(said)}</p>'


def _chart(text: Text, one: Recording, kind: str, title: str, unit: str, name: str) -> Chart:
    values = getattr(one, kind)
    axis = text.t("Seconds")
    figure = charts.line_chart(
        text,
        one.seconds,
        [Series(label=title, values=values)],
        x_label=axis,
        unit=unit,
        steps=False,
        dark=charts.is_dark(),
    )
    columns = [Column(id="second", label=axis, numeric=True), Column(id=kind, label=title, unit=unit, numeric=True)]
    rows_of = list(zip(one.seconds, values, strict=True))
    return Chart(id=f"trace-{kind}", title=title, alt=title, figure=figure, columns=columns, rows=rows_of)


def _terms(stage: Stage) -> Sequence[Term]:
    speed = stage.result.speed
    return [term for term in speed.parts if term.value > 0] if speed else []


LESSON = Lesson(
    id="watching",
    base={**_BASE, "micro_batch_size": 1},
    controls=(
        Control(id="trace", options=("a", "b", "c", "d"), default="a"),
        Control(id="guess", options=("open", "working", "under", "starved", "held"), default="open"),
    ),
    figure=_figure,
    facts=_facts,
    terms=_terms,
    task=Task(unit=Unit.PERCENT, answer=_answer, tolerance=0.05),
    case=Case(
        source="karpathy/nanoGPT, recordings in pull request 643",
        url="https://github.com/karpathy/nanoGPT/pull/643",
        facts={"case_gpus": Fact("number", 8), "case_low": Fact("number", 54), "case_high": Fact("percent", 0.61)},
    ),
)
