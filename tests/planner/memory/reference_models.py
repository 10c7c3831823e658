"""Small, independent descriptions of the models that reference values were traced for."""

from dataclasses import dataclass
from functools import lru_cache

from planner.models.spec import (
    Attention,
    Embedding,
    FeedForward,
    ImageCosts,
    LatentAttention,
    Layer,
    Linear,
    MixtureOfExperts,
    ModelSpec,
    ModelTask,
    Norm,
    NormKind,
    Run,
    Stack,
    StackKind,
)


@dataclass(frozen=True, kw_only=True)
class Shape:
    hidden: int
    layers: int
    heads: int
    kv_heads: int = 0
    head_dim: int = 0
    width: int
    vocabulary: int
    kind: str = "llama"
    tied: bool = False
    experts: int = 0
    top_k: int = 0


SHAPES = {
    "llama-2-7b": Shape(hidden=4096, layers=32, heads=32, width=11008, vocabulary=32000),
    "llama-2-70b": Shape(hidden=8192, layers=80, heads=64, kv_heads=8, width=28672, vocabulary=32000),
    "llama-3.1-8b": Shape(hidden=4096, layers=32, heads=32, kv_heads=8, width=14336, vocabulary=128256),
    "llama-3.2-1b": Shape(
        hidden=2048, layers=16, heads=32, kv_heads=8, head_dim=64, width=8192, vocabulary=128256, tied=True
    ),
    "mistral-7b": Shape(hidden=4096, layers=32, heads=32, kv_heads=8, width=14336, vocabulary=32000),
    "qwen2.5-0.5b": Shape(
        hidden=896, layers=24, heads=14, kv_heads=2, width=4864, vocabulary=151936, kind="qwen2", tied=True
    ),
    "qwen3-8b": Shape(
        hidden=4096, layers=36, heads=32, kv_heads=8, head_dim=128, width=12288, vocabulary=151936, kind="qwen3"
    ),
    "phi-3-mini": Shape(hidden=3072, layers=32, heads=32, width=8192, vocabulary=32064, kind="phi3"),
    "gemma-2-9b": Shape(
        hidden=3584,
        layers=42,
        heads=16,
        kv_heads=8,
        head_dim=256,
        width=14336,
        vocabulary=256000,
        kind="gemma2",
        tied=True,
    ),
    "gemma-3-1b": Shape(
        hidden=1152,
        layers=26,
        heads=4,
        kv_heads=1,
        head_dim=256,
        width=6912,
        vocabulary=262144,
        kind="gemma3",
        tied=True,
    ),
    "mixtral-8x7b": Shape(
        hidden=4096, layers=32, heads=32, kv_heads=8, width=14336, vocabulary=32000, experts=8, top_k=2
    ),
    "qwen3-30b-a3b": Shape(
        hidden=2048,
        layers=48,
        heads=32,
        kv_heads=4,
        head_dim=128,
        width=768,
        vocabulary=151936,
        kind="qwen3",
        experts=128,
        top_k=8,
    ),
    "deepseek-v2-lite": Shape(
        hidden=2048, layers=27, heads=16, width=10944, vocabulary=102400, kind="deepseek", experts=64, top_k=6
    ),
    "block:megatron": Shape(hidden=4096, layers=32, heads=32, width=16384, vocabulary=50304, kind="megatron"),
    "gpt2": Shape(hidden=768, layers=12, heads=12, width=3072, vocabulary=50257, kind="gpt2", tied=True),
    "santacoder": Shape(
        hidden=2048, layers=24, heads=16, kv_heads=1, width=8192, vocabulary=49280, kind="bigcode", tied=True
    ),
    "bert-large": Shape(hidden=1024, layers=24, heads=16, width=4096, vocabulary=30522, kind="bert"),
    "vit-l16": Shape(hidden=1024, layers=24, heads=16, width=4096, vocabulary=1000, kind="vit"),
}

LAYER_NORM_KINDS = ("megatron", "gpt2", "bigcode", "bert", "vit")
ACTIVATIONS = {"gpt2": "gelu_new", "gemma2": "gelu_pytorch_tanh", "gemma3": "gelu_pytorch_tanh"}
POSITIONS = {"gpt2": 1024, "bigcode": 2048, "bert": 512, "vit": 197}


