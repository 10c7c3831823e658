"""What a model computes: matrix products, attention, scans and element-wise passes, read once from its description.

Counts are per token and exact; `planner.throughput.roofline` turns them into seconds. Everything here is one pass
over the layer description, kept per model, so that a sweep over a hundred thousand layouts costs a few array
operations per distinct matrix.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from planner.models.spec import (
    Attention,
    FeedForward,
    LatentAttention,
    Layer,
    Linear,
    Mixer,
    ModelSpec,
    NormKind,
    Recurrent,
    Split,
    Stack,
    StackKind,
)
from planner.numeric import Number, minimum


@dataclass(frozen=True, slots=True)
class Product:
    """A matrix product that `layers` layers hold: each token meets `active` of the `copies` stored matrices."""

    role: str
    inputs: int
    outputs: int
    layers: float = 1
    copies: int = 1
    active: float = 1
    split: Split = Split.REPLICATED
    kv_heads: int = 0

    @property
    def routed(self) -> bool:
        """Whether a router picks among the copies."""
        return self.copies > 1

    @property
    def elements(self) -> float:
        """Matrix elements that one token meets, all layers together."""
        return self.layers * self.active * self.inputs * self.outputs

    def local(self, tensor_parallel: Number) -> tuple[Number, Number]:
        """Inputs and outputs of the part that one tensor-parallel rank holds."""
        if self.split is Split.COLUMN:
            return self.inputs, self.outputs / tensor_parallel
        if self.split is Split.ROW:
            return self.inputs / tensor_parallel, self.outputs
        if self.split is Split.KV:
            return self.inputs, self.outputs / minimum(tensor_parallel, self.kv_heads)
        return self.inputs, self.outputs


@dataclass(frozen=True, slots=True)
class AttentionCore:
    """The two products of attention (scores, and scores times values) of `layers` equal layers."""

    layers: float
    heads: int
    kv_heads: int
    key_dim: int
    value_dim: int
    cache_elements: int  # elements that one token keeps in one layer, over all key/value heads; 0: none of its own
    window: int | None = None
    causal: bool = True
    latent: bool = False

    @property
    def flops_per_pair(self) -> int:
        """FLOPs of one query token meeting one key, over all heads of one layer: 2 a (d_qk + d_v)."""
        return 2 * self.heads * (self.key_dim + self.value_dim)

    def span(self, keys: Number) -> Number:
        """Keys that one query can see at most."""
        return keys if self.window is None else minimum(keys, self.window)


@dataclass(frozen=True, slots=True)
class Elementwise:
    """Elements per token that pass through each kind of element-wise kernel, all layers together."""

    rms_norm: float = 0
    layer_norm: float = 0
    gated: float = 0  # act(gate) * up
    activation: float = 0  # plain activation
    residual: float = 0
    rotary: float = 0
    routed: float = 0  # tokens sent to experts and back


@dataclass(frozen=True, slots=True)
class StackWork:
    """One stack: its products, attention cores, scans and element-wise passes. Counts are for one token."""

    kind: StackKind
    depth: int
    hidden: int
    products: tuple[Product, ...]
    cores: tuple[AttentionCore, ...]
    elementwise: Elementwise
    scan_flops: float = 0  # recurrences, beyond their matrices
    state_elements: float = 0  # recurrent state of one sequence, all layers
    routed_layers: float = 0  # layers with routed experts
    tokens_per_item: int | None = None
    normed_output: bool = False  # something after the last product saves its output (post-norm)

    @property
    def matrix_elements(self) -> float:
        """Matrix elements that one token meets: half its FLOPs in products."""
        return sum(product.elements for product in self.products)

    def attention_flops(self, tokens: Number, keys: Number) -> Number:
        """FLOPs of attention as the field counts them: every pair of query and key, masked, windowed or not."""
        return sum(core.layers * core.flops_per_pair for core in self.cores) * tokens * keys


@dataclass(frozen=True, slots=True)
class ModelWork:
    """All of a model: its stacks, the products outside them, and the output head."""

    stacks: tuple[StackWork, ...]  # the one that tokens run through first
    head: Product | None
    outside: tuple[Product, ...] = ()
    vocabulary: int = 0

    @property
    def main(self) -> StackWork:
        """The stack that the workload's tokens run through."""
        return self.stacks[0]


def _attention(mixer: Attention, layers: int) -> AttentionCore:
    cached = mixer.cached and not mixer.cross
    return AttentionCore(
        layers=layers,
        heads=mixer.heads,
        kv_heads=mixer.kv_heads,
        key_dim=mixer.head_dim,
        value_dim=mixer.v_dim,
        cache_elements=mixer.kv_heads * (mixer.head_dim + mixer.v_dim) if cached else 0,
        window=mixer.window,
        causal=mixer.causal and not mixer.cross,
    )


def _latent(mixer: LatentAttention, layers: int) -> AttentionCore:
    return AttentionCore(
        layers=layers,
        heads=mixer.heads,
        kv_heads=1,
        key_dim=mixer.qk_head_dim,
        value_dim=mixer.v_head_dim,
        cache_elements=mixer.kv_lora_rank + mixer.qk_rope_head_dim + mixer.indexer_cache_elements,
        causal=mixer.causal,
        latent=True,
    )


def _core(mixer: Mixer, layers: int) -> AttentionCore | None:
    if isinstance(mixer, Attention):
        return _attention(mixer, layers)
    return _latent(mixer, layers) if isinstance(mixer, LatentAttention) else None


