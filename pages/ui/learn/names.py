"""Names of what lessons have beyond the plan: their own controls and options."""

from functools import lru_cache
from typing import Any

from pages.ui.text import Text
from planner.teaching.answers import Unit, Verdict


def control(text: Text, control_id: str) -> str:
    """The name of a lesson's own control."""
    return _controls(text)[control_id]


def option(text: Text, control_id: str, value: Any) -> str:
    """The name of an option of a lesson's own control."""
    return _options(text).get((control_id, value), str(value))


@lru_cache
def _controls(text: Text) -> dict[str, str]:
    return {
        "use": text.t("Use"),
        "format": text.t("Format"),
        "value": text.t("Number to store"),
        "loss_scale": text.t("Loss scale"),
        "layout": text.t("Layout"),
        "trace": text.t("Recording"),
        "guess": text.t("Your verdict"),
        "rows": text.t("Rows at once"),
        "width": text.t("Width of the matrix"),
        "cpu": text.t("Processor"),
    }


@lru_cache
def _options(text: Text) -> dict[tuple[str, Any], str]:
    return {
        ("use", "train"): text.t("Training from scratch, mixed precision"),
        ("use", "full"): text.t("Fine-tuning all parameters, bf16"),
        ("use", "lora"): text.t("Fine-tuning with LoRA"),
        ("use", "qlora"): text.t("Fine-tuning with QLoRA, four bits"),
        ("use", "serve"): text.t("Serving in bf16"),
        ("use", "serve4"): text.t("Serving in four bits"),
        **{("trace", letter): text.isolate(letter.upper()) for letter in "abcd"},
        ("guess", "open"): text.t("undecided"),
        ("guess", "working"): text.t("works hard"),
        ("guess", "under"): text.t("busy, but does little"),
        ("guess", "starved"): text.t("waits for its input"),
        ("guess", "held"): text.t("idle, memory held"),
        ("layout", "ddp"): text.t("Data parallel: full copies (DDP)"),
        ("layout", "zero1"): text.t("ZeRO-1: optimizer states divided"),
        ("layout", "zero2"): text.t("ZeRO-2: gradients too"),
        ("layout", "fsdp"): text.t("ZeRO-3, FSDP: weights too"),
        ("layout", "tensor"): text.t("Tensor parallel: each layer cut"),
        ("layout", "pipeline"): text.t("Pipeline parallel: layers dealt out"),
        ("layout", "expert"): text.t("Expert parallel: experts dealt out"),
    }


def heading(text: Text, kind: str) -> str:
    """The heading of a part that has none of its own."""
    return {
        "figure": text.t("See it"),
        "formula": text.t("How it is computed"),
        "task": text.t("Try it"),
        "answer": text.t("The answer"),
        "wrong": text.t("Where this goes wrong"),
    }.get(kind, "")


def unit(text: Text, one: Unit) -> str:
    """What an answer counts, as the label of its field says it."""
    return {
        Unit.BYTES: text.isolate("GiB"),
        Unit.SECONDS: text.p("unit", "s"),
        Unit.PERCENT: "%",
        Unit.COUNT: text.p("unit", "a number"),
    }[one]


def verdict(text: Text, one: Verdict) -> str:
    """What a learner hears about an answer."""
    return {
        Verdict.RIGHT: text.t("Right."),
        Verdict.CLOSE: text.t("Close, but not close enough. What is still missing, or counted twice?"),
        Verdict.UNIT: text.t("The digits are right, the unit is not: look at GB against GiB, bits against bytes."),
        Verdict.HIGH: text.t("Too high."),
        Verdict.LOW: text.t("Too low."),
        Verdict.UNREADABLE: text.t("Please type a number, with its unit if you like."),
    }[one]


def trick(text: Text, trick_id: str) -> str:
    """A way to save memory."""
    return {
        "none": text.t("Nothing saved"),
        "fused-loss": text.t("Fused loss"),
        "recompute": text.t("Recomputation"),
        "8bit": text.t("8-bit optimizer"),
        "offload": text.t("Optimizer states on the host"),
        "lora": text.t("LoRA"),
        "three": text.t("Recomputation, 8-bit, fused loss"),
        "qlora": text.t("QLoRA, recomputation, fused loss"),
    }[trick_id]


def states(text: Text) -> tuple[str, str, str]:
    """The three kinds of training state."""
    return text.t("Weights"), text.t("Gradients"), text.t("Optimizer states")


def layout(text: Text, layout_id: str) -> str:
    """What each GPU keeps in a layout, and what moves."""
    return {
        "ddp": text.t("Every GPU keeps everything. Gradients are summed over all GPUs in each step."),
        "zero1": text.t(
            "Optimizer states are divided. Each GPU updates its part of the weights and sends it to the others."
        ),
        "zero2": text.t("Optimizer states and gradients are divided. Sums go only to the GPU that keeps them."),
        "fsdp": text.t(
            "Everything is divided. Layer by layer the missing weights are gathered, used, and dropped again."
        ),
        "tensor": text.t("Each layer is cut into columns. All GPUs compute it together and sum their partial results."),
        "pipeline": text.t("Each GPU keeps some of the layers. Activations travel from one GPU to the next."),
        "expert": text.t(
            "Attention is copied, experts are divided. In each layer tokens travel to their experts and back."
        ),
    }[layout_id]


def cause(text: Text, cause_id: str) -> str:
    """What a recording shows, once it has been recognised."""
    return {
        "working": text.t("Busy all the time and near the limit of its power: it works."),
        "held": text.t("Nothing runs, and nearly all memory is held: a program waits or was forgotten."),
        "under": text.t(
            "Busy all the time at about half the power: small or memory-bound kernels, or waiting for others."
        ),
        "starved": text.t("Work and silence in turn, as regularly as breathing: it waits for its input."),
    }[cause_id]
