"""Names of what a result is made of: terms, phases, bounds, statuses."""

from functools import lru_cache

from pages.ui.text import Text


def term(text: Text, term_id: str) -> str:
    """The name of a named quantity, such as "mem.weights"."""
    return terms(text).get(term_id, term_id)


def phase(text: Text, phase_id: str) -> str:
    """When memory peaks, as it stands in a sentence: "Peak 30.6 GiB, in the backward pass"."""
    return phases(text).get(phase_id, phase_id)


def bound(text: Text, bound_id: str) -> str:
    """What limits the speed."""
    return bounds(text).get(bound_id, bound_id)


def status(text: Text, status_id: str) -> str:
    """How well measurements cover an estimate."""
    return statuses(text).get(status_id, status_id)


@lru_cache
def terms(text: Text) -> dict[str, str]:
    """Every term by id."""
    t = text.t
    return {
        "mem.weights": t("Weights"),
        "mem.weights.adapter": t("Adapters"),
        "mem.weights.copies": t("Cast copies of the weights"),
        "mem.gathered": t("Gathered parameters"),
        "mem.gradients": t("Gradients"),
        "mem.buckets": t("Gradient buckets"),
        "mem.optimizer": t("Optimizer states"),
        "mem.optimizer.temporary": t("Optimizer temporaries"),
        "mem.activations": t("Activations"),
        "mem.activations.recomputed": t("Working set of one layer"),
        "mem.logits": t("Logits and loss"),
        "mem.batch": t("Input batch"),
        "mem.reserve": t("Allocator reserve"),
        "mem.cached": t("Cached by the allocator"),
        "mem.context": t("GPU context"),
        "mem.workspace": t("Library workspace"),
        "mem.nccl": t("Communication buffers"),
        "time.compute": t("Matrix products"),
        "time.attention": t("Attention"),
        "time.elementwise": t("Norms and element-wise work"),
        "time.recompute": t("Recomputation"),
        "time.communication": t("Communication"),
        "time.bubble": t("Pipeline bubble"),
        "time.optimizer": t("Optimizer step"),
        "time.input": t("Waiting for input"),
        "time.launch": t("Kernel launches"),
        "time.memory": t("Reading weights and cache"),
        "mem.serving.weights": t("Weights"),
        "mem.serving.kv_cache": t("KV cache"),
        "mem.serving.recurrent": t("Recurrent state"),
        "mem.serving.activations": t("Activations"),
        "mem.serving.logits": t("Logits"),
        "mem.serving.batch": t("Input batch"),
        "mem.serving.reserve": t("Allocator reserve"),
        "mem.serving.reserve_fraction": t("Reserved by the engine"),
        "mem.serving.context": t("GPU context"),
        "mem.serving.overhead_engine": t("Engine and libraries"),
        "mem.serving.nccl": t("Communication buffers"),
        "mem.serving.graphs": t("CUDA graphs"),
    }


@lru_cache
def phases(text: Text) -> dict[str, str]:
    """Every phase by id."""
    t = text.t
    return {
        "load": t("while the model loads"),
        "forward": t("at the end of the forward pass"),
        "loss": t("in the backward pass of the loss"),
        "backward": t("in the backward pass"),
        "gradients": t("at the end of the backward pass"),
        "optimizer": t("in the optimizer step"),
        "prefill": t("while the input is read"),
        "decode": t("while tokens are generated"),
    }


@lru_cache
def bounds(text: Text) -> dict[str, str]:
    """Every bound by id."""
    p = text.p
    return {
        "compute": p("bound", "compute"),
        "memory-bandwidth": p("bound", "memory bandwidth"),
        "network": p("bound", "network"),
        "bubble": p("bound", "pipeline bubble"),
        "input": p("bound", "input pipeline"),
        "launch": p("bound", "kernel launches"),
    }


@lru_cache
def statuses(text: Text) -> dict[str, str]:
    """Every status by id."""
    p = text.p
    return {
        "measured": p("status", "measured"),
        "interpolated": p("status", "interpolated"),
        "extrapolated": p("status", "extrapolated"),
        "unsupported": p("status", "unsupported"),
    }