@lru_cache
def reference_model(name: str) -> ModelSpec:
    """The description of a model of `SHAPES`, or ResNet-50."""
    if name == "resnet-50":
        costs = ImageCosts(
            parameters=25557032, multiply_accumulates=4.089e9, activation_elements=11114984.0, image_size=224
        )
        return ModelSpec(id=name, name=name, model_type="resnet", task=ModelTask.VISION, image=costs, hidden=2048)
    s = SHAPES[name]
    plain = s.kind in LAYER_NORM_KINDS
    norm = Norm(width=s.hidden, kind=NormKind.LAYER, bias=True) if plain else _rms(s, s.hidden)
    layer = Layer(
        hidden=s.hidden,
        mixers=(_mixer(s),),
        feed_forwards=(_feed_forward(s),),
        norms=(norm,) * (4 if s.kind in ("gemma2", "gemma3") else 2),
    )
    kind = {"bert": StackKind.ENCODER, "vit": StackKind.VISION}.get(s.kind, StackKind.DECODER)
    task = {"bert": ModelTask.ENCODER, "vit": ModelTask.VISION}.get(s.kind, ModelTask.CAUSAL_LM)
    embeddings = () if s.kind == "vit" else (Embedding(role="token", rows=s.vocabulary, width=s.hidden),)
    if s.kind in POSITIONS:
        embeddings += (Embedding(role="position", rows=POSITIONS[s.kind], width=s.hidden),)
    linears: tuple[Linear, ...] = ()
    if s.kind == "bert":  # the masked-language-model head's transform
        linears = (Linear(role="transform", inputs=s.hidden, outputs=s.hidden, bias=True),)
    head = Linear(role="head", inputs=s.hidden, outputs=s.vocabulary)
    return ModelSpec(
        id=name,
        name=name,
        model_type=s.kind,
        task=task,
        hidden=s.hidden,
        vocabulary=s.vocabulary,
        embeddings=embeddings,
        head=None if s.kind == "bert" else head,
        tied=s.tied,
        stacks=(
            Stack(
                kind=kind,
                hidden=s.hidden,
                runs=(Run(layer, s.layers),),
                norms=() if s.kind == "bert" else (norm,),
                tokens_per_item=197 if s.kind == "vit" else None,
            ),
        ),
        norms=(norm,) if s.kind == "bert" else (),
        linears=linears,
        logit_softcap=s.kind == "gemma2",
    )


def _rms(s: Shape, width: int) -> Norm:
    return Norm(width=width, offset_gain=s.kind in ("gemma2", "gemma3"))


def _mixer(s: Shape) -> Attention | LatentAttention:
    if s.kind == "deepseek":
        return LatentAttention(
            hidden=s.hidden,
            heads=s.heads,
            q_lora_rank=None,
            kv_lora_rank=512,
            qk_nope_head_dim=128,
            qk_rope_head_dim=64,
            v_head_dim=128,
        )
    head_dim = s.head_dim or s.hidden // s.heads
    plain = s.kind in LAYER_NORM_KINDS
    qk = (_rms(s, head_dim), _rms(s, head_dim)) if s.kind in ("qwen3", "gemma3") else ()
    bias = plain or s.kind == "qwen2"
    return Attention(
        hidden=s.hidden,
        heads=s.heads,
        kv_heads=s.kv_heads or s.heads,
        head_dim=head_dim,
        q_bias=bias,
        kv_bias=bias,
        o_bias=plain,
        causal=s.kind not in ("bert", "vit"),
        rotary=not plain,
        rotary_joined=s.kind == "phi3",
        fused_qkv=s.kind in ("phi3", "gpt2", "bigcode"),
        qk_norms=qk,
        softcap=s.kind == "gemma2",
    )


def _feed_forward(s: Shape) -> FeedForward | MixtureOfExperts:
    plain = s.kind in LAYER_NORM_KINDS
    activation = ACTIVATIONS.get(s.kind, "gelu" if plain else "silu")

    def dense(width: int, fused: bool = False) -> FeedForward:
        return FeedForward(
            hidden=s.hidden, width=width, gated=not plain, bias=plain, fused_gate=fused, activation=activation
        )

    if not s.experts:
        return dense(s.width, s.kind == "phi3")
    if s.kind == "deepseek":
        return MixtureOfExperts(
            hidden=s.hidden,
            experts=s.experts,
            top_k=s.top_k,
            expert=dense(1408, True),
            shared=dense(2816),
            router_fp32=True,
        )
    return MixtureOfExperts(hidden=s.hidden, experts=s.experts, top_k=s.top_k, expert=dense(s.width, True))
