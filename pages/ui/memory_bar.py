"""The memory of one GPU as one bar: named parts in place, its capacity as a line, and what overflows hatched.

Pure HTML and CSS (assets/css/drawing.css), so the same drawing serves pages, lessons and reports. It mirrors with the
text direction, follows the theme, and prints.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from pages.ui.text import Text
from pages.ui.theme import PART_KINDS, part_kind

Part = tuple[str, str, float]
"""Term id (it decides colour and texture), label in the reader's language, bytes."""


@dataclass(frozen=True, slots=True)
class _Segment:
    """A piece of the bar: a part, or the share of a part on one side of the capacity line."""

    part: Part
    size: float
    over: bool
    named: bool  # where a part lies on both sides of the line, its larger piece carries the name


def memory_bar_html(parts: Sequence[Part], capacity: float, text: Text, *, compact: bool = False) -> str:
    """The bar of `parts` against `capacity` bytes. `compact` leaves out names and legend, for rows of a table."""
    parts = [part for part in parts if part[2] > 0]
    used = sum(size for _, _, size in parts)
    scale = max(used, capacity, 1.0)
    pieces = "".join(_segment_html(segment, scale, text) for segment in _segments(parts, capacity))
    label = escape(describe(parts, capacity, text), quote=True)
    bar = (
        f'<div class="gp-bar" role="img" aria-label="{label}">'
        f'<div class="gp-bar-track">{pieces}</div>{_limit_html(capacity, scale, text, compact)}</div>'
    )
    if compact:
        return f'<div class="gp-memory gp-compact" dir="{text.direction}">{bar}</div>'
    return f'<div class="gp-memory" dir="{text.direction}">{bar}{_legend_html(parts, capacity - used, text)}</div>'


def describe(parts: Sequence[Part], capacity: float, text: Text) -> str:
    """The bar in words, for those who cannot see it."""
    used = sum(size for _, _, size in parts)
    spare = capacity - used
    named = text.join([text.t("{part} {size}", part=label, size=text.bytes(size)) for _, label, size in parts])
    if spare >= 0:
        end = text.t("{size} stay free.", size=text.bytes(spare))
    else:
        end = text.t("{size} are missing.", size=text.bytes(-spare))
    start = text.t(
        "Memory of one GPU: {used} of {capacity} usable.", used=text.bytes(used), capacity=text.bytes(capacity)
    )
    return f"{start} {named}. {end}"


def _segments(parts: Sequence[Part], capacity: float) -> list[_Segment]:
    segments: list[_Segment] = []
    start = 0.0
    for part in parts:
        end = start + part[2]
        inside = min(max(capacity - start, 0.0), part[2])
        beyond = part[2] - inside
        if inside > 0:
            segments.append(_Segment(part, inside, False, inside >= beyond))
        if beyond > 0:
            segments.append(_Segment(part, beyond, True, beyond > inside))
        start = end
    return segments


def _segment_html(segment: _Segment, scale: float, text: Text) -> str:
    term_id, label, size = segment.part
    kind = part_kind(term_id)
    texture = "hatched" if segment.over else PART_KINDS[kind][1]
    share = 100 * segment.size / scale
    name = f"<b>{escape(label)}</b><span>{escape(text.bytes(size))}</span>" if segment.named else ""
    title = escape(f"{label}: {text.bytes(size)}", quote=True)
    return (
        f'<div class="gp-part gp-{kind.replace("_", "-")} gp-{texture}" style="flex-basis:{share:.3f}%" '
        f'title="{title}"><div class="gp-part-name">{name}</div></div>'
    )


def _limit_html(capacity: float, scale: float, text: Text, compact: bool) -> str:
    share = 100 * capacity / scale
    side = "end" if share >= 45 else "start"
    label = "" if compact else f"<span>{escape(text.t('{size} usable', size=text.bytes(capacity)))}</span>"
    over = " gp-exceeded" if scale > capacity else ""
    return f'<div class="gp-limit gp-limit-{side}{over}" style="inset-inline-start:{share:.3f}%">{label}</div>'


def _legend_html(parts: Sequence[Part], spare: float, text: Text) -> str:
    entries = [
        _entry_html(f"gp-{(kind := part_kind(term_id)).replace('_', '-')} gp-{PART_KINDS[kind][1]}", label, size, text)
        for term_id, label, size in parts
    ]
    if spare > 0:
        entries.append(_entry_html("gp-free", text.t("Free"), spare, text))
    return f'<ul class="gp-legend">{"".join(entries)}</ul>'


def _entry_html(classes: str, label: str, size: float, text: Text) -> str:
    return f'<li><i class="{classes}"></i>{escape(label)} <b>{escape(text.bytes(size))}</b></li>'
