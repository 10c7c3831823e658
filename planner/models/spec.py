"""The layer description that everything is computed from.

A model is embeddings, stacks of layers, and an output head. A layer is mixers (attention, latent attention, recurrent),
feed-forward parts, and norms; each lists its weight matrices as `Linear`s. Parameters, FLOPs, saved activations,
key/value cache, LoRA adapters, tensor-parallel shards and quantised weights all follow from that one list, so a new
architecture is one function from its configuration to a `ModelSpec`, and nothing else.

All widths are numbers of elements. Everything is immutable.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias


class Split(StrEnum):
    """How tensor parallel divides a matrix."""

    COLUMN = "column"  # outputs are divided
    ROW = "row"  # inputs are divided
    KV = "kv"  # outputs divided by up to the number of key/value heads, then replicated
    REPLICATED = "replicated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """A weight matrix `y = x W + b`.

    `copies` are stored (experts store many), `active` of them are met by one token (a router's top-k).
    `kv_heads` is given where `split` is `KV`.
    """

    role: str  # q, k, v, o, qkv, gate, up, down, router, in_proj, ...; LoRA targets are named by role
    inputs: int
    outputs: int
    bias: bool = False
    copies: int = 1
    active: float = 1
    split: Split = Split.REPLICATED
    kv_heads: int = 0

    @property
    def matrix_elements(self) -> int:
        """Elements of one copy, without the bias."""
        return self.inputs * self.outputs

    @property
    def parameters(self) -> int:
        """Stored parameters of all copies, bias included."""
        return self.copies * (self.inputs * self.outputs + (self.outputs if self.bias else 0))

    @property
    def active_parameters(self) -> float:
        """Parameters that one token meets."""
        return self.active * (self.inputs * self.outputs + (self.outputs if self.bias else 0))


class NormKind(StrEnum):
    RMS = "rms"  # one gain per element; upcasts to fp32 in most implementations
    LAYER = "layer"  # gain, and a bias where `bias`
    NONE = "none"  # normalises without parameters (OLMo 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Norm:
    """A normalisation over `width` elements, stored `copies` times."""

    width: int
    kind: NormKind = NormKind.RMS
    bias: bool = False
    copies: int = 1
    offset_gain: bool = False  # gain applied in fp32: an offset from one (Gemma), or before the cast back (OLMo 2)

    @property
    def parameters(self) -> int:
        if self.kind is NormKind.NONE:
            return 0
        return self.copies * self.width * (2 if self.bias else 1)


@dataclass(frozen=True, slots=True)
class Extra:
    """Parameters that are neither a matrix of a product nor a norm: gains, decay vectors, sinks, position tables."""

    name: str
    parameters: int
    quantisable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """Softmax attention: multi-head, grouped-query or multi-query by `kv_heads`; windowed where `window` is set."""

    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    value_head_dim: int = 0  # 0: as head_dim
    window: int | None = None  # tokens a query looks back; None: all
    chunked: bool = False  # window counts from chunk starts (Llama 4) instead of sliding
    causal: bool = True
    q_bias: bool = False
    kv_bias: bool = False
    k_bias: bool | None = None  # None: as kv_bias (Whisper's keys have none)
    o_bias: bool = False
    fused_qkv: bool = False  # one matrix with role qkv
    qk_norms: tuple[Norm, ...] = ()
    rotary: bool = True
    rotary_joined: bool = False  # rotates a slice and joins it to the rest (Phi, GPT-NeoX, GLM): copied once more
    gated: bool = False  # an output gate doubles q (Qwen3-Next, Qwen3.5)
    cross: bool = False  # keys and values come from `cross_hidden`-wide outer tokens
    cross_hidden: int = 0
    cached: bool = True  # False: reuses another layer's cache (Gemma 3n), or needs none
    projects_kv: bool = True  # False: no k/v matrices of its own
    projects_v: bool = True  # False: values come from the key matrix, too (Gemma 4); both are cached
    output: int = 0  # 0: as hidden
    extras: tuple[Extra, ...] = ()
    softcap: bool = False

    @property
    def v_dim(self) -> int:
        return self.value_head_dim or self.head_dim

    @property
    def linears(self) -> tuple[Linear, ...]:
        q = self.heads * self.head_dim * (2 if self.gated else 1)
        k, v = self.kv_heads * self.head_dim, self.kv_heads * self.v_dim
        source = self.cross_hidden or self.hidden
        out = Linear(
            role="o",
            inputs=self.heads * self.v_dim,
            outputs=self.output or self.hidden,
            bias=self.o_bias,
            split=Split.ROW,
        )
        if self.fused_qkv:
            return (
                Linear(
                    role="qkv",
                    inputs=self.hidden,
                    outputs=q + k + v,
                    bias=self.q_bias,
                    split=Split.KV,
                    kv_heads=self.kv_heads,
                ),
                out,
            )
        q_linear = Linear(role="q", inputs=self.hidden, outputs=q, bias=self.q_bias, split=Split.COLUMN)
        if not self.projects_kv:
            return (q_linear, out)
        k_bias = self.kv_bias if self.k_bias is None else self.k_bias
        k_linear = Linear(role="k", inputs=source, outputs=k, bias=k_bias, split=Split.KV, kv_heads=self.kv_heads)
        if not self.projects_v:
            return (q_linear, k_linear, out)
        return (
            q_linear,
            k_linear,
            Linear(role="v", inputs=source, outputs=v, bias=self.kv_bias, split=Split.KV, kv_heads=self.kv_heads),
            out,
        )

    @property
    def norms(self) -> tuple[Norm, ...]:
        return self.qk_norms


@dataclass(frozen=True, slots=True, kw_only=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2 and later): the cache keeps one latent and one rotary key per token."""

    hidden: int
    heads: int
    q_lora_rank: int | None
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int
    bias: bool = False
    causal: bool = True
    latent_norm: NormKind = NormKind.RMS
    matrices: tuple[Linear, ...] = ()  # stated where they aren't DeepSeek-V2's (DeepSeek-V4); else derived
    extra_linears: tuple[Linear, ...] = ()  # sparse-attention indexer (DeepSeek-V3.2)
    indexer_cache_elements: int = 0  # elements the indexer caches per token
    extras: tuple[Extra, ...] = ()

    @property
    def qk_head_dim(self) -> int:
        return self.qk_nope_head_dim + self.qk_rope_head_dim

    @property
    def linears(self) -> tuple[Linear, ...]:
        if self.matrices:
            return (*self.matrices, *self.extra_linears)
        q_out = self.heads * self.qk_head_dim
        query: tuple[Linear, ...]
        if self.q_lora_rank:
            query = (
                Linear(role="q_a", inputs=self.hidden, outputs=self.q_lora_rank, bias=self.bias),
                Linear(role="q_b", inputs=self.q_lora_rank, outputs=q_out, split=Split.COLUMN),
            )
        else:
            query = (Linear(role="q", inputs=self.hidden, outputs=q_out, split=Split.COLUMN),)
        return (
            *query,
            Linear(role="kv_a", inputs=self.hidden, outputs=self.kv_lora_rank + self.qk_rope_head_dim, bias=self.bias),
            Linear(
                role="kv_b",
                inputs=self.kv_lora_rank,
                split=Split.COLUMN,
                outputs=self.heads * (self.qk_nope_head_dim + self.v_head_dim),
            ),
            Linear(role="o", inputs=self.heads * self.v_head_dim, outputs=self.hidden, bias=self.bias, split=Split.ROW),
            *self.extra_linears,
        )

    @property
    def norms(self) -> tuple[Norm, ...]:
        query = (Norm(width=self.q_lora_rank, kind=self.latent_norm),) if self.q_lora_rank else ()
        return (*query, Norm(width=self.kv_lora_rank, kind=self.latent_norm))


class RecurrentKind(StrEnum):
    MAMBA1 = "mamba1"
    MAMBA2 = "mamba2"
    RWKV = "rwkv"
    LINEAR_ATTENTION = "linear_attention"  # lightning attention, gated delta net, Kimi delta attention
    RGLRU = "rglru"
    SHORT_CONVOLUTION = "short_convolution"
    XLSTM = "xlstm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recurrent:
    """A token mixer whose cache doesn't grow with the context: state space, linear attention, RWKV, convolution."""

    kind: RecurrentKind
    hidden: int
    inner: int  # width that the recurrence runs over
    projections: tuple[Linear, ...]
    state_elements: int = 0  # per sequence; kept in fp32 whatever the model's dtype
    convolution_elements: int = 0  # per sequence; kept in the model's dtype
    scan_flops_per_token: float = 0.0  # beyond the matrices: state update, read-out, convolution
    inner_norms: tuple[Norm, ...] = ()
    extras: tuple[Extra, ...] = ()

    @property
    def linears(self) -> tuple[Linear, ...]:
        return self.projections

    @property
    def norms(self) -> tuple[Norm, ...]:
        return self.inner_norms


Mixer: TypeAlias = Attention | LatentAttention | Recurrent


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedForward:
    """A dense MLP: down(act(up(x))), or down(act(gate(x)) * up(x)) where `gated`."""

    hidden: int
    width: int
    gated: bool = True
    bias: bool = False
    fused_gate: bool = False  # gate and up are one matrix with role gate_up
    activation: str = "silu"
    output: int = 0
    inner_norm: Norm | None = None

    @property
    def linears(self) -> tuple[Linear, ...]:
        down = Linear(
            role="down", inputs=self.width, outputs=self.output or self.hidden, bias=self.bias, split=Split.ROW
        )
        if not self.gated:
            return (Linear(role="up", inputs=self.hidden, outputs=self.width, bias=self.bias, split=Split.COLUMN), down)
        if self.fused_gate:
            return (
                Linear(role="gate_up", inputs=self.hidden, outputs=2 * self.width, bias=self.bias, split=Split.COLUMN),
                down,
            )
        return (
            Linear(role="gate", inputs=self.hidden, outputs=self.width, bias=self.bias, split=Split.COLUMN),
            Linear(role="up", inputs=self.hidden, outputs=self.width, bias=self.bias, split=Split.COLUMN),
            down,
        )

    @property
    def norms(self) -> tuple[Norm, ...]:
        return (self.inner_norm,) if self.inner_norm else ()

    @property
    def extras(self) -> tuple[Extra, ...]:
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MixtureOfExperts:
    """Routed experts, of which each token meets `top_k`, and an optional dense part that every token meets."""

    hidden: int
    experts: int
    top_k: int
    expert: FeedForward
    shared: FeedForward | None = None
    shared_gate: bool = False  # a hidden -> 1 gate on the shared expert
    router_bias: bool = False
    router_fp32: bool = False  # the router's product runs in fp32, on a copy of its input (DeepSeek)
    extras: tuple[Extra, ...] = ()  # e.g. score-correction bias
    extra_linears: tuple[Linear, ...] = ()  # e.g. latent down/up projections around the experts

    @property
    def router(self) -> Linear:
        return Linear(role="router", inputs=self.hidden, outputs=self.experts, bias=self.router_bias)

    @property
    def expert_linears(self) -> tuple[Linear, ...]:
        return tuple(
            Linear(
                role=part.role,
                inputs=part.inputs,
                outputs=part.outputs,
                bias=part.bias,
                copies=self.experts,
                active=self.top_k,
                split=part.split,
            )
            for part in self.expert.linears
        )

    @property
    def dense_linears(self) -> tuple[Linear, ...]:
        gate = (Linear(role="shared_gate", inputs=self.hidden, outputs=1),) if self.shared_gate else ()
        shared = self.shared.linears if self.shared else ()
        return (self.router, *shared, *gate, *self.extra_linears)

    @property
    def linears(self) -> tuple[Linear, ...]:
        return (*self.dense_linears, *self.expert_linears)

    @property
    def norms(self) -> tuple[Norm, ...]:
        return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One layer: mixers, feed-forward parts and norms on a residual stream of `hidden` elements."""

    hidden: int
    mixers: tuple[Mixer, ...] = ()
    feed_forwards: tuple[FeedForward | MixtureOfExperts, ...] = ()
    norms: tuple[Norm, ...] = ()
    extras: tuple[Extra, ...] = ()
    extra_linears: tuple[Linear, ...] = ()
    parallel: bool = False  # several norms read the same residual (GPT-NeoX, Falcon 2)

    @property
    def parts(self) -> tuple[Mixer | FeedForward | MixtureOfExperts, ...]:
        return (*self.mixers, *self.feed_forwards)

    @property
    def linears(self) -> tuple[Linear, ...]:
        return (*(linear for part in self.parts for linear in part.linears), *self.extra_linears)

    @property
    def all_norms(self) -> tuple[Norm, ...]:
        return (*self.norms, *(norm for part in self.parts for norm in part.norms))

    @property
    def all_extras(self) -> tuple[Extra, ...]:
        return (*self.extras, *(extra for part in self.parts for extra in part.extras))

    @property
    def parameters(self) -> int:
        return (
            sum(linear.parameters for linear in self.linears)
            + sum(norm.parameters for norm in self.all_norms)
            + sum(extra.parameters for extra in self.all_extras)
        )

    @property
    def expert_parameters(self) -> int:
        """Parameters of routed experts, which expert parallel divides."""
        return sum(
            linear.parameters
            for part in self.feed_forwards
            if isinstance(part, MixtureOfExperts)
            for linear in part.expert_linears
        )

    @property
    def active_parameters(self) -> float:
        idle = sum(linear.parameters - linear.active_parameters for linear in self.linears)
        return self.parameters - idle


@dataclass(frozen=True, slots=True)
class Run:
    """`count` equal layers in a row. `stored` < count where layers share weights (ALBERT, Zamba)."""

    layer: Layer
    count: int = 1
    stored: int | None = None

    @property
    def stored_count(self) -> int:
        return self.count if self.stored is None else self.stored


class StackKind(StrEnum):
    DECODER = "decoder"
    ENCODER = "encoder"
    VISION = "vision"
    AUDIO = "audio"
    MTP = "mtp"  # multi-token-prediction blocks: stored, used in training and speculation only


@dataclass(frozen=True, kw_only=True)
class Stack:
    """Layers in order, with what comes before and after them (patch embedding, projector, final norm)."""

    kind: StackKind
    hidden: int
    runs: tuple[Run, ...]
    norms: tuple[Norm, ...] = ()
    linears: tuple[Linear, ...] = ()  # outside the layers: patch embedding, merger, projector
    extras: tuple[Extra, ...] = ()
    tokens_per_item: int | None = None  # tokens that one image or audio clip becomes inside this stack
    tokens_out: int | None = None  # tokens that one image or audio clip brings into the decoder
    item_pixels: int | None = None  # side of that image where tokens grow with its area; None: it is resized to fit

    @property
    def depth(self) -> int:
        return sum(run.count for run in self.runs)

    @cached_property
    def groups(self) -> tuple[Run, ...]:
        """The runs with equal layers merged; order is lost."""
        merged: dict[Layer, tuple[int, int]] = {}
        for run in self.runs:
            count, stored = merged.get(run.layer, (0, 0))
            merged[run.layer] = (count + run.count, stored + run.stored_count)
        return tuple(Run(layer, count, stored) for layer, (count, stored) in merged.items())

    def layers(self) -> Iterator[Layer]:
        for run in self.runs:
            for _ in range(run.count):
                yield run.layer

    @cached_property
    def parameters(self) -> int:
        return (
            sum(run.stored_count * run.layer.parameters for run in self.groups)
            + sum(norm.parameters for norm in self.norms)
            + sum(linear.parameters for linear in self.linears)
            + sum(extra.parameters for extra in self.extras)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """A look-up table of `rows` x `width`; role is token, position, type, or a table of another kind."""

    role: str
    rows: int
    width: int

    @property
    def parameters(self) -> int:
        return self.rows * self.width


class ModelTask(StrEnum):
    CAUSAL_LM = "causal-lm"
    MULTIMODAL = "multimodal"
    VISION = "vision"
    EMBEDDING = "embedding"
    ENCODER = "encoder"
    SEQ2SEQ = "seq2seq"
    SPEECH = "speech"
    DIFFUSION = "diffusion"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCosts:
    """A convolutional or other image network, known by its totals at one image size (timm's benchmark tables).

    `multiply_accumulates` and `activation_elements` are for one image of `image_size` x `image_size` pixels; both
    scale with the number of pixels. `activation_elements` counts the outputs of convolutions and products.
    """

    parameters: int
    multiply_accumulates: float
    activation_elements: float
    image_size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """A part of a diffusion pipeline, known by its parameter count."""

    name: str
    role: str  # denoiser, text encoder, vae, ...
    parameters: int


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelSpec:
    """A whole model. Two specs are equal when they are the same object: the catalogue builds each once."""

    id: str
    name: str
    model_type: str
    task: ModelTask = ModelTask.CAUSAL_LM
    family: str = ""
    hidden: int = 0
    vocabulary: int = 0
    max_positions: int | None = None
    embeddings: tuple[Embedding, ...] = ()
    head: Linear | None = None  # output projection; its weight is the token embedding's where `tied`
    tied: bool = False
    logit_softcap: bool = False  # logits pass through a scaled tanh (Gemma 2)
    stacks: tuple[Stack, ...] = ()
    norms: tuple[Norm, ...] = ()  # outside the stacks (embedding norm)
    linears: tuple[Linear, ...] = ()  # outside the stacks (pooler, classifier, embedding projection)
    extras: tuple[Extra, ...] = ()
    image: ImageCosts | None = None
    components: tuple[Component, ...] = ()
    recorded_parameters: int | None = None  # published count, where the configuration alone cannot give it
    assumed: tuple[str, ...] = ()  # what was assumed about an unknown model_type
    dtype: str = "bfloat16"
    quantization: str | None = None  # format the checkpoint is published in, when not 16 or 32 bit
    source: str = ""
    config: dict[str, object] = field(default_factory=dict, repr=False)  # the normalised configuration it came from

    def stack(self, kind: StackKind) -> Stack | None:
        """The first stack of a kind, or None."""
        return next((stack for stack in self.stacks if stack.kind is kind), None)

    @cached_property
    def text_stack(self) -> Stack | None:
        """The stack that the workload's tokens run through: the decoder, else the encoder, else the vision tower."""
        return (
            self.stack(StackKind.DECODER)
            or self.stack(StackKind.ENCODER)
            or self.stack(StackKind.VISION)
            or self.stack(StackKind.AUDIO)
        )

    @cached_property
    def embedding_parameters(self) -> int:
        return sum(table.parameters for table in self.embeddings)

    @cached_property
    def head_parameters(self) -> int:
        """Stored parameters of the output head: only its bias where the weight is tied."""
        if self.head is None:
            return 0
        if self.tied:
            return self.head.outputs if self.head.bias else 0
        return self.head.parameters

    @cached_property
    def computed_parameters(self) -> int:
        """Stored parameters by the description alone, multi-token-prediction blocks left out."""
        if self.image is not None and not self.stacks:
            return self.image.parameters
        if self.components:
            return sum(component.parameters for component in self.components)
        return (
            self.embedding_parameters
            + self.head_parameters
            + sum(stack.parameters for stack in self.stacks if stack.kind is not StackKind.MTP)
            + sum(norm.parameters for norm in self.norms)
            + sum(linear.parameters for linear in self.linears)
            + sum(extra.parameters for extra in self.extras)
        )

    @cached_property
    def total_parameters(self) -> int:
        """Stored parameters: the recorded count where one is needed, else the computed one."""
        return self.computed_parameters if self.recorded_parameters is None else self.recorded_parameters

    @cached_property
    def mtp_parameters(self) -> int:
        return sum(stack.parameters for stack in self.stacks if stack.kind is StackKind.MTP)

    @cached_property
    def expert_parameters(self) -> int:
        return sum(
            run.stored_count * run.layer.expert_parameters
            for stack in self.stacks
            if stack.kind is not StackKind.MTP
            for run in stack.groups
        )

    @cached_property
    def active_parameters(self) -> int:
        """Parameters that one token meets: all, less the routed experts that the router leaves out."""
        idle = sum(
            run.stored_count * (run.layer.parameters - run.layer.active_parameters)
            for stack in self.stacks
            if stack.kind is not StackKind.MTP
            for run in stack.groups
        )
        return round(self.total_parameters - idle)
