"""Small models described by hand, so that these tests depend on no family's reader."""

from planner.hardware.types import Cluster, Gpu
from planner.models.spec import (
    Attention,
    Embedding,
    FeedForward,
    LatentAttention,
    Layer,
    Linear,
    Mixer,
    MixtureOfExperts,
    ModelSpec,
    Norm,
    Recurrent,
    RecurrentKind,
    Run,
    Split,
    Stack,
    StackKind,
)
from planner.units import GIB

H100 = Gpu(
    id="h100-sxm5-80gb",
    name="H100",
    vendor="NVIDIA",
    architecture="Hopper",
    memory_bytes=int(79.19 * GIB),
    nvlink_bandwidth=900e9,
)
"""With the memory that a process sees, as vLLM's logs print it."""


def cluster(gpus: int = 1) -> Cluster:
    return Cluster(gpu=H100, gpus=gpus)


def decoder(
    runs: tuple[Run, ...], hidden: int, vocabulary: int, *, tied: bool = False, name: str = "llama"
) -> ModelSpec:
    return ModelSpec(
        id=name,
        name=name,
        model_type=name,
        hidden=hidden,
        vocabulary=vocabulary,
        tied=tied,
        embeddings=(Embedding(role="token", rows=vocabulary, width=hidden),),
        head=Linear(role="lm_head", inputs=hidden, outputs=vocabulary, split=Split.COLUMN),
        stacks=(Stack(kind=StackKind.DECODER, hidden=hidden, runs=runs, norms=(Norm(width=hidden),)),),
    )


def layer(hidden: int, mixer: Mixer, width: int, experts: int = 0, top_k: int = 2) -> Layer:
    mlp = FeedForward(hidden=hidden, width=width)
    part = MixtureOfExperts(hidden=hidden, experts=experts, top_k=top_k, expert=mlp) if experts else mlp
    return Layer(hidden=hidden, mixers=(mixer,), feed_forwards=(part,), norms=(Norm(width=hidden),) * 2)


def attention(hidden: int = 4096, heads: int = 32, kv_heads: int = 8, head_dim: int = 128, **more: object) -> Attention:
    return Attention(hidden=hidden, heads=heads, kv_heads=kv_heads, head_dim=head_dim, **more)  # type: ignore[arg-type]


def llama_8b() -> ModelSpec:
    return decoder((Run(layer(4096, attention(), 14336), 32),), 4096, 128256)


def mixtral_8x22b() -> ModelSpec:
    mixer = attention(6144, 48, 8)
    return decoder((Run(layer(6144, mixer, 16384, experts=8), 56),), 6144, 32768)


def deepseek_v3_attention() -> ModelSpec:
    """DeepSeek-V3's attention with a small MLP: its cache is the real one's."""
    mixer = LatentAttention(
        hidden=7168,
        heads=128,
        q_lora_rank=1536,
        kv_lora_rank=512,
        qk_nope_head_dim=128,
        qk_rope_head_dim=64,
        v_head_dim=128,
    )
    return decoder((Run(layer(7168, mixer, 2048), 61),), 7168, 129280)


def hybrid() -> ModelSpec:
    """Qwen3.5-27B's shape: three gated delta layers for each full-attention layer."""
    recurrent = Recurrent(
        kind=RecurrentKind.LINEAR_ATTENTION,
        hidden=5120,
        inner=6144,
        projections=(Linear(role="in_proj", inputs=5120, outputs=10240, split=Split.COLUMN),),
        state_elements=48 * 128 * 128,
        convolution_elements=10240 * 3,
    )
    full = attention(5120, 24, 4, 256)
    runs = (Run(layer(5120, recurrent, 17408), 48), Run(layer(5120, full, 17408), 16))
    return decoder(runs, 5120, 248320, name="hybrid")