def _product(linear: Linear, layers: float) -> Product:
    return Product(
        linear.role, linear.inputs, linear.outputs, layers, linear.copies, linear.active, linear.split, linear.kv_heads
    )


def _norm_elements(layer: Layer) -> Iterator[tuple[str, float]]:
    """Norms by kind; a norm over one head runs once for each head, which its width alone does not show."""
    per_head = {
        id(norm): (mixer.heads if place == 0 else mixer.kv_heads)
        for mixer in layer.mixers
        if isinstance(mixer, Attention)
        for place, norm in enumerate(mixer.qk_norms)
        if norm.width == mixer.head_dim
    }
    for norm in layer.all_norms:
        kind = "layer_norm" if norm.kind is NormKind.LAYER else "rms_norm"
        yield kind, norm.width * per_head.get(id(norm), 1)


def _feed_forward_elements(part: FeedForward, active: float) -> tuple[str, float]:
    return ("gated" if part.gated else "activation"), active * part.width


def _elements(layer: Layer) -> Iterator[tuple[str, float]]:
    yield from _norm_elements(layer)
    for mixer in layer.mixers:
        yield "residual", layer.hidden
        if isinstance(mixer, Attention) and mixer.rotary:
            yield "rotary", (mixer.heads + mixer.kv_heads) * mixer.head_dim
        elif isinstance(mixer, LatentAttention):
            yield "rotary", (mixer.heads + 1) * mixer.qk_rope_head_dim
        elif isinstance(mixer, Recurrent):
            yield "gated", mixer.inner
    for part in layer.feed_forwards:
        yield "residual", layer.hidden
        if isinstance(part, FeedForward):
            yield _feed_forward_elements(part, 1)
        else:
            yield _feed_forward_elements(part.expert, part.top_k)
            yield "routed", layer.hidden * part.top_k
            if part.shared:
                yield _feed_forward_elements(part.shared, 1)


def _normed_output(stack: Stack) -> bool:
    """Whether a layer ends in a norm: BERT-like encoders (two norms, after the sums) and Gemma's sandwich norms."""
    deepest = max((len(run.layer.norms) for run in stack.runs), default=0)
    return deepest > 2 or (stack.kind is StackKind.ENCODER and deepest == 2)


def _stack_work(stack: Stack) -> StackWork:
    products: Counter[Product] = Counter()
    cores: Counter[AttentionCore] = Counter()
    elements: dict[str, float] = {}
    scan = state = routed = 0.0
    for run in stack.groups:
        layer, count = run.layer, run.count
        for linear in layer.linears:
            products[_product(linear, 1)] += count
        for mixer in layer.mixers:
            if core := _core(mixer, 1):
                cores[core] += count
            elif isinstance(mixer, Recurrent):
                scan += count * mixer.scan_flops_per_token
                state += count * mixer.state_elements
        for kind, width in _elements(layer):
            elements[kind] = elements.get(kind, 0.0) + count * width
        routed += count * any(linear.copies > 1 for linear in layer.linears)
    return StackWork(
        kind=stack.kind,
        depth=stack.depth,
        hidden=stack.hidden,
        products=tuple(replace(product, layers=count) for product, count in products.items()),
        cores=tuple(replace(core, layers=count) for core, count in cores.items()),
        elementwise=Elementwise(**elements),
        scan_flops=scan,
        state_elements=state,
        routed_layers=routed,
        tokens_per_item=stack.tokens_per_item,
        normed_output=_normed_output(stack),
    )


@lru_cache(maxsize=4096)
def model_work(spec: ModelSpec) -> ModelWork:
    """The work of a model, kept for each model object. Prediction blocks (MTP) run in training only: left out."""
    main = spec.text_stack
    rest = [s for s in spec.stacks if s is not main and s.kind is not StackKind.MTP and s.depth]
    stacks = tuple(_stack_work(stack) for stack in ([main] if main else []) + rest)
    head = None
    if spec.head is not None:
        head = Product("head", spec.head.inputs, spec.head.outputs, split=Split.COLUMN)
    return ModelWork(stacks, head, tuple(_product(linear, 1) for linear in spec.linears), spec.vocabulary)


def forward_flops(spec: ModelSpec, sequences: Number, length: Number) -> tuple[Number, Number]:
    """FLOPs of one forward pass over `sequences` x `length` tokens: matrix products (head included), attention.

    2 N_mat T + 4 L T s a d, where N_mat are the matrices a token meets. Source: Kaplan et al. 2020
    (arXiv:2001.08361), PaLM (arXiv:2204.02311) appendix B. Both stacks of an encoder-decoder get `length` tokens.
    Image networks are known by their multiply-accumulates.
    """
    if spec.image is not None and not spec.stacks:
        return 2 * spec.image.multiply_accumulates * sequences, 0.0
    work = model_work(spec)
    tokens = sequences * length
    head = work.head.elements if work.head else 0
    matrices = 2 * tokens * (work.main.matrix_elements + head) + tokens * work.main.scan_flops
    attention = work.main.attention_flops(tokens, length)
    for stack in work.stacks[1:]:
        if stack.kind is StackKind.ENCODER:
            matrices = matrices + 2 * tokens * stack.matrix_elements
            attention = attention + stack.attention_flops(tokens, length)
    return matrices, attention


def backward_flops(matrices: Number, attention: Number, fused: bool = True) -> Number:
    """FLOPs of the backward pass for forward FLOPs in products and in attention.

    Each product needs two (input and weight gradients). Fused attention computes the scores again: five products
    against the forward pass's two. Source: FlashAttention (arXiv:2205.14135), appendix B.
    """
    return 2 * matrices + (2.5 if fused else 2.0) * attention
