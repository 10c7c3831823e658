"""The hand-out of a lesson as PDF: its words, formulas and figure, and the answer on a sheet of its own."""

from pages.ui import sketch, words
from pages.ui.learn import names
from pages.ui.learn.figures import parts_of
from pages.ui.learn.lesson import Chart, Lesson, Stage
from pages.ui.learn.prose import Part, fill, prose
from pages.ui.pdf import Document
from pages.ui.plan import working
from pages.ui.text import Text


def document(text: Text, lesson: Lesson, stage: Stage) -> bytes:
    """The whole file; the figure is printed as it stands."""
    written, numbers = prose(text.language, lesson.id), lesson.numbers(text)
    page = Document(text, written.title)
    page.paragraph(fill(written.lead, numbers))
    for part in written.parts:
        if part.kind == "hint":
            continue
        if part.kind == "answer":  # to be given out later
            page.new_page()
        page.heading(part.heading or names.heading(text, part.kind))
        page.paragraph(part.filled(numbers))
        _add(page, lesson, stage, part)
    return page.finish()


def _add(page: Document, lesson: Lesson, stage: Stage, part: Part) -> None:
    """What stands under a part's words."""
    text = page.text
    if part.kind == "figure" and stage.possible:
        memory = stage.result.memory
        page.memory_bar(parts_of(text, memory.parts), memory.capacity)
        for chart in (piece for piece in lesson.figure(text, stage) if isinstance(piece, Chart)):
            page.drawing(sketch.svg(chart.figure, chart.alt), title=chart.title)
    elif part.kind == "formula" and stage.possible:
        for term in lesson.terms(stage):
            if term.value > 0:
                page.paragraph(f"**{words.term(text, term.id)}** · {working.shown(text, term)}")
                page.formula(term.formula.latex)
    elif part.kind == "wrong":
        page.note(text.t("Source: {source}", source=lesson.case.source), link=lesson.case.url)
