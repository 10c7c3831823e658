"""The table that both directions share: a plan's field beside a framework's option, and the words for its values."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from planner.launch.found import Found
from planner.launch.options import Options, as_flag
from planner.launch.render import Line
from planner.launch.types import Unread
from planner.plan.fields import Kind
from planner.plan.plan import Plan
from planner.plan.table import BY_ID

COMMENTS: Mapping[str, str] = {
    "micro_batch_size": "sequences per GPU and forward pass",
    "gradient_accumulation_steps": "micro-batches per optimizer step",
    "sequence_length": "tokens per sequence",
    "lora_rank": "rank of the adapters",
    "optimizer": "decides the bytes of state per parameter",
    "recompute": "layers run again in the backward pass instead of keeping their activations",
    "recompute_every": "only every n-th layer",
    "attention": "attention kernel",
    "loss": "how logits become a loss; decides memory at large vocabularies",
    "compiled": "torch.compile",
    "tensor_parallel": "GPUs that share each matrix",
    "sequence_parallel": "norms and residuals divided over the tensor-parallel group",
    "pipeline_parallel": "stages that the layers are divided over",
    "virtual_stages": "model chunks per stage",
    "context_parallel": "GPUs that share each sequence",
    "expert_parallel": "GPUs that the experts are divided over",
    "shard_group": "GPUs that share one copy of the training state",
    "workers": "loader processes per GPU",
    "pinned": "page-locked buffers for copies to the GPU",
    "weight_format": "how the weights are stored",
    "kv_dtype": "how keys and values are cached",
    "concurrency": "sequences in flight",
    "max_model_length": "longest sequence: prompt and answer",
    "max_batched_tokens": "tokens of one prefill step",
    "memory_fraction": "share of the GPU's memory that the engine may take",
    "cuda_graphs": "CUDA graphs",
}
"""What an option does, for the files."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A field and the option that says it.

    `words` maps the plan's values to the option's where they differ; a value without a word cannot be said. `also`
    maps further values of the option, read but never written. A flag of a command line has `words` {True: True}:
    written bare, or left out.
    """

    field: str
    option: str
    words: Mapping[Any, Any] | None = None
    also: Mapping[Any, Any] = dataclasses.field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    comment: str = ""


def written(plan: Plan, pairs: Iterable[Pair]) -> list[Line]:
    """The lines of all pairs whose field applies to the plan, and whose value has a word."""
    lines = []
    for pair in pairs:
        if not plan.uses(pair.field):
            continue
        value = plan.values[pair.field]
        if pair.words is not None:
            if value not in pair.words:
                continue
            value = pair.words[value]
        lines.append(Line(pair.option, value, pair.comment or COMMENTS.get(pair.field, "")))
    return lines


def read(options: Options, pairs: Iterable[Pair], found: Found) -> None:
    """The inverse of `written`: every pair's option that is there becomes a chosen value."""
    for pair in pairs:
        names = (
            (pair.option.replace("-", "_"), *pair.aliases) if options.kind == "shell" else (pair.option, *pair.aliases)
        )
        if not options.has(*names):
            continue
        value: Any
        if pair.words is not None and set(pair.words.values()) <= {True, False}:
            value = options.flag(*names)
        elif BY_ID[pair.field].kind is Kind.INTEGER and pair.words is None:
            value = options.whole(*names)
        else:
            value = options.take(*names)
        if value is None or (value == "auto" and pair.field != "kv_dtype" and "auto" not in pair.also):
            continue
        _translate(pair, value, found)


def _translate(pair: Pair, value: Any, found: Found) -> None:
    if pair.words is None:
        found.set(pair.field, value, pair.option)
        return
    known = {_key(word): mine for word, mine in pair.also.items()}
    for mine, word in reversed(list(pair.words.items())):  # of several values with one word, the first is meant
        known[_key(word)] = mine
    if _key(value) in known:
        found.set(pair.field, known[_key(value)], pair.option)
    else:
        found.unread.append(Unread(pair.option, str(value)[:200], "no-word", {"field": pair.field}))


def _key(value: Any) -> Any:
    flag = as_flag(value) if isinstance(value, bool) or str(value).lower() in ("true", "false") else None
    return str(value).lower() if flag is None else flag
