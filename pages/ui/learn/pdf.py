"""The hand-out of a lesson as PDF: its words shaped as their script needs, the memory bar, and tables of the figures.

HarfBuzz joins the Arabic letters and fpdf2 orders the line. It does not know isolates, so they become marks that have
the same effect on a number with its unit.
"""

import re
import tempfile
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from fontTools.ttLib import TTFont
from fpdf import FPDF
from fpdf.enums import XPos, YPos

from pages.ui import words
from pages.ui.learn import names
from pages.ui.learn.figures import parts_of
from pages.ui.learn.lesson import Chart, Lesson, Stage
from pages.ui.learn.prose import Part, fill, prose
from pages.ui.plan import working
from pages.ui.tables import Column
from pages.ui.text import Text, grouped
from pages.ui.theme import PART_KINDS, part_kind

_FONTS = Path(__file__).parents[3] / "assets" / "fonts"
_FAMILIES = {"arabic": "ibm-plex-sans-arabic-arabic", "latin": "ibm-plex-sans-latin", "more": "ibm-plex-sans-latin-ext"}
_WEIGHTS = {"": 400, "B": 600}
_LEFT_TO_RIGHT_MARK = "\u200e"
_LINE = 6.2  # millimetres
_POWER = re.compile("([\\d.]+\u00a0×\u00a0)?10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def document(text: Text, lesson: Lesson, stage: Stage) -> bytes:
    """The whole file; the figure is printed as it stands."""
    written, numbers = prose(text.language, lesson.id), lesson.numbers(text)
    page = _Page(text)
    page.heading(written.title, 18)
    page.paragraph(fill(written.lead, numbers))
    for part in written.parts:
        if part.kind == "hint":
            continue
        if part.kind == "answer":  # on a sheet of its own, to be given out later
            page.add_page()
        page.heading(part.heading or names.heading(text, part.kind), 13)
        for paragraph in part.filled(numbers).split("\n\n"):
            page.paragraph(paragraph)
        _add(page, text, lesson, stage, part)
    return bytes(page.output())


def _add(page: "_Page", text: Text, lesson: Lesson, stage: Stage, part: Part) -> None:
    """What stands under a part's words."""
    if part.kind == "figure" and stage.possible:
        page.bar(text, stage)
        for chart in (piece for piece in lesson.figure(text, stage) if isinstance(piece, Chart)):
            page.table_of(chart.title, chart.columns, chart.rows)
    elif part.kind == "formula" and stage.possible:
        for term in lesson.terms(stage):
            if term.value > 0:
                name, shown = words.term(text, term.id), working.shown(text, term)
                page.paragraph(f"- {name}: {shown}")
    elif part.kind == "wrong":
        page.paragraph(f"{lesson.case.source}\n{lesson.case.url}")


class _Page(FPDF):
    """A4 in one language."""

    def __init__(self, text: Text) -> None:
        super().__init__(format="A4")
        self.align = "R" if text.rtl else "L"
        self.set_margin(20)
        self.set_auto_page_break(True, 18)
        self.set_lang(text.language)
        for family, name in _FAMILIES.items():
            for style, weight in _WEIGHTS.items():
                self.add_font(family, style, font_file(f"{name}-{weight}-normal"))
        first, second = ("arabic", "latin") if text.rtl else ("latin", "arabic")
        self.family = first
        self.set_fallback_fonts([second, "more"], exact_match=False)
        self.add_page()
        direction, script, language = ("rtl", "arab", "ara") if text.rtl else ("ltr", "latn", "eng")
        self.set_text_shaping(True, direction=direction, script=script, language=language)

    def heading(self, words: str, size: float) -> None:
        self.ln(2.5)
        self.set_font(self.family, "B", size)
        self._write(words, size * 0.55)

    def paragraph(self, words: str) -> None:
        self.set_font(self.family, "", 10.5)
        lines = re.split(r"\n(?=- )|\n(?=https)", words)
        for line in lines:
            self._write(line.replace("\n", " ").replace("- ", "•  ", 1) if line.startswith("- ") else line, _LINE)
        self.ln(1.5)

    def _write(self, words: str, height: float) -> None:
        self.multi_cell(0, height, _plain(words), align=self.align, markdown=True, new_x=XPos.LMARGIN, new_y=YPos.NEXT)

    def bar(self, text: Text, stage: Stage) -> None:
        """The memory bar of one GPU, and what its colours mean."""
        memory = stage.result.memory
        parts = parts_of(text, [term for term in memory.parts if term.value > 0])
        used = sum(size for _, _, size in parts)
        scale = self.epw / max(used, float(memory.capacity))
        start, top = 0.0, self.get_y() + 1
        self.set_fill_color("#eef1f4")
        self.rect(self.l_margin, top, self.epw, 9, style="F")
        for term_id, _, size in parts:
            self.set_fill_color(PART_KINDS[part_kind(term_id)][0])
            place = self.epw - (start + size) * scale if text.rtl else start * scale
            self.rect(self.l_margin + place, top, size * scale, 9, style="F")
            start += size
        end = float(memory.capacity) * scale
        self.set_draw_color("#b3382c")
        line = self.l_margin + (self.epw - end if text.rtl else end)
        self.line(line, top - 1.5, line, top + 10.5)
        self.set_y(top + 12)
        capacity = text.t("{size} usable", size=text.bytes(memory.capacity))
        self.paragraph(text.join([f"{label} {text.bytes(size)}" for _, label, size in parts] + [capacity]))

    def table_of(self, title: str, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> None:
        """A chart's data; long recordings are thinned to what fits a page."""
        self.set_font(self.family, "B", 10.5)
        self._write(title, _LINE)
        self.set_font(self.family, "", 9)
        self.set_fill_color("#ffffff")
        self.set_draw_color("#d9dee4")
        step = max(1, len(rows) // 24)
        with self.table(text_align="CENTER", line_height=5, width=min(self.epw, 45 * len(columns))) as table:
            for cells in ([column.heading for column in columns], *_shown(rows[::step])):
                row = table.row()
                for cell in cells:
                    row.cell(_LEFT_TO_RIGHT_MARK + _plain(cell) if cell[:1] in "-−–0123456789" else _plain(cell))
        self.ln(2)


def _shown(rows: Iterable[Sequence[Any]]) -> Iterable[list[str]]:
    for row in rows:
        yield ["–" if cell is None else grouped(cell) if isinstance(cell, int | float) else str(cell) for cell in row]


def _plain(words: str) -> str:
    """Bold stays; other Markdown goes; isolates become marks, and raised digits plain ones where no font has them."""
    words = re.sub(r"(?<!\*)\*(?!\*)|`", "", words)
    words = _POWER.sub(_power, words)
    return re.sub("[\u2066-\u2069]", _LEFT_TO_RIGHT_MARK, words).replace("\u2060", "")


def _power(found: re.Match[str]) -> str:
    """ "5.96 × 10^-8", held together from left to right."""
    written = f"{found[1] or ''}10^{found[2].translate(_RAISED)}"
    return re.sub(r"([^\d.])", rf"{_LEFT_TO_RIGHT_MARK}\1{_LEFT_TO_RIGHT_MARK}", written)


@lru_cache
def font_file(name: str) -> Path:
    """A font of the page, unpacked into a file as the PDF's writer wants it; once for each run of the server."""
    font = TTFont(_FONTS / f"{name}.woff2")
    font.flavor = None
    path = Path(_folder().name) / f"{name}.ttf"
    font.save(path)
    return path


@lru_cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="gpu-planner-fonts-")
