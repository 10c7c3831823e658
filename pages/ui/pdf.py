"""A document on paper: headings, text, tables, formulas, memory bars and vector drawings, in the reader's language.

HarfBuzz joins the Arabic letters and fpdf2 orders the line. It does not know isolates, so they become marks that have
the same effect on a number with its unit. Import this module only when a document is asked for: it takes half a second.
"""

import io
import re
import tempfile
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import ziafont
import ziamath
from fontTools.ttLib import TTFont
from fpdf import FPDF
from fpdf.enums import XPos, YPos

from pages.ui.memory_bar import Part
from pages.ui.tables import Column
from pages.ui.text import Text, grouped
from pages.ui.theme import COLOURS, PART_KINDS, part_kind

_FONTS = Path(__file__).parents[2] / "assets" / "fonts"
_FAMILIES = {"arabic": "ibm-plex-sans-arabic-arabic", "latin": "ibm-plex-sans-latin", "more": "ibm-plex-sans-latin-ext"}
_WEIGHTS = {"": 400, "B": 600}
_SIZES = {1: 18.0, 2: 13.0, 3: 10.5}  # points of type, by level of heading
_LINE = 6.2  # millimetres
_POINT = 25.4 / 72  # millimetres
_FORMULA = 11.5  # points of type, where the line is wide enough
_LEFT_TO_RIGHT_MARK = "\u200e"
_SVG = "{http://www.w3.org/2000/svg}"
_POWER = re.compile("([\\d.]+\u00a0×\u00a0)?10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)")
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


ElementTree.register_namespace("", _SVG.strip("{}"))  # fpdf2 knows a drawing by its first tag, "<svg"


