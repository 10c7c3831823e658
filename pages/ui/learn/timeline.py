"""A drawing of steps in time: one lane for each worker of the input pipeline, blocks where it is busy."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from pages.ui.text import Text


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of one lane, in seconds from the start of a step; `kind` decides its colour."""

    start: float
    seconds: float
    kind: str


@dataclass(frozen=True, slots=True)
class Lane:
    """One worker: its name, and what it does in every step."""

    name: str
    blocks: tuple[Block, ...]


def timeline_html(text: Text, lanes: Sequence[Lane], *, period: float, window: float, said: str) -> str:
    """As many whole steps as begin within `window` seconds, lane under lane; time runs left to right, as in charts."""
    steps = max(1, min(60, int(window / period + 1e-9)))
    rows = "".join(_lane_html(lane, period, window, steps) for lane in lanes)
    end = escape(text.t("{time} shown", time=text.seconds(window)))
    return (
        f'<div class="gp-timeline" role="img" aria-label="{escape(said, quote=True)}">{rows}</div>'
        f'<p class="gp-note gp-timeline-end">{end}</p>'
    )


def _lane_html(lane: Lane, period: float, window: float, steps: int) -> str:
    blocks = []
    for step in range(steps):
        for block in lane.blocks:
            left = 100 * (step * period + block.start) / window
            width = min(100 * block.seconds / window, 100 - left)
            if width > 0.02:
                blocks.append(
                    f'<i class="gp-block gp-block-{block.kind}" style="left:{left:.2f}%;width:{width:.2f}%"></i>'
                )
    return f'<div class="gp-lane"><span>{escape(lane.name)}</span><div dir="ltr">{"".join(blocks)}</div></div>'
