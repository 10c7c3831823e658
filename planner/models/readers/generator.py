"""Transformers that exist only as a size, or as a handful of dimensions.

"A transformer of N parameters" is a Llama-like decoder whose proportions follow published ones. A decoder has about
12 x depth x width^2 parameters (Kaplan et al., arXiv 2001.08361, section 2.1). Width over depth grows from 64 at 100M
(GPT-3's table 2.1, arXiv 2005.14165: 768 / 12) to 128 at 7B and stays there (Llama 2 and 3, arXiv 2307.09288 and
2407.21783 table 3: 4096 / 32, 8192 / 80, 16384 / 126). The gated MLP is 8/3 to 3.5 times as wide. From 6.5B up there
are 8 key/value heads and 128k tokens of vocabulary (Llama 3); below, as many key/value heads as heads, 32k tokens
(Llama 2), and tied embeddings under 3B (Llama 3.2). The MLP's width is then set so that the count is N.
"""

import math
from functools import lru_cache
from typing import Any

from planner.models.config import Config

SMALLEST, LARGEST = 1e7, 2e12
"""Parameters between which a size makes a transformer."""

MLP_RATIO = 3.0
"""Width of the gated MLP over the model's width: between Llama 2's 8/3 and Llama 3's 3.5."""


def _aspect(parameters: float) -> float:
    """Width over depth."""
    share = math.log(parameters / 1e8) / math.log(7e9 / 1e8)
    return float(64 * 2 ** min(1.0, max(0.0, share)))


def _step(width: int) -> int:
    """Multiple that the MLP's width is rounded to: 256 for wide models, finer for narrow ones."""
    return 256 if width >= 4096 else 64 if width >= 1024 else 8


@lru_cache(maxsize=256)
def _dimensions(parameters: float) -> tuple[int, int, int, int, int, int, bool]:
    """Depth, width, heads, key/value heads, MLP width, vocabulary, tied: the best proportions of those that count N."""
    large, tied = parameters >= 6.5e9, parameters < 3e9
    vocabulary = 128_256 if large else 32_000
    aspect = _aspect(parameters)
    depth_guess = (parameters / (12 * aspect**2)) ** (1 / 3)
    multiple = 1024 if large else 512 if parameters >= 1e9 else 128  # heads that tensor parallel divides
    best: tuple[float, tuple[int, int, int, int, int, int, bool]] | None = None
    for depth in range(max(2, int(depth_guess * 0.6)), int(depth_guess * 1.6) + 3):
        low = max(1, int(depth * aspect * 0.4 / multiple))
        for width in range(low * multiple, int(depth * aspect * 2.2) + multiple + 1, multiple):
            head_dim = 128 if width >= 1024 else 64
            heads = width // head_dim
            kv_heads = 8 if large else heads
            outer = vocabulary * width * (1 if tied else 2) + width
            attention = 2 * width * (heads + kv_heads) * head_dim
            left = (parameters - outer) / depth - attention - 2 * width
            step = _step(width)
            mlp = round(left / (3 * width) / step) * step
            if mlp < width:
                continue
            count = outer + depth * (attention + 2 * width + 3 * width * mlp)
            error = abs(count / parameters - 1)
            cost = abs(math.log(width / depth / aspect)) + abs(math.log(mlp / width / MLP_RATIO)) + 10 * error
            if error < 0.005 and (best is None or cost < best[0]):
                best = cost, (depth, width, heads, kv_heads, mlp, vocabulary, tied)
    if best is None:
        raise ValueError(f"no proportions for {parameters} parameters")  # none of the range: a test walks it
    return best[1]


def transformer(parameters: float) -> dict[str, Any]:
    """The configuration of a decoder with `parameters` parameters, exact to 1 %, from 10M to 2T."""
    wanted = Config({"parameters": parameters}).number("parameters", low=SMALLEST, high=LARGEST)
    depth, width, heads, kv_heads, mlp, vocabulary, tied = _dimensions(float(wanted))
    return free_dimensions(
        depth=depth, width=width, heads=heads, kv_heads=kv_heads, mlp_width=mlp, vocabulary=vocabulary, tied=tied
    )


def free_dimensions(
    *,
    depth: int,
    width: int,
    heads: int,
    mlp_width: int,
    vocabulary: int,
    kv_heads: int | None = None,
    head_dim: int | None = None,
    experts: int = 0,
    top_k: int = 2,
    tied: bool = False,
    positions: int = 131_072,
) -> dict[str, Any]:
    """The configuration of a Llama-like decoder (Mixtral-like where it has `experts`, each `mlp_width` wide)."""
    config: dict[str, Any] = {
        "model_type": "mixtral" if experts else "llama",
        "num_hidden_layers": depth,
        "hidden_size": width,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads or heads,
        "head_dim": head_dim or max(1, width // heads),
        "intermediate_size": mlp_width,
        "vocab_size": vocabulary,
        "tie_word_embeddings": tied,
        "max_position_embeddings": positions,
        "torch_dtype": "bfloat16",
    }
    if experts:
        config.update(num_local_experts=experts, num_experts_per_tok=top_k)
    return config
