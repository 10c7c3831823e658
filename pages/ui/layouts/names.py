"""Layouts in words: degrees by their letters, as papers write them, the rest in the reader's language."""

from pages.ui.text import Text
from planner.search.explain import Relaxation
from planner.search.search import Layout

_NO_BREAK = "\u00a0"
_SHARDINGS = {"none": "DDP", "zero1": "ZeRO-1", "zero2": "ZeRO-2", "zero3": "ZeRO-3", "fsdp": "FSDP", "hsdp": "HSDP"}


def degrees(text: Text, one: Layout) -> str:
    """How the GPUs are divided: "DP 8 · TP 4 + SP · PP 2 × 8"."""
    sequence = " + SP" if one.sequence_parallel else ""
    chunks = f" × {one.chunks}" if one.chunks > 1 else ""
    parts = [f"DP {one.data}"]
    parts += [f"TP {one.tensor}{sequence}"] if one.tensor > 1 else []
    parts += [f"PP {one.pipeline}{chunks}"] if one.pipeline > 1 else []
    parts += [f"CP {one.context}"] if one.context > 1 else []
    parts += [f"EP {one.expert}"] if one.expert > 1 else []
    return text.isolate(" · ".join(part.replace(" ", _NO_BREAK) for part in parts))


def rest(text: Text, one: Layout, gpus: int) -> str:
    """What else the layout chooses; the number of GPUs only where it isn't `gpus`."""
    choice, parts = one.choice, []
    if one.gpus != gpus:
        parts.append(text.n("{count} GPU", "{count} GPUs", one.gpus))
    if one.accumulation:
        batch = text.isolate(f"{one.micro_batch_size} × {one.accumulation}")
        parts.append(text.t("micro-batch × steps: {batch}", batch=batch))
        if one.data * one.context > 1:
            group = f" / {choice.shard_group}" if choice.shard_group else ""
            parts.append(text.isolate(_SHARDINGS[choice.sharding.value] + group))
        again = {
            "none": text.t("no recomputation"),
            "selective": text.t("selective recomputation"),
            "full": text.t("full recomputation"),
        }
        parts.append(again[choice.recompute.value])
        if choice.offload_parameters.value != "none":
            parts.append(text.t("optimizer and parameters on the CPU"))
        elif choice.offload_optimizer.value != "none":
            parts.append(text.t("optimizer on the CPU"))
    return text.join(parts)


def rate(text: Text, value: float, tokens: bool) -> str:
    """Work per second with its unit."""
    return text.tokens_per_second(value) if tokens else text.samples_per_second(value)


def relaxation(text: Text, one: Relaxation) -> str:
    """One thing that would leave a layout, as a sentence."""
    value = text.number(one.value)
    return {
        "global_batch_size": text.t("A global batch of {value} divides over these GPUs.", value=value),
        "offload": text.t("With offload to CPU memory, a layout fits."),
        "gpus": text.t("On {value} GPUs, a layout fits.", value=value),
        "sequence_length": text.t("With sequences of at most {value} tokens, a layout fits.", value=value),
        "concurrency": text.t("With at most {value} requests at once, a layout fits.", value=value),
    }[one.field]
