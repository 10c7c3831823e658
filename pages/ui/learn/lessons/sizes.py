"""Lesson: model size and memory."""

from collections.abc import Mapping, Sequence
from typing import Any

from pages.ui.learn import figures
from pages.ui.learn.lesson import Case, Control, Drawing, Fact, Lesson, Stage, Task, Values, part, planned
from pages.ui.tables import Tile, tiles_html
from pages.ui.text import Text
from planner.hardware import catalogue
from planner.plan.checks import problems_of
from planner.plan.plan import resolve
from planner.result import Term
from planner.teaching.answers import Unit
from planner.teaching.sizes import largest_billions
from planner.units import GIGA

_USES: dict[str, dict[str, Any]] = {
    "train": {"task": "train", "precision": "amp-bf16", "micro_batch_size": 1, "recompute": "full"},
    "full": {"task": "finetune", "method": "full", "precision": "bf16", "micro_batch_size": 1},
    "lora": {"task": "finetune", "method": "lora", "micro_batch_size": 1},
    "qlora": {"task": "finetune", "method": "qlora", "micro_batch_size": 1},
    "serve": {"task": "serve", "weight_format": "bf16", "concurrency": 1},
    "serve4": {"task": "serve", "weight_format": "awq-int4", "concurrency": 1},
}
_MODELS = (
    "google-bert/bert-base-uncased",
    "google-bert/bert-large-uncased",
    "openai-community/gpt2",
    "openai-community/gpt2-xl",
    "EleutherAI/gpt-j-6b",
    "meta-llama/Llama-3.1-8B",
    "EleutherAI/gpt-neox-20b",
    "Qwen/Qwen3-32B",
    "meta-llama/Llama-3.1-70B",
)
_CARDS = ("t4", "rtx-4060", "rtx-3060-12gb", "rtx-4090", "a100-sxm4-80gb", "h200-sxm-141gb")
_CARD = "rtx-4090"
_BASE = {"model": "meta-llama/Llama-3.1-8B"}
_LENGTH = 512  # what every model of the list can read


def _chosen(use: str, gpu: str) -> dict[str, Any]:
    length = {} if use.startswith("serve") else {"sequence_length": _LENGTH}
    asked = {"input_tokens": _LENGTH // 2, "output_tokens": _LENGTH // 2} if use.startswith("serve") else {}
    return {**_USES[use], **length, **asked, "gpu": gpu}


def _changes(values: Values) -> Values:
    return _chosen(values["use"], values["gpu"])


def _largest(use: str, gpu: str) -> float:
    return largest_billions(resolve(_chosen(use, gpu))) or 0.0


def _facts() -> Mapping[str, Fact]:
    serve = {use: planned({**_BASE, **_chosen(use, _CARD)}) for use in ("serve", "serve4")}
    parameters = resolve(_BASE).spec.total_parameters
    weights = part(serve["serve"], "mem.serving.weights")
    counts = {name: resolve({"model": model}).spec.total_parameters for name, model in _NAMED.items()}
    return {
        "eight": Fact("count", parameters),
        "half_weights": Fact("bytes", weights),
        "half_bytes": Fact("number", round(weights / parameters)),
        "four_weights": Fact("bytes", part(serve["serve4"], "mem.serving.weights")),
        "card_memory": Fact("bytes", float(serve["serve"].memory.capacity)),
        "largest_train": Fact("count", _largest("train", _CARD) * GIGA),
        "largest_full": Fact("count", _largest("full", _CARD) * GIGA),
        "largest_qlora": Fact("count", _largest("qlora", _CARD) * GIGA),
        "largest_serve": Fact("count", _largest("serve", _CARD) * GIGA),
        **{name: Fact("count", count) for name, count in counts.items()},
    }


_NAMED = {
    "bert": "google-bert/bert-base-uncased",
    "bert_large": "google-bert/bert-large-uncased",
    "gpt_small": "openai-community/gpt2",
    "gpt_xl": "openai-community/gpt2-xl",
}


def _answer() -> Fact:
    return Fact("number", _largest("serve4", _CARD))


def _figure(text: Text, stage: Stage) -> Sequence[Drawing]:
    use, gpu = stage.values["use"], stage.values["gpu"]
    tile = Tile(
        label=text.t("Largest model"),
        value=text.count(_largest(use, gpu) * GIGA),
        note=text.t("parameters, of a transformer of usual proportions, on one {gpu}", gpu=catalogue.gpu(gpu).name),
    )
    rows = []
    for model in _MODELS:
        plan = resolve({**stage.plan.chosen, "model": model})
        if problems_of(plan):
            continue
        memory = planned(stage.plan.chosen, model=model).memory
        fits = text.t("fits") if memory.required <= memory.capacity else text.t("does not fit")
        name = f"{plan.spec.name} · {text.count(plan.spec.total_parameters)}"
        rows.append(
            (name, figures.parts_of(text, memory.parts), memory.capacity, f"{text.bytes(memory.required)} {fits}")
        )
    return [tiles_html([tile]), figures.rows_html(text, rows)]


def _terms(stage: Stage) -> Sequence[Term]:
    return [term for term in stage.result.memory.parts if "weights" in term.id]


LESSON = Lesson(
    id="sizes",
    base=_BASE,
    changes=_changes,
    controls=(
        Control(id="use", options=tuple(_USES), default="serve"),
        Control(id="gpu", options=_CARDS, default=_CARD),
    ),
    figure=_figure,
    facts=_facts,
    terms=_terms,
    task=Task(unit=Unit.COUNT, answer=_answer, tolerance=0.15),
    case=Case(
        source="AlexsJones/llmfit, issue 230",
        url="https://github.com/AlexsJones/llmfit/issues/230",
        facts={
            "case_total": Fact("count", 122 * GIGA),
            "case_active": Fact("count", 10 * GIGA),
            "case_said": Fact("scaled", 33 * GIGA, {"unit": "B"}),
            "case_measured": Fact("scaled", 72.5 * GIGA, {"unit": "B"}),
        },
    ),
)