class Document:
    """A4 pages, filled from top to bottom; `finish` gives the file."""

    def __init__(self, text: Text, title: str) -> None:
        self.text = text
        self._paper = paper = _Paper(format="A4")
        self._align = "R" if text.rtl else "L"
        paper.set_margin(20)
        paper.set_auto_page_break(True, 18)
        paper.set_lang(text.language)
        paper.set_title(_plain(title))
        paper.set_creator("GPU Planner")
        for family, name in _FAMILIES.items():
            for style, weight in _WEIGHTS.items():
                paper.add_font(family, style, font_file(f"{name}-{weight}-normal"))
        self._family, second = ("arabic", "latin") if text.rtl else ("latin", "arabic")
        paper.set_fallback_fonts([second, "more"], exact_match=False)
        paper.set_font(self._family, "", 9)
        paper.add_page()
        direction, script, language = ("rtl", "arab", "ara") if text.rtl else ("ltr", "latn", "eng")
        paper.set_text_shaping(True, direction=direction, script=script, language=language)
        self.heading(title, 1)

    def finish(self) -> bytes:
        """The file."""
        return bytes(self._paper.output())

    def new_page(self) -> None:
        """What follows starts a sheet of its own."""
        self._paper.add_page()

    def heading(self, words: str, level: int = 2) -> None:
        """A heading; `level` 1 is the title of the document, 3 the name of a table or a drawing."""
        size = _SIZES[level]
        self._keep(size * 0.55 + (16 if level < 3 else 6))
        self._paper.ln(2.5 if level < 3 else 1)
        self._write(words, size * 0.55, size, style="B")

    def paragraph(self, words: str) -> None:
        """Text; of Markdown it knows paragraphs, **bold**, and lists with a dash."""
        for paragraph in words.split("\n\n"):
            for line in re.split(r"\n(?=- )", paragraph):
                line = line.replace("\n", " ")
                self._write(f"•  {line[2:]}" if line.startswith("- ") else line, _LINE, 10.5)
            self._paper.ln(1.5)

    def note(self, words: str, link: str = "") -> None:
        """A quiet line, such as a source; `link` is where it leads."""
        self._write(words, 5, 9, colour=COLOURS["accent" if link else "muted"].light, link=link)
        self._paper.ln(1)

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[Any]], *, caption: str, most: int = 24) -> None:
        """A table under its caption; of more rows than `most`, every second, third, ... is printed."""
        self.heading(caption, 3)
        paper = self._paper
        paper.set_font(self._family, "", 9)
        paper.set_draw_color(COLOURS["line"].light)
        step = -(-len(rows) // most) or 1
        paper.set_fill_color("#ffffff")  # else cells take the colour of what was drawn last
        width = paper.epw if len(columns) > 2 else min(paper.epw, 45 * len(columns))
        layout: dict[str, Any] = {"text_align": "CENTER", "line_height": 5, "width": width, "padding": 0.5}
        with paper.table(**layout, borders_layout="HORIZONTAL_LINES") as table:
            for cells in ([column.heading for column in columns], *_shown(rows[::step])):
                row = table.row()
                for cell in reversed(cells) if self.text.rtl else cells:
                    row.cell(self._run(cell))
        paper.ln(2)

    def formula(self, latex: str) -> None:
        """A typeset formula, on a line of its own from the left, as formulas run; a long one is set smaller."""
        drawn, (width, height) = _formula(latex)
        paper = self._paper
        scale = min(1.0, paper.epw / width)
        self._keep(height * scale + 1)
        paper.image(io.BytesIO(drawn), paper.l_margin, paper.get_y(), width * scale, height * scale)
        paper.set_y(paper.get_y() + height * scale + 1.5)

    def drawing(self, svg: str, *, title: str = "", width: float = 1.0) -> None:
        """A drawing of our own as wide as a share of the line: its shapes as they are, its words set in our type."""
        root = ElementTree.fromstring(svg)
        left, top, across, down = (float(value) for value in root.attrib["viewBox"].split())
        paper = self._paper
        scale = width * paper.epw / across
        self._keep(down * scale + (10 if title else 0))
        if title:
            self.heading(title, 3)
        start = paper.l_margin + (paper.epw * (1 - width) if self.text.rtl else 0)
        head = paper.get_y()
        words = list(root.iter(f"{_SVG}text"))
        for parent in list(root.iter()):
            for child in [child for child in parent if child in words]:
                parent.remove(child)
        shapes = io.BytesIO(ElementTree.tostring(root))
        paper.image(shapes, start, head, across * scale, down * scale, alt_text=_plain(root.get("aria-label", "")))
        for one in words:
            self._place(one, start - left * scale, head - top * scale, scale)
        paper.set_y(head + down * scale + 2)

    def memory_bar(self, parts: Sequence[Part], capacity: float, *, label: str = "", scale: float = 0.0) -> None:
        """The memory bar of one GPU, with what its colours mean; with a `label`, a thin one in a row of several.

        `scale`: bytes of the whole width; 0 takes what the bar needs.
        """
        parts = [part for part in parts if part[2] > 0]
        paper, height = self._paper, 3.5 if label else 9.0
        if label:
            self._write(label, 5, 9)
        self._keep(height + (4 if label else 32))  # with the legend, whose cells must not break the page
        start, top = 0.0, paper.get_y() + (0.5 if label else 1.0)
        full = scale or max(sum(size for _, _, size in parts), capacity)
        self._block(0, 1, top, height, COLOURS["track"].light)
        for term_id, _, size in parts:
            self._block(start / full, size / full, top, height, PART_KINDS[part_kind(term_id)][0])
            start += size
        end = capacity / full
        line = paper.l_margin + paper.epw * (1 - end if self.text.rtl else end)
        paper.set_draw_color(COLOURS["bad"].light)
        paper.line(line, top - 1, line, top + height + 1)
        paper.set_y(top + height + 2)
        if not label:
            self._legend(parts, capacity)

    def _legend(self, parts: Sequence[Part], capacity: float) -> None:
        """The colours of a memory bar with their names and sizes, flowing over lines, then what the line stands for."""
        paper, text = self._paper, self.text
        paper.set_font(self._family, "", 9)
        used = paper.epw
        paper.set_y(paper.get_y() - 5)
        for term_id, name, size in parts:
            words = self._run(f"{name} {text.bytes(size)}")
            wide = paper.get_string_width(words) + 10
            if used + wide > paper.epw:
                used = 0
                paper.set_y(paper.get_y() + 5)
            top = paper.get_y()
            start = paper.l_margin + (paper.epw - used if text.rtl else used)
            paper.set_fill_color(PART_KINDS[part_kind(term_id)][0])
            paper.rect(start - 3 if text.rtl else start, top + 1, 3, 3, style="F")
            paper.set_xy(start - wide + 5 if text.rtl else start + 4, top)
            paper.cell(wide - 9, 5, words, align=self._align)
            used += wide
            paper.set_y(top)
        paper.set_y(paper.get_y() + 5)
        self.note(text.t("{size} usable", size=text.bytes(capacity)))

    def _block(self, start: float, share: float, top: float, height: float, colour: str) -> None:
        """A piece of a bar; shares of the line's width, from where reading starts."""
        paper = self._paper
        place = 1 - start - share if self.text.rtl else start
        paper.set_fill_color(colour)
        paper.rect(paper.l_margin + place * paper.epw, top, share * paper.epw, height, style="F")

    def _place(self, one: ElementTree.Element, left: float, top: float, scale: float) -> None:
        """The words of a drawing, where they stand in it."""
        size = float(one.get("font-size", 12)) * scale / _POINT
        paper, words = self._paper, self._run(one.text or "")
        paper.set_font(self._family, "", size)
        paper.set_text_color(one.get("fill", COLOURS["text"].light))
        wide = paper.get_string_width(words)
        shift = {"start": 0.0, "middle": wide / 2, "end": wide}[one.get("text-anchor", "start")]
        x, baseline = left + float(one.get("x", 0)) * scale, top + float(one.get("y", 0)) * scale
        with paper.local_context():
            paper.set_xy(x - shift, baseline - 0.3 * size * _POINT)
            paper.cell(wide, 0, words)
        paper.set_text_color(0)

    def _write(
        self, words: str, height: float, size: float, *, style: str = "", colour: str = "#1a212b", link: str = ""
    ) -> None:
        paper = self._paper
        paper.set_font(self._family, style, size)
        paper.set_text_color(colour)
        paper.multi_cell(
            0, height, _plain(words), align=self._align, markdown=True, link=link, new_x=XPos.LMARGIN, new_y=YPos.NEXT
        )
        paper.set_text_color(0)

    def _run(self, words: str) -> str:
        """Words of one cell; a figure keeps its sign and unit where they are in an Arabic document."""
        number = self.text.rtl and words.lstrip("\u2066")[:1] in tuple("-−–0123456789")
        return _LEFT_TO_RIGHT_MARK + _plain(words) if number else _plain(words)

    def _keep(self, height: float) -> None:
        """A new page where less than `height` millimetres are left."""
        if self._paper.will_page_break(height):
            self._paper.add_page()


class _Paper(FPDF):
    """Pages with their number at the foot."""

    def footer(self) -> None:
        self.set_y(-13)
        self.set_text_color(COLOURS["muted"].light)
        self.cell(0, 5, f"GPU Planner · {self.page_no()}", align="C")
        self.set_text_color(0)


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


@lru_cache(maxsize=256)
def _formula(latex: str) -> tuple[bytes, tuple[float, float]]:
    """A formula as SVG of bare outlines, and its width and height in millimetres at the usual size."""
    ziafont.config.svg2 = False  # type: ignore[attr-defined]  # outlines in place, rather than symbols, which fpdf2 does not know
    fixed = re.sub(r"\\left(?=\W)|\\right(?=\W)", "", latex)  # ziamath stretches an outer pair over the whole page
    drawn = ziamath.Latex(fixed, size=24)  # type: ignore[attr-defined]
    root = drawn.svgxml()
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    scale = _FORMULA / 24 * _POINT
    return ElementTree.tostring(root), (width * scale, height * scale)


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
