"""Sentences of the out-of-memory helper."""

from pages.ui.text import Text
from pages.ui.words.sentence import Sentence, said
from planner.result import Notice


def finding(text: Text, found: Notice) -> str:
    """What a log says about a failure."""
    return said(FINDINGS, text, found.code, found.parameters)


def quantity(text: Text, id: str) -> str:
    """The name of a quantity of a log."""
    names = {
        "capacity": text.t("Memory of the GPU"),
        "held": text.t("Held by this process"),
        "allocated": text.t("In tensors"),
        "cached": text.t("Held by the allocator beyond them"),
        "others": text.t("Held by other processes"),
        "free": text.t("Free"),
        "asked": text.t("Asked for when it failed"),
        "weights": text.t("Weights"),
        "kv-cache": text.t("KV cache"),
        "activations": text.t("Activations"),
        "graphs": text.t("CUDA graphs"),
        "other": text.t("Engine and libraries"),
    }
    return names.get(id, id)


FINDINGS: dict[str, Sentence] = {
    "oom-not-failed": lambda text, q: text.t("Nothing in this log failed."),
    "oom-asked-more-than-gpu": lambda text, q: text.t(
        "One request of {asked} is larger than the whole GPU ({capacity}): a single tensor, such as attention scores "
        "or logits of a long sequence. A smaller batch or length, or a fused kernel, makes it small.",
        asked=text.bytes(q["asked"]),
        capacity=text.bytes(q["capacity"]),
    ),
    "oom-short-by": lambda text, q: text.t("At least {size} was lacking.", size=text.bytes(q["size"])),
    "oom-free-yet-failed": lambda text, q: text.t(
        "{free} was free and {asked} was asked: the memory was taken in between, or a limit was set on the process.",
        free=text.bytes(q["free"]),
        asked=text.bytes(q["asked"]),
    ),
    "oom-cache-too-small": lambda text, q: text.t(
        "The cache holds {longest} tokens, and one sequence may need {wanted}. Shorten the longest sequence, or leave "
        "the cache more room.",
        longest=q["longest"],
        wanted=q["wanted"],
    ),
    "oom-where-loading": lambda text, q: text.t("It failed while the model was loaded."),
    "oom-where-forward": lambda text, q: text.t("It failed in the forward pass."),
    "oom-where-attention": lambda text, q: text.t("It failed in attention."),
    "oom-where-loss": lambda text, q: text.t("It failed at the logits and the loss."),
    "oom-where-backward": lambda text, q: text.t("It failed in the backward pass."),
    "oom-where-optimizer": lambda text, q: text.t(
        "It failed in the optimizer's step; states are made in the first one."
    ),
    "oom-where-cache": lambda text, q: text.t("It failed when the KV cache was made."),
    "oom-where-graphs": lambda text, q: text.t("It failed while CUDA graphs were recorded."),
    "oom-fragmented": lambda text, q: text.t(
        "The allocator held {cached} that no tensor used, more than the {asked} asked for: it lay in pieces. "
        "Set {setting}.",
        cached=text.bytes(q["cached"]),
        asked=text.bytes(q["asked"]),
        setting="PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
    ),
    "oom-others-hold": lambda text, q: text.t(
        "Other processes held {size} of this GPU. End them, or plan with what they leave.", size=text.bytes(q["size"])
    ),
    "oom-another-gpu": lambda text, q: text.t(
        "The log's GPU has {capacity}, the plan's {gpu} {planned}: choose the right one above.",
        capacity=text.bytes(q["capacity"]),
        gpu=str(q["gpu"]),
        planned=text.bytes(q["planned"]),
    ),
    "oom-more-than-planned": lambda text, q: text.t(
        "The run needed {seen} in tensors where the plan expects {planned}: something is larger than planned. Check "
        "the length, the batch, the precision and the recomputation.",
        seen=text.bytes(q["seen"]),
        planned=text.bytes(q["planned"]),
    ),
    "oom-planned-so": lambda text, q: text.t("The plan says so, too: {short} short.", short=text.bytes(q["short"])),
    "oom-plan-fits": lambda text, q: text.t(
        "The plan as it stands fits with {spare} to spare: it may differ from what was run.",
        spare=text.bytes(q["spare"]),
    ),
}
