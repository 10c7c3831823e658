"""Lesson: saving memory, and what each saving trades."""

from collections.abc import Mapping, Sequence
from typing import Any

from pages.ui.learn import figures, names
from pages.ui.learn.lesson import Case, Control, Drawing, Fact, Lesson, Stage, Task, part, planned
from pages.ui.text import Text
from planner.plan.plan import resolve
from planner.result import Estimate, Term
from planner.teaching.answers import Unit
from planner.units import GIGA

_BASE = {
    "task": "finetune",
    "model": "meta-llama/Llama-3.1-8B",
    "gpu": "a100-sxm4-80gb",
    "micro_batch_size": 2,
    "sequence_length": 2048,
}
_START = {**_BASE, "method": "full", "recompute": "none", "optimizer": "adamw", "loss": "transformers-5"}
_TRICKS: dict[str, dict[str, Any]] = {
    "none": {},
    "fused-loss": {"loss": "fused"},
    "recompute": {"recompute": "full"},
    "8bit": {"optimizer": "adamw-8bit"},
    "offload": {"offload_optimizer": "cpu"},
    "lora": {"method": "lora"},
    "three": {"recompute": "full", "loss": "fused", "optimizer": "adamw-8bit"},
    "qlora": {"method": "qlora", "recompute": "full", "loss": "fused"},
}
"""Savings over the starting point: one at a time, then together."""


def _with(trick: str) -> Estimate:
    return planned(_START, **_TRICKS[trick])


def _facts() -> Mapping[str, Fact]:
    start, spec = _with("none"), resolve(_START).spec
    required = {f"with_{trick.replace('-', '_')}": _with(trick).memory.required for trick in _TRICKS if trick != "none"}
    return {
        "start": Fact("bytes", start.memory.required),
        "activations": Fact("bytes", part(start, "mem.activations")),
        "kept": Fact("bytes", part(_with("recompute"), "mem.activations")),
        "logits": Fact("bytes", part(start, "mem.logits")),
        "states": Fact("bytes", part(start, "mem.optimizer")),
        "states_8bit": Fact("bytes", part(_with("8bit"), "mem.optimizer")),
        "slower_recompute": Fact("percent", 1 - (_with("recompute").relative_rate(start) or 0.0)),
        "slower_offload": Fact("number", round(1 / (_with("offload").relative_rate(start) or 1.0), 1)),
        **{name: Fact("bytes", size) for name, size in required.items()},
        "layers": Fact("number", spec.text_stack.depth if spec.text_stack else 0),
        "width": Fact("number", spec.text_stack.hidden if spec.text_stack else 0),
        "sequences": Fact("number", 4),
        "length": Fact("number", _BASE["sequence_length"]),
    }


def _answer() -> Fact:
    return Fact("bytes", part(planned(_START, recompute="full", micro_batch_size=4), "mem.activations"))


def _figure(text: Text, stage: Stage) -> Sequence[Drawing]:
    start = _with("none")
    rows = []
    for trick in _TRICKS:
        result = _with(trick)
        note = str(text.bytes(result.memory.required))
        if trick != "none" and (rate := result.relative_rate(start)):
            note = text.t("{size}, speed {change}", size=text.bytes(result.memory.required), change=text.change(rate))
        rows.append(
            (names.trick(text, trick), figures.parts_of(text, result.memory.parts), result.memory.capacity, note)
        )
    return [figures.memory_html(text, stage.result), figures.rows_html(text, rows)]


def _terms(stage: Stage) -> Sequence[Term]:
    return stage.result.memory.parts


LESSON = Lesson(
    id="saving",
    base=_BASE,
    controls=(
        Control(id="method", options=("full", "lora", "qlora"), default="full"),
        Control(id="optimizer", options=("adamw", "adamw-8bit", "adafactor", "sgd"), default="adamw"),
        Control(id="recompute", options=("none", "full"), default="none"),
        Control(id="loss", options=("transformers-5", "fused"), default="transformers-5"),
        Control(id="offload_optimizer", options=("none", "cpu"), default="none"),
    ),
    figure=_figure,
    facts=_facts,
    terms=_terms,
    task=Task(unit=Unit.BYTES, answer=_answer, tolerance=0.06),
    case=Case(
        source="huggingface/peft, issue 675",
        url="https://github.com/huggingface/peft/issues/675",
        facts={
            "case_full": Fact("scaled", 17 * GIGA, {"unit": "B"}),
            "case_lora": Fact("scaled", 12 * GIGA, {"unit": "B"}),
        },
    ),
)
