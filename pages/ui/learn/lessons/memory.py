"""Lesson: what fills GPU memory."""

from collections.abc import Mapping, Sequence

from pages.ui.learn import figures
from pages.ui.learn.lesson import Case, Control, Drawing, Fact, Lesson, Stage, Task, part, planned
from pages.ui.text import Text
from planner.plan.plan import resolve
from planner.result import Term, total
from planner.teaching.answers import Unit
from planner.units import GIGA, MIB

BASE = {"task": "train", "precision": "fp32", "sequence_length": 1024, "recompute": "none"}
MODEL, BATCH, GPU = "openai-community/gpt2-large", 8, "a100-sxm4-80gb"
_SHOWN = {**BASE, "model": MODEL, "gpu": GPU}
_STATES = ("mem.weights", "mem.gradients", "mem.optimizer")
_TASK_BILLIONS = 7


def _facts() -> Mapping[str, Fact]:
    many, one = (planned(_SHOWN, micro_batch_size=batch) for batch in (BATCH, 1))
    parameters = resolve(_SHOWN).spec.total_parameters
    states = part(many, *_STATES)
    return {
        "parameters": Fact("count", parameters),
        "weights": Fact("bytes", part(many, "mem.weights")),
        "required": Fact("bytes", many.memory.required),
        "fp32_bytes": Fact("number", round(part(many, "mem.weights") / parameters)),
        "state_bytes": Fact("number", round(states / parameters)),
        "states": Fact("bytes", states),
        "batch": Fact("number", BATCH),
        "activations_one": Fact("bytes", part(one, "mem.activations")),
        "activations_many": Fact("bytes", part(many, "mem.activations")),
        "input": Fact("bytes", part(many, "mem.batch")),
        "outside": Fact("bytes", float(total(many.memory.outside))),
        "task_billions": Fact("number", _TASK_BILLIONS),
    }


def _answer() -> Fact:
    result = planned(BASE, model=f"transformer-{_TASK_BILLIONS}b", micro_batch_size=1)
    return Fact("bytes", part(result, *_STATES))


def _figure(text: Text, stage: Stage) -> Sequence[Drawing]:
    result = stage.result
    return [figures.memory_html(text, result), figures.moments_html(text, result)]


def _terms(stage: Stage) -> Sequence[Term]:
    return stage.result.memory.parts


LESSON = Lesson(
    id="memory",
    base=BASE,
    controls=(
        Control(id="task", options=("train", "serve"), default="train"),
        Control(
            id="model",
            options=tuple(f"openai-community/gpt2{size}" for size in ("", "-medium", "-large", "-xl")),
            default=MODEL,
        ),
        Control(id="micro_batch_size", options=(1, 2, 4, 8, 16, 32), default=BATCH),
        Control(id="gpu", options=("t4", "rtx-4090", "a100-sxm4-80gb"), default=GPU),
    ),
    figure=_figure,
    facts=_facts,
    terms=_terms,
    task=Task(unit=Unit.BYTES, answer=_answer, tolerance=0.05),
    case=Case(
        source="deepspeedai/DeepSpeed, issue 4527",
        url="https://github.com/deepspeedai/DeepSpeed/issues/4527",
        facts={
            "case_billions": Fact("number", 6.8),
            "case_gpus": Fact("number", 4),
            "case_predicted": Fact("scaled", 0.49 * GIGA, {"unit": "B"}),
            "case_init": Fact("bytes", 14678 * MIB),
            "case_forward": Fact("bytes", 19890 * MIB),
            "case_peak": Fact("bytes", 21272 * MIB),
        },
    ),
)
