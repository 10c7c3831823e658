"""Lesson: sharding a model over GPUs."""

from collections.abc import Mapping, Sequence
from typing import Any

from pages.ui.learn import figures, holdings
from pages.ui.learn.lesson import Case, Control, Drawing, Fact, Lesson, Stage, Task, Values, part, planned
from pages.ui.tables import Tile, tiles_html
from pages.ui.text import Text
from planner.result import Estimate, Term
from planner.teaching.answers import Unit
from planner.units import GIB

_BASE = {
    "task": "train",
    "model": "meta-llama/Llama-3.1-8B",
    "gpu": "h100-sxm5-80gb",
    "precision": "bf16-master",
    "micro_batch_size": 1,
    "sequence_length": 2048,
    "recompute": "full",
}
_EXPERTS = "allenai/OLMoE-1B-7B-0924"
_LAYOUTS = ("ddp", "zero1", "zero2", "fsdp", "tensor", "pipeline", "expert")
_STATES = ("mem.weights", "mem.gradients", "mem.optimizer")
_GPUS, _PASSES = 8, 8


def _layout(layout: str, gpus: int) -> dict[str, Any]:
    special: dict[str, dict[str, Any]] = {
        "ddp": {"sharding": "none"},
        "tensor": {"sharding": "none", "tensor_parallel": gpus},
        "pipeline": {"sharding": "none", "pipeline_parallel": gpus, "gradient_accumulation_steps": _PASSES},
        "expert": {"sharding": "zero1", "expert_parallel": gpus, "model": _EXPERTS},
    }
    return {"gpus": gpus, **special.get(layout, {"sharding": layout})}


def _with(layout: str, gpus: int = _GPUS) -> Estimate:
    return planned({**_BASE, **_layout(layout, gpus)})


def _share(result: Estimate, *ids: str) -> float:
    """Share of the step that the named parts of time take."""
    if result.speed is None:
        return 0.0
    return float(sum(term.value for term in result.speed.parts if term.id in ids) / result.speed.seconds)


def _facts() -> Mapping[str, Fact]:
    ddp, pipeline = _with("ddp"), _with("pipeline")
    required = {f"need_{layout}": _with(layout).memory.required for layout in ("ddp", "zero1", "zero2", "fsdp")}
    return {
        "weights": Fact("bytes", part(ddp, "mem.weights")),
        "gradients": Fact("bytes", part(ddp, "mem.gradients")),
        "states": Fact("bytes", part(ddp, "mem.optimizer")),
        "together": Fact("bytes", part(ddp, *_STATES)),
        "card": Fact("bytes", ddp.memory.capacity),
        "gpus": Fact("number", _GPUS),
        **{name: Fact("bytes", size) for name, size in required.items()},
        "gathered": Fact("bytes", part(_with("fsdp"), "mem.gathered")),
        "tensor_waits": Fact("percent", _share(_with("tensor"), "time.communication")),
        "bubble": Fact("percent", _share(pipeline, "time.bubble")),
        "passes": Fact("number", _PASSES),
    }


def _answer() -> Fact:
    return Fact("bytes", part(_with("zero2"), *_STATES))


def _figure(text: Text, stage: Stage) -> Sequence[Drawing]:
    layout, gpus, result = stage.values["layout"], stage.values["gpus"], stage.result
    tiles = [Tile(label=text.t("Training state on each GPU"), value=text.bytes(part(result, *_STATES)))]
    if result.speed is not None:
        waits, bubble = _share(result, "time.communication"), _share(result, "time.bubble")
        hidden = sum(float(term.value) for term in result.speed.hidden)
        hidden_note = text.t("{time} more behind computing", time=text.seconds(hidden)) if hidden else ""
        tiles += [
            Tile(label=text.t("Waiting for communication"), value=text.percent(waits), note=hidden_note),
            Tile(label=text.t("Idle in the pipeline bubble"), value=text.percent(bubble)),
            Tile(label=text.t("Throughput"), value=text.tokens_per_second(result.speed.tokens_per_second)),
        ]
    return [holdings.picture_html(text, layout, gpus), figures.memory_html(text, result), tiles_html(tiles)]


def _terms(stage: Stage) -> Sequence[Term]:
    result = stage.result
    time = [term for term in result.speed.parts if term.value > 0] if result.speed else []
    return [*(term for term in result.memory.parts if term.value > 0), *time]


def _changes(values: Values) -> Values:
    return _layout(values["layout"], values["gpus"])


LESSON = Lesson(
    id="sharding",
    base=_BASE,
    changes=_changes,
    controls=(Control(id="layout", options=_LAYOUTS, default="ddp"), Control(id="gpus", options=(2, 4, 8), default=4)),
    figure=_figure,
    facts=_facts,
    terms=_terms,
    task=Task(unit=Unit.BYTES, answer=_answer, tolerance=0.04),
    case=Case(
        source="pytorch/torchtitan, benchmarks of December 2024",
        url="https://github.com/pytorch/torchtitan/blob/main/benchmarks/llama3_h100_202412_torchtitan.md",
        facts={
            "case_few": Fact("number", 8),
            "case_many": Fact("number", 128),
            "case_memory_few": Fact("bytes", 82.4 * GIB),
            "case_memory_many": Fact("bytes", 67.0 * GIB),
            "case_rate_few": Fact("tokens_per_second", 5762),
            "case_rate_many": Fact("tokens_per_second", 5605),
        },
    ),
)
