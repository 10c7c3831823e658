"""Lesson: batch size."""

from collections.abc import Mapping, Sequence

from pages.ui.learn import figures
from pages.ui.learn.lesson import Case, Control, Drawing, Fact, Lesson, Stage, Task, planned
from pages.ui.tables import Tile, tiles_html
from pages.ui.text import Text
from planner import sweep
from planner.plan.plan import resolve
from planner.plan.request import request_of
from planner.result import Term
from planner.teaching.answers import Unit
from planner.units import GIGA

_BASE = {"task": "train", "precision": "amp-bf16", "sequence_length": 512, "recompute": "none"}
_SHOWN = {**_BASE, "model": "meta-llama/Llama-3.2-1B", "gpu": "a100-sxm4-80gb"}
_SIZES = (1, 2, 4, 8, 16, 32, 64)


def _facts() -> Mapping[str, Fact]:
    at = {batch: planned(_SHOWN, micro_batch_size=batch) for batch in (1, 8, 16, 32)}
    curve = sweep.over_batch(request_of(resolve({**_SHOWN, "micro_batch_size": 8})))
    rates = {batch: result.speed.tokens_per_second for batch, result in at.items() if result.speed}
    accumulated = planned(_SHOWN, micro_batch_size=8, gradient_accumulation_steps=8)
    return {
        "rate_one": Fact("tokens_per_second", rates[1]),
        "rate_eight": Fact("tokens_per_second", rates[8]),
        "mfu_one": Fact("percent", at[1].speed.mfu if at[1].speed else 0.0),
        "mfu_large": Fact("percent", at[32].speed.mfu if at[32].speed else 0.0),
        "knee": Fact("number", curve.knee or 0),
        "knee_gain": Fact("percent", rates[32] / rates[16] - 1),
        "knee_share": Fact("percent", sweep.KNEE),
        "first_gain": Fact("number", round(rates[8] / rates[1], 1)),
        "memory_eight": Fact("bytes", at[8].memory.required),
        "memory_sixteen": Fact("bytes", at[16].memory.required),
        "memory_accumulated": Fact("bytes", accumulated.memory.required),
        "steps": Fact("number", 8),
        "global": Fact("number", 64),
        "eight": Fact("number", 8),
        "sixteen": Fact("number", 16),
        "double": Fact("number", 32),
    }


def _answer() -> Fact:
    return Fact("bytes", planned(_SHOWN, micro_batch_size=32).memory.required)


def _figure(text: Text, stage: Stage) -> Sequence[Drawing]:
    result, axis = stage.result, text.t("Micro-batch size")
    curve = sweep.over_batch(request_of(stage.plan))
    unit = text.p("unit", "tokens/s")
    values = stage.plan.values
    whole = values["micro_batch_size"] * values["gradient_accumulation_steps"]
    tiles = [
        Tile(
            label=text.t("Batch that the optimizer sees"),
            value=text.number(whole),
            note=text.t("micro-batch size times accumulation steps"),
        )
    ]
    if result.speed is not None:
        peak = text.t("of the card's peak")
        tiles.append(Tile(label=text.t("Step time"), value=text.seconds(result.speed.seconds)))
        tiles.append(Tile(label=text.t("Throughput"), value=text.tokens_per_second(result.speed.tokens_per_second)))
        tiles.append(Tile(label=text.t("Utilisation (MFU)"), value=text.percent(result.speed.mfu or 0.0), note=peak))
    return [
        figures.memory_html(text, result),
        tiles_html(tiles),
        figures.memory_chart(text, curve, id="batch", axis=axis),
        figures.rate_chart(text, curve, id="batch", axis=axis, unit=unit, knee=True),
    ]


def _terms(stage: Stage) -> Sequence[Term]:
    result = stage.result
    time = [term for term in result.speed.parts if term.value > 0] if result.speed else []
    return [*(term for term in result.memory.parts if "activations" in term.id), *time]


LESSON = Lesson(
    id="batch",
    base=_BASE,
    controls=(
        Control(id="micro_batch_size", options=_SIZES, default=8),
        Control(id="gradient_accumulation_steps", options=(1, 2, 4, 8, 16), default=1),
        Control(
            id="model",
            options=("google-bert/bert-large-uncased", "openai-community/gpt2-medium", "meta-llama/Llama-3.2-1B"),
            default="meta-llama/Llama-3.2-1B",
        ),
        Control(
            id="gpu",
            options=("rtx-3060-12gb", "rtx-4090", "a100-sxm4-80gb", "h100-sxm5-80gb"),
            default="a100-sxm4-80gb",
        ),
    ),
    figure=_figure,
    facts=_facts,
    terms=_terms,
    task=Task(unit=Unit.BYTES, answer=_answer, tolerance=0.03),
    case=Case(
        source="huggingface/trl, pull request 6092",
        url="https://github.com/huggingface/trl/pull/6092",
        facts={
            "case_memory_four": Fact("scaled", 37.0 * GIGA, {"unit": "B"}),
            "case_memory_eight": Fact("scaled", 44.4 * GIGA, {"unit": "B"}),
            "case_rate_four": Fact("tokens_per_second", 5538),
            "case_rate_eight": Fact("tokens_per_second", 5235),
        },
    ),
)
