"""A report as PDF, Arabic shaped as it should be."""

import re

from pages.ui.pdf import Document
from pages.ui.report.report import Bar, Drawing, Figures, Heading, Paragraph, Report, Table
from pages.ui.tables import Column
from pages.ui.text import Text


def pdf(text: Text, report: Report) -> bytes:
    """The whole file."""
    page = Document(text, _bare(report.title))
    for block in report.blocks:
        match block:
            case Heading(words):
                page.heading(_bare(words))
            case Paragraph(words, strong, quiet):
                shown = _bare(words)
                page.note(shown) if quiet else page.paragraph(f"**{shown}**" if strong else shown)
            case Bar(parts, capacity, label):
                page.memory_bar(parts, capacity, label=_bare(label))
            case Figures(tiles):
                columns = [Column(id=str(place), label=tile.label) for place, tile in enumerate(tiles)]
                page.table(columns, [[t.value for t in tiles], [t.note for t in tiles]], caption=text.t("Key figures"))
            case Table(caption, columns, rows):
                page.table(columns, rows, caption=_bare(caption), most=60)
            case Drawing(title, svg):
                page.heading(_bare(title), 3)
                page.drawing(svg)
    return page.finish()


_MARKS = re.compile(r"\*\*|__|~~|--|(?<=\])(?=\()")


def _bare(words: str) -> str:
    """Words as they are: what people write makes nothing bold, and no link."""
    return _MARKS.sub(lambda mark: f"\\{mark[0]}" if mark[0] else " ", words)
