"""Which layers look back how far: sliding windows, chunks and layer patterns."""

from planner.models.config import Config
from planner.result import InputError, Problem

FULL = "full_attention"
SLIDING = "sliding_attention"


def kinds_of(config: Config, depth: int, default: list[str]) -> list[str]:
    """The kind of every layer: `layer_types` where given (as long as the model is deep), else `default`."""
    kinds = config.items("layer_types", "layers_block_type", default=None)
    if kinds is None:
        return default
    if len(kinds) < depth or not all(isinstance(kind, str) for kind in kinds):
        problem = Problem("wrong-length", f"{config.path}layer_types", len(kinds), {"low": depth, "high": depth})
        raise InputError([problem])
    return [str(kind) for kind in kinds[:depth]]


def every_nth(depth: int, period: int, nth: str = FULL, others: str = SLIDING) -> list[str]:
    """`nth` on layers period - 1, 2 period - 1, ...; `others` elsewhere."""
    return [nth if (index + 1) % period == 0 else others for index in range(depth)]


def window_of(config: Config) -> int | None:
    """The window's width in tokens, or None."""
    width = config.integer("sliding_window", "sliding_window_size", "attention_window_size", default=None, low=0)
    return width or None


def everywhere(config: Config, depth: int) -> list[int | None]:
    """One window for all layers where the configuration has one (Mistral, Phi-3), kinds permitting."""
    return by_kind(config, depth, [SLIDING] * depth)


def by_kind(config: Config, depth: int, default: list[str]) -> list[int | None]:
    """The window of every layer: the configured width on sliding layers, None on the others."""
    width = window_of(config)
    return [width if kind == SLIDING else None for kind in kinds_of(config, depth, default)]


def patterned(config: Config, depth: int, period: int) -> list[int | None]:
    """Every `sliding_window_pattern`-th layer sees everything (Gemma 3, Cohere 2); a text spells the pattern (EXAONE 4:
    LLLG, L for local)."""
    pattern = config.values.get("sliding_window_pattern")
    if isinstance(pattern, str) and 0 < len(pattern) <= 100:
        kinds = [SLIDING if pattern[index % len(pattern)] == "L" else FULL for index in range(depth)]
    else:
        period = config.integer("sliding_window_pattern", "_sliding_window_pattern", default=period, high=depth + 10**4)
        kinds = every_nth(depth, period)
    return by_kind(config, depth, kinds)


def opted_in(config: Config, depth: int) -> list[int | None]:
    """Windows only where `use_sliding_window`, from layer `max_window_layers` on (Qwen2, Qwen3)."""
    if not config.flag("use_sliding_window", default=False):
        return [None] * depth
    return from_layer(config, depth)


def from_layer(config: Config, depth: int) -> list[int | None]:
    """Windows from layer `max_window_layers` on (dots.llm1)."""
    first = config.integer("max_window_layers", default=28, low=0)
    return by_kind(config, depth, [SLIDING if index >= first else FULL for index in range(depth)])
