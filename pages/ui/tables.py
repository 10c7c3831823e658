"""Tables, rows of figures, and the ranked list of what to change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import streamlit as st

from pages.ui import export
from pages.ui.headline import Verdict
from pages.ui.text import Quantity, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One figure of the row under the memory bar."""

    label: str
    value: str
    note: str = ""


def tiles_html(tiles: Sequence[Tile]) -> str:
    """Figures side by side, each with its label, unit and a quiet line; two by two on a phone."""
    return f'<dl class="gp-tiles">{"".join(_tile_html(tile) for tile in tiles)}</dl>'


def _tile_html(tile: Tile) -> str:
    if isinstance(tile.value, Quantity):
        value = f"{escape(tile.value.number)} <small>{escape(tile.value.unit)}</small>"
    else:
        value = escape(tile.value)
    note = f'<dd class="gp-note">{escape(tile.note)}</dd>' if tile.note else ""
    return f'<div><dt>{escape(tile.label)}</dt><dd class="gp-value">{value}</dd>{note}</div>'


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing to change, with what it is predicted to do."""

    id: str
    sentence: str
    result: str  # memory it would need, or the GPU it names
    verdict: Verdict
    verdict_words: str
    speed: str
    note: str = ""  # a quiet line under the sentence
    applies: bool = True  # False: the button is there, but cannot be pressed; the note says why


def change_rows(
    text: Text, changes: Sequence[Change], on_apply: Callable[..., None], *, key: str = "change", **named: Any
) -> None:
    """The ranked list; each row's button calls `on_apply(change.id, **named)`.

    Rows are laid out by the style sheet: a container for each would cost as much time as its button.
    """
    with st.container(key=f"gp-changes-{key}", gap=None):
        for rank, change in enumerate(changes, start=1):
            st.html(_change_html(text, rank, change))
            st.button(
                text.t("Apply"),
                key=f"{key}-{change.id}",
                help=change.sentence,
                disabled=not change.applies,
                on_click=on_apply,
                args=(change.id,),
                kwargs=named,
            )


def _change_html(text: Text, rank: int, change: Change) -> str:
    note = f'<br><span class="gp-note">{escape(change.note)}</span>' if change.note else ""
    return (
        f'<div class="gp-change"><span class="gp-rank">{rank}</span><span>{escape(change.sentence)}{note}</span>'
        f'<div class="gp-effects"><b>{escape(change.result)}</b>'
        f'<span class="gp-{change.verdict}">{escape(change.verdict_words)}</span>'
        f'<span class="gp-muted">{escape(change.speed)}</span></div></div>'
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table. `unit` is said in its head, so that cells are bare numbers."""

    id: str
    label: str
    unit: str = ""
    numeric: bool = False

    @property
    def heading(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit else self.label


def table_html(
    text: Text, columns: Sequence[Column], rows: Sequence[Sequence[Any]], *, caption: str, row_heads: bool = True
) -> str:
    """A small table as HTML: it follows the text direction, scrolls sideways on a phone, and reads well aloud."""
    head = "".join(
        f'<th scope="col"{_numeric(column)}>{escape(text.isolate(column.heading))}</th>' for column in columns
    )
    body = "".join(f"<tr>{_cells_html(text, columns, row, row_heads)}</tr>" for row in rows)
    return (
        f'<div class="gp-scroll" tabindex="0" role="region" aria-label="{escape(caption, quote=True)}">'
        f'<table class="gp-table"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cells_html(text: Text, columns: Sequence[Column], row: Sequence[Any], row_heads: bool) -> str:
    cells = []
    for place, (column, value) in enumerate(zip(columns, row, strict=True)):
        shown = escape(_shown(text, value))
        tag = 'th scope="row"' if row_heads and place == 0 else "td"
        cells.append(f"<{tag}{_numeric(column)}>{shown}</{tag.split()[0]}>")
    return "".join(cells)


def _numeric(column: Column) -> str:
    return ' class="gp-numeric"' if column.numeric else ""


def _shown(text: Text, value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return text.number(value)
    return text.isolate(str(value))


def data_frame(text: Text, columns: Sequence[Column], rows: Sequence[Sequence[Any]], *, alt: str, key: str) -> None:
    """A long table: sortable and searchable. Drawn on a canvas, so Arabic reading order is a reversed column order."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=[column.heading for column in columns])
    order = [column.heading for column in columns]
    st.dataframe(frame, hide_index=True, column_order=order[::-1] if text.rtl else order, alt=alt, key=key)
    export.download_csv(text, columns, rows, name=key, key=f"{key}-csv")
