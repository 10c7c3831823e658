"""What one GPU holds: tensor, pipeline and expert parallel divide the parameters, and ZeRO or FSDP the training state.

Tensor parallel divides heads, feed-forward parts and the vocabulary; key/value matrices up to the number of key/value
heads; norms and biases not at all. Expert parallel divides routed experts only. The first pipeline stage holds the
embedding and the most micro-batches in flight, the last one the head.
Sources: Shoeybi et al., arXiv 1909.08053, section 3; Narayanan et al., arXiv 2104.04473, section 2;
Korthikanti et al., arXiv 2205.05198, section 4.2; Rajbhandari et al., arXiv 1910.02054, section 5.
"""

from dataclasses import dataclass
from functools import lru_cache

from planner.models.spec import Linear, MixtureOfExperts, ModelSpec, Split, StackKind
from planner.numeric import Number, ceil_div, maximum, minimum, where
from planner.parallel import Layout, Schedule
from planner.workload import Training


@dataclass(frozen=True, slots=True)
class Counts:
    """Elements of a model by how they are divided. Layer figures are sums over all layers."""

    split: float  # layer matrices that tensor parallel divides
    whole: float  # layer matrices that it doesn't
    kv: tuple[tuple[int, float], ...]  # (key/value heads, elements)
    experts: float  # matrices of routed experts
    small: float  # norms, biases, gains inside the layers
    tables: float  # embeddings, divided by the vocabulary
    head: float  # output head; where tied, stored only on a last stage that isn't the first
    tied: bool
    outside: float  # everything else: projectors, poolers, outer norms
    layers: int
    largest: float  # elements of the largest tensor
    table: float  # elements of the token table
    factored: float  # elements of row and column factors of all matrices, and of all vectors (Adafactor)


def _matrix(linear: Linear) -> float:
    return float(linear.copies * linear.inputs * linear.outputs)


@lru_cache(maxsize=1024)
def counts(spec: ModelSpec) -> Counts:
    """Element counts of `spec`, multi-token-prediction blocks left out."""
    stacks = [stack for stack in spec.stacks if stack.kind is not StackKind.MTP]
    split = whole = experts = small = factored = 0.0
    kv: dict[int, float] = {}
    largest = 0.0
    for run in (run for stack in stacks for run in stack.groups):
        layer, stored = run.layer, run.stored_count
        routed = {
            id(linear): linear
            for part in layer.feed_forwards
            if isinstance(part, MixtureOfExperts)
            for linear in part.expert_linears
        }
        matrices = 0.0
        for linear in (*layer.linears,):
            elements = _matrix(linear)
            matrices += elements
            largest = max(largest, elements)
            factored += stored * linear.copies * (linear.inputs + linear.outputs)
            if linear.copies > 1 and routed:
                experts += stored * elements
            elif linear.split is Split.KV:
                kv[linear.kv_heads] = kv.get(linear.kv_heads, 0.0) + stored * elements
            elif linear.split is Split.REPLICATED:
                whole += stored * elements
            else:
                split += stored * elements
        small += stored * (layer.parameters - matrices)
    inside = split + whole + experts + small + sum(kv.values())
    tables = float(spec.embedding_parameters)
    head = float(spec.head.parameters) if spec.head else 0.0
    table = float(max((table.parameters for table in spec.embeddings if table.role == "token"), default=0))
    outside = float(spec.total_parameters) - inside - tables - (0.0 if spec.tied else head)
    widths = sum(table.rows + table.width for table in spec.embeddings)
    if spec.head and not spec.tied:
        widths += spec.head.inputs + spec.head.outputs
    return Counts(
        split=split,
        whole=whole,
        kv=tuple(kv.items()),
        experts=experts,
        small=small,
        tables=tables,
        head=head,
        tied=spec.tied,
        outside=max(0.0, outside),
        layers=max(1, sum(stack.depth for stack in stacks)),
        largest=max(largest, table, head),
        table=table,
        factored=factored + small + widths,
    )


@dataclass(frozen=True, slots=True)
class Stage:
    """A pipeline stage: its share of the layers, and whether it holds the embedding and the head (1 or 0)."""

    share: Number
    in_flight: Number  # micro-batches whose activations it holds
    first: Number
    last: Number


def stages(spec: ModelSpec, layout: Layout, micro_batches: Number) -> tuple[Stage, ...]:
    """The stages that can be the fullest: the first and the last; one where there is no pipeline."""
    pipeline = layout.pipeline_parallel
    if isinstance(pipeline, int) and pipeline == 1:
        return (Stage(1, 1, 1, 1),)
    depth = counts(spec).layers
    share = minimum(1, ceil_div(depth, pipeline) / depth)
    alone = where(pipeline == 1, 1, 0)
    if layout.schedule is Schedule.GPIPE:
        early = late = micro_batches
    else:
        early, late = minimum(pipeline, micro_batches), 1
        if layout.schedule is Schedule.INTERLEAVED:
            # Korthikanti et al., section 4.2.3: (1 + (p - 1) / (p m)) times the first stage's activations.
            extra = where(layout.chunks > 1, 1 + (pipeline - 1) / (pipeline * layout.chunks), 1)
            early, late = early * extra, 1 + (extra - 1) / maximum(1, pipeline)
    return (Stage(share, early, 1, alone), Stage(share, late, alone, 1))


@dataclass(frozen=True, slots=True)
class Local:
    """Elements that one GPU holds before ZeRO or FSDP divide them."""

    matrices: Number  # layer matrices, experts left out
    experts: Number
    small: Number
    ends: Number  # embedding, head and what else lies outside the layers

    @property
    def dense(self) -> Number:
        """All but the routed experts."""
        return self.matrices + self.small + self.ends

    @property
    def total(self) -> Number:
        """All elements."""
        return self.dense + self.experts


def local(request: Training, stage: Stage) -> Local:
    """Elements on one GPU of `stage`."""
    model, layout = counts(request.model), request.layout
    tensor = layout.tensor_parallel
    matrices = model.split / tensor + model.whole
    for heads, elements in model.kv:
        matrices = matrices + elements / minimum(tensor, heads)
    # A tied head is the embedding itself where one stage holds both.
    head = model.head * stage.last * ((1 - stage.first) if model.tied else 1)
    return Local(
        matrices=matrices * stage.share,
        experts=model.experts / (tensor * layout.expert_parallel) * stage.share,
        small=model.small * stage.share,
        ends=(model.tables * stage.first + head) / tensor + model.outside * stage.first,
    )


def divided(layout: Layout, dense: Number, experts: Number) -> Number:
    """`dense` and `experts` amounts after division over the ranks that share training state.

    Experts are replicated over fewer ranks (data x context / expert parallel), so fewer share them.
    """
    degree = layout.shard_degree
    return dense / degree + experts / maximum(1, degree / layout.expert_parallel)
