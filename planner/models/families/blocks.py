"""The bidirectional transformer block that encoders, vision towers and audio towers share."""

from planner.models.config import Config
from planner.models.spec import Attention, Embedding, Extra, FeedForward, Layer, Linear, Norm, NormKind

MOST_LAYERS = 1000
"""No real stack is deeper; a deeper one is a mistake or an attack."""


def layer_norm(width: int, copies: int = 1) -> Norm:
    """A LayerNorm with gain and bias."""
    return Norm(width=width, kind=NormKind.LAYER, bias=True, copies=copies)


def rms_norm(width: int, copies: int = 1) -> Norm:
    """An RMSNorm with a gain."""
    return Norm(width=width, copies=copies)


def linear(role: str, inputs: int, outputs: int, *, bias: bool = True, active: float = 1, copies: int = 1) -> Linear:
    """A replicated matrix outside the layers; `active` is how often it is applied for one token of its stack."""
    return Linear(role=role, inputs=inputs, outputs=outputs, bias=bias, active=active, copies=copies)


def self_attention(
    hidden: int,
    heads: int,
    *,
    head_dim: int = 0,
    bias: bool = True,
    k_bias: bool | None = None,
    o_bias: bool | None = None,
    rotary: bool = False,
    fused: bool = False,
    window: int | None = None,
    causal: bool = False,
    cached: bool = False,
    qk_norms: tuple[Norm, ...] = (),
    extras: tuple[Extra, ...] = (),
) -> Attention:
    """Multi-head self-attention, bidirectional and without a cache by default.

    `window` is then the number of tokens that a query meets in all, before and after it.
    """
    return Attention(
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_dim=head_dim or max(1, hidden // heads),
        q_bias=bias,
        kv_bias=bias,
        k_bias=k_bias,
        o_bias=bias if o_bias is None else o_bias,
        rotary=rotary,
        fused_qkv=fused,
        window=window,
        causal=causal,
        cached=cached,
        qk_norms=qk_norms,
        extras=extras,
    )


def cross_attention(
    hidden: int, heads: int, *, head_dim: int = 0, source: int = 0, bias: bool = True, k_bias: bool | None = None
) -> Attention:
    """Multi-head attention to `source`-wide encoder tokens (0: as wide as the decoder), whose keys are cached."""
    return Attention(
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_dim=head_dim or max(1, hidden // heads),
        q_bias=bias,
        kv_bias=bias,
        k_bias=k_bias,
        o_bias=bias,
        rotary=False,
        causal=False,
        cross=True,
        cross_hidden=source,
    )


def mlp(hidden: int, width: int, *, activation: str = "gelu", gated: bool = False, bias: bool = True) -> FeedForward:
    """A dense MLP, ungated with biases by default."""
    return FeedForward(hidden=hidden, width=width, gated=gated, bias=bias, activation=activation)


def block(attention: Attention, feed_forward: FeedForward, norm: Norm, *extras: Extra) -> Layer:
    """Attention and MLP on one residual stream with a norm for each."""
    return Layer(
        hidden=attention.hidden, mixers=(attention,), feed_forwards=(feed_forward,), norms=(norm, norm), extras=extras
    )


def layers_of(config: Config, *names: str) -> int:
    """The number of layers that the configuration names, within reason."""
    depth: int = config.integer(*names, high=MOST_LAYERS)
    return depth


def tables(width: int, **rows: int) -> tuple[Embedding, ...]:
    """Embedding tables by role; a table without rows is left out."""
    return tuple(Embedding(role=role, rows=count, width=width) for role, count in rows.items() if count)


def architecture(config: Config) -> str:
    """The class that the checkpoint was saved from, or an empty string."""
    names = config.items("architectures", default=[])
    return names[0] if names and isinstance(names[0], str) else ""
