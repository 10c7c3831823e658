"""GPU names as sources write them -> the catalogue: words of the name, and the memory size where several share it."""

import re
from functools import lru_cache

from planner.hardware import catalogue
from planner.hardware.types import Gpu
from planner.naming.named import Named, refuse

_IDLE = frozenset(
    [
        "nvidia",
        "geforce",
        "amd",
        "intel",
        "radeon",
        "instinct",
        "tesla",
        "gpu",
        "gpus",
        "graphics",
        "apple",
        "edition",
        "generation",
        "card",
        "dgx",
        "hgx",
        "quadro",
        "accelerator",
        "x",
        "blackwell",
        "nvl72",
        "nvl36",
    ]
)
_MEMORY = re.compile(r"(\d+)\s?gi?b\b")
_FORMS = ("sxm", "pcie", "nvl", "oam")
MEMORY_TOLERANCE = 0.07
"""A marketed size against the one that a source writes: 180 or 192 for B200, 186 or 189 for GB200."""
_SYNONYMS = {"strix halo": "ryzen ai max 395"}
_RARE = frozenset({"h100-sxm5-64gb"})
"""Cards built for one machine: meant only where their memory size is told."""


@lru_cache(maxsize=4096)
def named_gpu(text: str, memory_gb: float | None = None) -> Named[Gpu]:
    """The accelerator that a source's text means; `memory_gb` is its marketed size in GB where the source tells it.

    Raises `InputError`: "no-gpu-stated", "unknown-gpu", or "ambiguous-gpu" where several would answer. A data-centre
    card whose form factor isn't told is taken as the SXM one, and the assumption is noted.
    """
    if not text.strip() or text.strip().lower() in ("unspecified", "unknown", "n/a", "-"):
        raise refuse("no-gpu-stated", "gpu", text)
    sizes = [float(size) for size in _MEMORY.findall(text.lower())]
    size = sizes[0] if sizes else memory_gb
    plain = _MEMORY.sub(" ", text.lower())
    for name, known in _SYNONYMS.items():
        plain = plain.replace(name, known)
    words = _words(plain)
    candidates = [
        g for g in catalogue.gpus() if words and words <= _known_words(g) and (size is not None or g.id not in _RARE)
    ]
    if size is not None:
        candidates = [g for g in candidates if _same_size(g, size)]
    if not candidates:
        raise refuse("unknown-gpu", "gpu", text, nearest=catalogue.nearest(text))
    return _only(candidates, text, words)


def _only(candidates: list[Gpu], text: str, words: frozenset[str]) -> Named[Gpu]:
    plain = [g for g in candidates if "laptop" not in g.id and "max-q" not in g.id and "mobile" not in g.id]
    candidates = plain if plain and not words & {"laptop", "mobile", "max", "q"} else candidates
    if len(candidates) > 1 and not words & set(_FORMS):
        sxm = [g for g in candidates if "sxm" in g.id]
        if len(sxm) == 1:
            return Named(sxm[0], (f"form factor of {text} not stated: SXM",))
        candidates = [g for g in candidates if words == _known_words(g)] or candidates
    if len(candidates) > 1:
        shortest = min(len(_known_words(g)) for g in candidates)
        fewest = [g for g in candidates if len(_known_words(g)) == shortest]
        candidates = fewest if len(fewest) == 1 else candidates
    if len(candidates) > 1:
        raise refuse("ambiguous-gpu", "gpu", text, nearest=tuple(g.id for g in candidates))
    return Named(candidates[0])


def _same_size(gpu: Gpu, size: float) -> bool:
    """Unified memory is configured by the buyer, so its size says nothing about the chip."""
    return gpu.unified_memory or abs(gpu.memory_marketed_gb / size - 1) <= MEMORY_TOLERANCE


def _words(text: str) -> frozenset[str]:
    found = re.findall(r"[a-z0-9]+", re.sub(r"\b(sxm)\d\b", r"\1", text))
    return frozenset(word for word in found if word not in _IDLE)


@lru_cache(maxsize=1024)
def _known_words(gpu: Gpu) -> frozenset[str]:
    text = " ".join((gpu.name, *gpu.aliases)).lower()
    return _words(_MEMORY.sub(" ", text)) | _words(_MEMORY.sub(" ", gpu.id.replace("-", " ")))
