"""The parts of a layer: weight matrices, norms, token mixers, feed-forward parts.

Each lists its matrices as `Linear`s; `planner.models.spec` puts them together. Widths are numbers of elements.
"""

from dataclasses import dataclass
from enum import StrEnum
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
