"""A report as Markdown. What has a meaning in it, HTML included, is escaped: names are only text."""

import re
from collections.abc import Iterable
from typing import Any

from pages.ui.memory_bar import describe
from pages.ui.report.report import Bar, Block, Drawing, Figures, Heading, Paragraph, Report, Table
from pages.ui.text import Text, grouped, plain

_MEANING = re.compile(r"([\\`*_{}\[\]()<>#+!|~-])")


def markdown(text: Text, report: Report) -> str:
    """The whole file."""
    blocks = [f"# {_escaped(report.title)}", *(_block(text, block) for block in report.blocks)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _block(text: Text, block: Block) -> str:
    match block:
        case Heading(words):
            return f"## {_escaped(words)}"
        case Paragraph(words, strong, _):
            return f"**{_escaped(words)}**" if strong else _escaped(words)
        case Bar(parts, capacity, label):
            said = _escaped(describe(parts, capacity, text))
            return f"{_escaped(label)}: {said}" if label else said
        case Figures(tiles):
            return "\n".join(
                f"- {_escaped(t.label)}: **{_escaped(t.value)}** {_escaped(t.note)}".rstrip() for t in tiles
            )
        case Table(caption, columns, rows):
            head = _row(column.heading for column in columns)
            rule = "|" + "|".join("---:" if column.numeric else "---" for column in columns) + "|"
            return "\n".join([f"**{_escaped(caption)}**", "", head, rule, *(_row(row) for row in rows)])
        case Drawing(title, _):
            return f"**{_escaped(title)}**"


def _row(cells: Iterable[Any]) -> str:
    return "| " + " | ".join(_escaped(_shown(cell)) for cell in cells) + " |"


def _shown(cell: Any) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return grouped(cell)
    return str(cell)


def _escaped(words: str) -> str:
    return _MEANING.sub(r"\\\1", " ".join(plain(words).split()))
