"""What a decoder keeps per sequence between steps: keys and values, latents, recurrent states.

Derived from the layer description alone. Full attention grows with every token; a sliding window stops growing at the
window; latent attention keeps one latent and one rotary key per token, whole on every tensor-parallel rank; recurrent
mixers keep a state whose size does not depend on the tokens; encoders keep nothing.
"""

from dataclasses import dataclass
from functools import lru_cache

from planner.memory.formats import kv_element_bytes
from planner.models.spec import Attention, LatentAttention, Mixer, ModelSpec, Recurrent, StackKind
from planner.numeric import Number, minimum, round_up

STATE_BYTES = 4
"""Recurrent states are kept in fp32 whatever the model's dtype (transformers 5.24: Mamba, Jamba, Qwen3-Next)."""

INDEX_BYTES = 1 + 4 / 128
"""Sparse attention's index keys: FP8 with one fp32 scale for 128 (DeepSeek-V3.2 inference code, vLLM, SGLang)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCache:
    """Layers that keep the same thing for each token. `elements` is of one layer and all its heads."""

    layers: int
    elements: int  # keys and values together
    heads: int  # tensor parallel divides by at most this; 1: whole on every rank
    window: int | None = None  # most tokens kept; None: all
    cross: bool = False  # grows with the encoder's tokens instead
    index_elements: int = 0  # of a sparse-attention indexer


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheLayout:
    """All that one sequence leaves in memory, layers of one kind together."""

    depth: int = 1  # layers that pipeline stages share out
    tokens: tuple[TokenCache, ...] = ()
    state_elements: int = 0  # recurrent states of all layers
    convolution_elements: int = 0
    recurrent_layers: int = 0

    @property
    def largest(self) -> TokenCache | None:
        """The kind whose single layer keeps most for a token."""
        return max(self.tokens, key=lambda kind: kind.elements, default=None)


@lru_cache(maxsize=512)
def cache_layout(model: ModelSpec) -> CacheLayout:
    """What the model's decoder caches, from its layers. Models without a decoder cache nothing."""
    decoder = model.stack(StackKind.DECODER)
    if decoder is None:
        return CacheLayout()
    counts: dict[TokenCache, int] = {}
    state = convolution = recurrent = 0
    for run in decoder.groups:
        for mixer in run.layer.mixers:
            if isinstance(mixer, Recurrent):
                state += run.count * mixer.state_elements
                convolution += run.count * mixer.convolution_elements
                recurrent += run.count
            elif (kind := _token_cache(mixer)) is not None:
                counts[kind] = counts.get(kind, 0) + run.count
    kinds = tuple(
        TokenCache(
            layers=count,
            elements=kind.elements,
            heads=kind.heads,
            window=kind.window,
            cross=kind.cross,
            index_elements=kind.index_elements,
        )
        for kind, count in counts.items()
    )
    return CacheLayout(
        depth=max(1, decoder.depth),
        tokens=kinds,
        state_elements=state,
        convolution_elements=convolution,
        recurrent_layers=recurrent,
    )


def _token_cache(mixer: Mixer) -> TokenCache | None:
    if isinstance(mixer, LatentAttention):
        width = mixer.kv_lora_rank + mixer.qk_rope_head_dim
        return TokenCache(layers=1, elements=width, heads=1, index_elements=mixer.indexer_cache_elements)
    if not isinstance(mixer, Attention) or not mixer.cached:
        return None
    width = mixer.kv_heads * (mixer.head_dim + mixer.v_dim)
    return TokenCache(layers=1, elements=width, heads=mixer.kv_heads, window=mixer.window, cross=mixer.cross)


def model_element_bytes(model: ModelSpec) -> int:
    """Bytes of an element in the dtype that the checkpoint names."""
    return 4 if model.dtype in ("float32", "fp32") else 2


def kv_bytes(
    model: ModelSpec,
    tokens: Number,
    kv_dtype: str = "auto",
    *,
    tensor_parallel: Number = 1,
    encoder_tokens: Number = 0,
    block_tokens: int = 1,
    window_slack: int = 0,
    auto_bytes: Number | None = None,
) -> Number:
    """Bytes of keys and values (or latents) of one sequence of `tokens`, on one tensor-parallel rank, all layers.

    Full attention: layers x kv_heads x (key width + value width) x bytes of an element, for each token (2 L H d b);
    windows: for min(tokens, window). Key/value heads are divided by up to their number and then replicated; latents
    are not divided. Engines that page round tokens up to `block_tokens`, and keep `window_slack` beyond a window.
    `auto_bytes` is what dtype "auto" means (default: the checkpoint's dtype). Recurrent states: `state_bytes`.
    Source: exact against transformers 5.24 caches; vLLM 0.19 start-up logs within print rounding.
    """
    size = kv_element_bytes(kv_dtype, model_element_bytes(model) if auto_bytes is None else auto_bytes)
    total: Number = 0
    for kind in cache_layout(model).tokens:
        kept = kept_tokens(kind, encoder_tokens if kind.cross else tokens, block_tokens, window_slack)
        per_token = kind.elements * size / minimum(tensor_parallel, kind.heads) + kind.index_elements * INDEX_BYTES
        total = total + kind.layers * kept * per_token
    return total


def kept_tokens(kind: TokenCache, tokens: Number, block_tokens: int = 1, window_slack: int = 0) -> Number:
    """Tokens of a sequence that one kind of layer keeps: all, or the window and its slack; in whole blocks."""
    paged = round_up(tokens, block_tokens) if block_tokens > 1 else tokens
    if kind.window is None:
        return paged
    return minimum(paged, round_up(kind.window + window_slack, block_tokens))


def state_bytes(model: ModelSpec, *, tensor_parallel: Number = 1, convolution_bytes: Number | None = None) -> Number:
    """Bytes of recurrent states of one sequence on one tensor-parallel rank: fp32 states, convolutions in model dtype.

    Constant in the number of tokens; heads (channels) are divided by tensor parallel.
    Source: transformers 5.24 caches, exact; llama.cpp start-up logs.
    """
    layout = cache_layout(model)
    convolution = model_element_bytes(model) if convolution_bytes is None else convolution_bytes
    return (layout.state_elements * STATE_BYTES + layout.convolution_elements * convolution) / tensor_parallel


def kv_bytes_per_token(
    model: ModelSpec, kv_dtype: str = "auto", *, tokens: Number = 1 << 40, tensor_parallel: Number = 1
) -> Number:
    """Bytes that the cache grows by with one more token after `tokens` (default: when every window is full)."""
    size = kv_element_bytes(kv_dtype, model_element_bytes(model))
    total: Number = 0
    for kind in cache_layout(model).tokens:
        if kind.cross:
            continue
        per_token = kind.elements * size / minimum(tensor_parallel, kind.heads) + kind.index_elements * INDEX_BYTES
        grows = 1 if kind.window is None else (tokens < kind.window) * 1
        total = total + kind.layers * per_token * grows
    return total
