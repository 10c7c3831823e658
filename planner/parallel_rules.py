"""When a parallel layout is possible at all. Each rule once: for one plan, and for arrays of a million layouts.

A rule answers True where it holds. `planner.plan.checks` turns a broken one into a problem with words;
`planner.search` keeps the layouts for which all of them hold.
"""

from dataclasses import dataclass
from functools import lru_cache

from planner.models.spec import Attention, LatentAttention, MixtureOfExperts, ModelSpec
from planner.numeric import Number


@dataclass(frozen=True, slots=True)
class Divisible:
    """What of a model parallelism divides."""

    heads: tuple[int, ...]  # of each kind of attention layer
    kv_heads: tuple[int, ...]
    experts: tuple[int, ...]
    depth: int  # layers that a pipeline can share out; 1 where the model isn't described by layers
    layered: bool


@lru_cache(maxsize=1024)
def divisible(spec: ModelSpec) -> Divisible:
    """What parallelism can divide in the stack that the workload's tokens run through."""
    stack = spec.text_stack
    layers = [run.layer for run in stack.groups] if stack else []
    mixers = [mixer for layer in layers for mixer in layer.mixers]
    return Divisible(
        heads=tuple(dict.fromkeys(m.heads for m in mixers if isinstance(m, Attention | LatentAttention))),
        kv_heads=tuple(dict.fromkeys(m.kv_heads for m in mixers if isinstance(m, Attention) and m.kv_heads)),
        experts=tuple(
            dict.fromkeys(
                part.experts for layer in layers for part in layer.feed_forwards if isinstance(part, MixtureOfExperts)
            )
        ),
        depth=stack.depth if stack else 1,
        layered=bool(layers),
    )


def divides(total: Number, degree: Number) -> Number:
    """Whether `degree` equal parts make `total`: heads, experts, GPUs of a group."""
    return total % degree == 0


def heads_replicate(kv_heads: Number, tensor_parallel: Number) -> Number:
    """Key/value heads are divided, or each is held by a whole number of ranks."""
    return (kv_heads % tensor_parallel == 0) | (tensor_parallel % kv_heads == 0)


def stages_have_layers(depth: Number, pipeline_parallel: Number, chunks: Number) -> Number:
    """Every chunk of every stage has a layer."""
    return (pipeline_parallel == 1) | (pipeline_parallel * chunks <= depth)


def expert_group(gpus: Number, tensor_parallel: Number, pipeline_parallel: Number, serving: bool) -> Number:
    """GPUs that may share the experts of one stage: engines count tensor-parallel ranks in, training doesn't."""
    return gpus // (pipeline_parallel * (1 if serving else tensor_parallel))


def sequence_divides(length: Number, context_parallel: Number) -> Number:
    """Ring attention gives each rank two equal pieces, one from each end, to balance the causal mask."""
    return (context_parallel == 1) | (length % (2 * context_parallel) == 0)


def interleaves(depth: Number, pipeline_parallel: Number, chunks: Number, micro_batches: Number) -> Number:
    """The interleaved schedule as Megatron-LM runs it: equal chunks, and micro-batches in groups of the stages."""
    equal = (depth % (pipeline_parallel * chunks) == 0) & (micro_batches % pipeline_parallel == 0)
    return (chunks == 1) | ((pipeline_parallel > 1) & equal)
