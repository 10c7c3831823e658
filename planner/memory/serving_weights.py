"""Bytes of a model's weights in a storage format, and the part of them that each GPU of a serving layout holds."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from planner.memory import gguf
from planner.memory.formats import FORMATS, WeightFormat
from planner.models.spec import Attention, Layer, Linear, MixtureOfExperts, ModelSpec, Split, Stack, StackKind
from planner.numeric import Number, ceil_div, maximum, minimum, round_up, where
from planner.parallel import Layout

_TEXT = (StackKind.DECODER, StackKind.ENCODER)
_TOKEN_TABLES = ("token", "per_layer")
_UNQUANTISED_COMPONENTS = ("vae", "autoencoder")


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightBytes:
    """Bytes of one copy of the model, by how a serving layout divides them.

    The layers' share is `divided` (by tensor parallel), `grouped` (by up to the number of key/value heads),
    `replicated` (norms, routers, what tensor parallel leaves whole) and `experts`. `outside` are vision towers,
    projectors and the like, which sit on the first pipeline stage.
    """

    depth: int = 1  # layers that pipeline stages share out
    divided: float = 0.0
    grouped: tuple[tuple[int, float], ...] = ()  # (key/value heads, bytes)
    replicated: float = 0.0
    experts: float = 0.0
    expert_shape: tuple[int, int] = (0, 0)  # hidden size and inner width of one expert
    active_experts: float = 0.0  # of the experts, what one token meets
    embedding: float = 0.0  # look-up tables
    head: float = 0.0  # output matrix as the product reads it; the embedding's bytes where tied
    tied: bool = False
    outside_divided: float = 0.0
    outside: float = 0.0

    @property
    def layers(self) -> float:
        """All layers, experts included."""
        return self.divided + sum(size for _, size in self.grouped) + self.replicated + self.experts

    @property
    def total(self) -> float:
        """The stored model, as its file is."""
        head = 0.0 if self.tied else self.head
        return self.layers + self.embedding + head + self.outside_divided + self.outside

    @property
    def read_per_token(self) -> float:
        """Bytes that decoding one token reads: every layer with the experts it meets, and the output matrix."""
        return self.layers - self.experts + self.active_experts + self.head


def weight_bytes(model: ModelSpec, format_id: str) -> float:
    """Bytes of the stored weights of a whole model in a format (source: the format's own)."""
    return weight_split(model, format_id).total


def active_weight_bytes(model: ModelSpec, format_id: str) -> float:
    """Bytes of weights that one token's forward pass reads (routed experts: the router's choice only)."""
    return weight_split(model, format_id).read_per_token


@lru_cache(maxsize=512)
def weight_split(model: ModelSpec, format_id: str) -> WeightBytes:
    """The bytes of a model's weights by how a layout divides them. Cached: models and formats don't change."""
    format = FORMATS[format_id]
    if model.components:
        return WeightBytes(outside=sum(_component(c.role, c.parameters, format) for c in model.components))
    if model.image is not None and not model.stacks:
        return WeightBytes(outside=model.total_parameters * format.tower_bytes)
    return _Tally(model, format).result()


def _component(role: str, parameters: int, format: WeightFormat) -> float:
    kept = any(word in role.lower() for word in _UNQUANTISED_COMPONENTS)
    return parameters * (format.tower_bytes if kept else format.bits_per_weight / 8)


def text_stacks(model: ModelSpec) -> tuple[Stack, ...]:
    """The stacks that a served sequence runs through: decoder and encoder; else whatever the model consists of."""
    text = tuple(stack for stack in model.stacks if stack.kind in _TEXT)
    return text or tuple(stack for stack in model.stacks if stack.kind is not StackKind.MTP)


def _shape(model: ModelSpec, stacks: tuple[Stack, ...]) -> gguf.Shape:
    groups, experts = 1, 0
    for layer in _layers(stacks):
        for mixer in layer.mixers:
            if isinstance(mixer, Attention) and mixer.kv_heads:
                groups = max(groups, mixer.heads // mixer.kv_heads)
        experts = max([experts, *(p.experts for p in layer.feed_forwards if isinstance(p, MixtureOfExperts))])
    depth = sum(stack.depth for stack in stacks)
    return gguf.Shape(query_groups=groups, experts=experts, layers=depth, falcon=model.model_type == "falcon")


def _layers(stacks: tuple[Stack, ...]) -> Iterator[Layer]:
    return (run.layer for stack in stacks for run in stack.runs)


class _Tally:
    """Adds up one model's weights in one format."""

    def __init__(self, model: ModelSpec, format: WeightFormat) -> None:
        self.model, self.format = model, format
        self.stacks = text_stacks(model)
        self.shape = _shape(model, self.stacks)
        self.expert_shape = max(
            (
                (part.expert.hidden, part.expert.width)
                for layer in _layers(self.stacks)
                for part in layer.feed_forwards
                if isinstance(part, MixtureOfExperts)
            ),
            default=(0, 0),
        )
        self.by_heads: dict[int, float] = {}
        self.divided = self.replicated = self.experts = self.active = 0.0

    def result(self) -> WeightBytes:
        """The finished tally; a recorded parameter count scales it where the description is known to be inexact."""
        position = 0
        for stack in self.stacks:
            for run in stack.runs:
                self._add_run(run.layer, run.stored_count, position)
                position += run.count
        outside_divided, outside = self._outside()
        scale = self.model.total_parameters / max(1, self.model.computed_parameters)
        return WeightBytes(
            depth=max(1, sum(stack.depth for stack in self.stacks)),
            divided=self.divided * scale,
            grouped=tuple((heads, size * scale) for heads, size in self.by_heads.items()),
            replicated=self.replicated * scale,
            experts=self.experts * scale,
            active_experts=self.active * scale,
            expert_shape=self.expert_shape,
            embedding=self._tables() * scale,
            head=self._head() * scale,
            tied=self.model.tied,
            outside_divided=outside_divided * scale,
            outside=outside * scale,
        )

    def _add_run(self, layer: Layer, count: int, first: int) -> None:
        """`count` equal layers. Only a GGUF mixture makes layers of one run differ."""
        other = self.format.other_bytes
        self.replicated += count * other * sum(norm.parameters for norm in layer.all_norms)
        for extra in layer.all_extras:
            size = self.format.bits_per_weight / 8 if extra.quantisable else other
            self.replicated += count * extra.parameters * size
        by_position = self.format.file_type is not None and not self.format.file_type.plain
        steps = [(first + i, 1) for i in range(count)] if by_position else [(first, count)]
        query_share = _query_shares(layer)
        routed = {id(part): part for part in layer.feed_forwards if isinstance(part, MixtureOfExperts)}
        for part in layer.parts:
            experts = len(part.expert_linears) if id(part) in routed else 0  # type: ignore[union-attr]
            linears = part.linears
            for index, linear in enumerate(linears):
                is_expert = index >= len(linears) - experts
                for position, copies in steps:
                    self._add(linear, copies * self._bytes(linear, position, is_expert), is_expert, query_share)
        for linear in layer.extra_linears:
            for position, copies in steps:
                self._add(linear, copies * self._bytes(linear, position, False), False, query_share)

    def _add(self, linear: Linear, size: float, is_expert: bool, query_share: dict[int, float]) -> None:
        if is_expert:
            self.experts += size
            self.active += size * linear.active / linear.copies
        elif linear.split is Split.KV:
            query = query_share.get(linear.outputs, 0.0) if linear.role == "qkv" else 0.0
            self.divided += size * query
            self.by_heads[linear.kv_heads] = self.by_heads.get(linear.kv_heads, 0.0) + size * (1 - query)
        elif linear.split is Split.REPLICATED:
            self.replicated += size
        else:
            self.divided += size

    def _bytes(self, linear: Linear, position: int, routed: bool) -> float:
        """Bytes of all copies of one layer matrix."""
        if not self.format.covers(linear, routed=routed, has_experts=self.shape.experts > 0):
            return linear.parameters * self.format.other_bytes
        mixture = self.format.file_type
        if mixture is None:
            return linear.copies * self.format.matrix_bytes(linear)
        block = mixture.block(linear.role, position, self.shape, routed=routed)
        bias = linear.outputs * self.format.other_bytes if linear.bias else 0
        return linear.copies * (self._block_bytes(linear.inputs, linear.outputs, block) + bias)

    @staticmethod
    def _block_bytes(columns: int, rows: int, block: str) -> float:
        return columns * rows * gguf.block_bits(gguf.fitting(block, columns)) / 8

    def _tables(self) -> float:
        """Look-up tables. GGUF quantises the token table, as the output matrix where they are one."""
        mixture = self.format.file_type
        size = 0.0
        for table in self.model.embeddings:
            if mixture is not None and table.role in _TOKEN_TABLES:
                block = mixture.table_block(output=self.model.tied, shape=self.shape)
                size += self._block_bytes(table.width, table.rows, block)
            else:
                size += table.parameters * self.format.other_bytes
        return size

    def _head(self) -> float:
        head = self.model.head
        if head is None:
            return 0.0
        mixture = self.format.file_type
        bias = head.outputs * self.format.other_bytes if head.bias else 0
        if mixture is None:
            return head.matrix_elements * self.format.other_bytes + bias
        return self._block_bytes(head.inputs, head.outputs, mixture.table_block(output=True, shape=self.shape)) + bias

    def _outside(self) -> tuple[float, float]:
        """Towers and single matrices (divided by tensor parallel, not divided). GGUF keeps towers in a 16-bit file."""
        linears = [*self.model.linears, *(linear for stack in self.stacks for linear in stack.linears)]
        whole = sum(norm.parameters for norm in self.model.norms) + sum(extra.parameters for extra in self.model.extras)
        for stack in self.stacks:
            whole += sum(n.parameters for n in stack.norms) + sum(e.parameters for e in stack.extras)
        for stack in self.model.stacks:
            if stack in self.stacks or stack.kind is StackKind.MTP:
                continue
            linears.extend(stack.linears)
            inner = sum(
                linear.parameters * run.stored_count
                for run in stack.groups
                for linear in run.layer.linears
                if linear.split is not Split.REPLICATED
            )
            linears.append(Linear(role="tower", inputs=inner, outputs=1, split=Split.COLUMN))
            whole += stack.parameters - inner - sum(linear.parameters for linear in stack.linears)
        divided = sum(linear.parameters for linear in linears if linear.split is not Split.REPLICATED)
        whole += sum(linear.parameters for linear in linears if linear.split is Split.REPLICATED)
        return divided * self.format.tower_bytes, whole * self.format.tower_bytes


def _query_shares(layer: Layer) -> dict[int, float]:
    """The query's share of a fused query-key-value matrix, by the matrix's outputs."""
    return {
        linear.outputs: mixer.heads * mixer.head_dim * (2 if mixer.gated else 1) / linear.outputs
        for mixer in layer.mixers
        if isinstance(mixer, Attention)
        for linear in mixer.linears
        if linear.role == "qkv"
    }


def expert_ranks(layout: Layout) -> Number:
    """GPUs over which one copy of the routed experts is spread.

    Tensor parallel cuts each expert and expert parallel spreads them over replicas, within the ranks there are; an
    engine whose expert-parallel group includes the tensor-parallel ranks (vLLM) comes to the same number.
    """
    replicas = layout.data_parallel * layout.context_parallel
    return minimum(layout.expert_parallel, replicas * layout.tensor_parallel) * expert_cuts(layout)


def expert_cuts(layout: Layout) -> Number:
    """Ways that tensor parallel cuts each expert: what ranks expert parallel leaves for it."""
    ranks = layout.data_parallel * layout.context_parallel * layout.tensor_parallel
    return minimum(layout.tensor_parallel, maximum(1, ranks / maximum(1, layout.expert_parallel)))


def stage_share(depth: Number, pipeline_parallel: Number) -> Number:
    """The share of the layers on the fullest pipeline stage: stages take whole layers."""
    return minimum(1, ceil_div(depth, pipeline_parallel) / depth)


def weights_per_gpu(
    weights: WeightBytes, layout: Layout, *, tables_on_host: bool = False, expert_multiples: tuple[int, int] = (1, 1)
) -> Number:
    """Bytes of weights on the fullest GPU.

    Tensor parallel divides matrices, token table and output (vLLM's vocabulary-parallel layers); keys and values only
    down to one head; norms and routers not at all. Data parallel replicates. The first pipeline stage holds the tables
    and towers, the last the output matrix. `tables_on_host` leaves look-up tables in host memory (llama.cpp);
    `expert_multiples` pad the experts' hidden size and each rank's part of their width.
    """
    tp, pp = layout.tensor_parallel, layout.pipeline_parallel
    experts = weights.experts / expert_ranks(layout)
    if weights.experts:
        hidden, width = weights.expert_shape[0], ceil_div(weights.expert_shape[1], expert_cuts(layout))
        padded = round_up(hidden, expert_multiples[0]) * round_up(width, expert_multiples[1])
        experts = experts * padded / (hidden * width)
    layers = weights.divided / tp + weights.replicated + experts
    for heads, size in weights.grouped:
        layers = layers + size / minimum(tp, max(1, heads))
    first = weights.outside_divided / tp + weights.outside
    table = 0.0 if tables_on_host else weights.embedding / tp
    head = weights.head / tp
    alone = first + (maximum(table, head) if weights.tied else table + head)
    edge = where(pp > 1, maximum(first + table, head), alone)
    return layers * stage_share(weights.depth, pp) + edge
