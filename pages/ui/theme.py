"""Colours of our own drawings, light and dark, each once: the style sheet, charts and reports take them from here."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_DRAWING = Path(__file__).parents[2] / "assets" / "css" / "drawing.css"


@dataclass(frozen=True, slots=True)
class Colour:
    """One colour of the interface in both themes."""

    light: str
    dark: str

    def on(self, dark: bool) -> str:
        return self.dark if dark else self.light


COLOURS: dict[str, Colour] = {
    "accent": Colour("#2d5c8a", "#7fb0de"),
    "mark": Colour("#b9532c", "#e08a63"),  # the point that is meant
    "text": Colour("#1a212b", "#e8ecf0"),
    "muted": Colour("#5b6673", "#9aa5b2"),
    "line": Colour("#d9dee4", "#333c48"),
    "surface": Colour("#ffffff", "#11161d"),
    "track": Colour("#eef1f4", "#1f2731"),  # memory that is free
    "bad": Colour("#b3382c", "#f08a7c"),
    "good": Colour("#24764f", "#77c79d"),
    "tight": Colour("#8a5200", "#e0a956"),
}
"""By role. Text colours keep a contrast of at least 4.5 to 1 on `surface`."""

SERIES: tuple[Colour, ...] = (
    COLOURS["accent"],
    COLOURS["mark"],
    Colour("#2f7d6a", "#6cbfa9"),
    Colour("#75609f", "#b19ad8"),
    Colour("#80651a", "#cbb063"),
    Colour("#667080", "#9aa5b2"),
)
"""Curves of one chart, in order; told apart with any common colour blindness."""

PART_KINDS: dict[str, tuple[str, str]] = {
    "weights": ("#2d5c8a", "plain"),
    "logits": ("#b9532c", "plain"),
    "activations": ("#2f7d6a", "dots"),
    "kv_cache": ("#1f7a8c", "grid"),
    "gradients": ("#75609f", "rows"),
    "optimizer": ("#8c4671", "columns"),
    "buffers": ("#80651a", "dots"),
    "outside": ("#667080", "plain"),
    "reserve": ("#545e6b", "rows"),
}
"""Kinds of memory: a colour on which white text reads, the same in both themes, and a texture that says it again."""

_KIND_OF_WORD: tuple[tuple[str, str], ...] = (
    ("reserve", "reserve"),
    ("context", "outside"),
    ("workspace", "outside"),
    ("nccl", "outside"),
    ("graph", "outside"),
    ("overhead", "outside"),
    ("weight", "weights"),
    ("optimizer", "optimizer"),
    ("grad", "gradients"),
    ("bucket", "gradients"),
    ("logit", "logits"),
    ("kv", "kv_cache"),
    ("recurrent", "kv_cache"),
    ("activation", "activations"),
)


def part_kind(term_id: str) -> str:
    """The kind of memory that a term such as "mem.act.attn" belongs to, by the words in its id."""
    name = term_id.removeprefix("mem.").lower()
    return next((kind for word, kind in _KIND_OF_WORD if word in name), "buffers")


@lru_cache
def style_sheet() -> str:
    """Everything our drawings need, to be put once into a page or a report.

    `light-dark()` follows the theme by `color-scheme`, which Streamlit sets and a report sets on its root.
    """
    themed = "".join(f"--gp-{name}:light-dark({c.light},{c.dark});" for name, c in COLOURS.items())
    parts = "".join(f"--gp-part-{name}:{colour};" for name, (colour, _) in PART_KINDS.items())
    return f":root{{{themed}{parts}}}\n{_DRAWING.read_text('utf-8')}"
