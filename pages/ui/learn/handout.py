"""The hand-out of a lesson: one HTML file that needs nothing else, in the reader's language, made for paper."""

import base64
from functools import lru_cache
from html import escape
from pathlib import Path

import streamlit as st
from latex2mathml.converter import convert
from markdown_it import MarkdownIt

from pages.ui import export, sketch, theme, words
from pages.ui.learn import names, state, style
from pages.ui.learn.lesson import Drawing, Lesson, Stage
from pages.ui.learn.prose import Part, fill, prose
from pages.ui.plan import working
from pages.ui.text import Text
from planner.result import Term

_FONTS = Path(__file__).parents[3] / "assets" / "fonts"
_SCRIPTS = {"ibm-plex-sans-latin": "IBM Plex Sans", "ibm-plex-sans-arabic-arabic": "IBM Plex Sans Arabic"}


def draw_buttons(text: Text, lesson: Lesson) -> None:
    """The buttons that make the files; the figure is printed as it stands now."""
    stage, name = lesson.stage(state.values()), f"gpu-planner-{lesson.id}-{text.language}"
    export.download(
        text.t("Hand-out"),
        lambda: html(text, lesson, stage),
        file_name=f"{name}.html",
        mime="text/html",
        key="learn-handout",
    )
    st.download_button(
        text.t("Hand-out (PDF)"),
        lambda: _pdf(text, lesson, stage),
        file_name=f"{name}.pdf",
        mime="application/pdf",
        key="learn-pdf",
        on_click="ignore",
    )


def _pdf(text: Text, lesson: Lesson, stage: Stage) -> bytes:
    from pages.ui.learn import pdf  # takes half a second to import, and few readers ask for it

    return pdf.document(text, lesson, stage)


def html(text: Text, lesson: Lesson, stage: Stage) -> str:
    """The whole file."""
    written, numbers = prose(text.language, lesson.id), lesson.numbers(text)
    body = "".join(_part_html(text, lesson, stage, part, numbers) for part in written.parts if part.kind != "hint")
    return (
        f'<!doctype html><html lang="{text.language}" dir="{text.direction}"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(written.title)}</title>'
        f"<style>{fonts()}{theme.style_sheet()}</style>{style.sheet()}</head>"
        f'<body class="gp-handout"><h1 class="gp-title">{escape(written.title)}</h1>'
        f'<p class="gp-lead">{escape(fill(written.lead, numbers))}</p>{body}'
        f'<p class="gp-note">GPU Planner</p></body></html>'
    )


def _part_html(text: Text, lesson: Lesson, stage: Stage, part: Part, numbers: dict[str, str]) -> str:
    heading = escape(part.heading or names.heading(text, part.kind))
    body = _markdown().render(part.filled(numbers))
    if part.kind == "figure" and stage.possible:
        body += "".join(_drawing_html(text, piece) for piece in lesson.figure(text, stage))
    elif part.kind == "formula" and stage.possible:
        body += "".join(_term_html(text, term) for term in lesson.terms(stage) if term.value > 0)
    elif part.kind == "wrong":
        source = escape(text.t("Source: {source}", source=lesson.case.source))
        body += f'<p class="gp-note"><a href="{escape(lesson.case.url, quote=True)}">{source}</a></p>'
    return f'<section class="gp-part-{part.kind}"><h2 class="gp-section">{heading}</h2>{body}</section>'


def _drawing_html(text: Text, piece: Drawing) -> str:
    if isinstance(piece, str):
        return piece
    note = f'<p class="gp-note">{escape(piece.note)}</p>' if piece.note else ""
    return f"<h3>{escape(piece.title)}</h3>{sketch.svg(piece.figure, piece.alt)}{note}"


def _term_html(text: Text, term: Term) -> str:
    name, shown = escape(words.term(text, term.id)), escape(working.shown(text, term))
    return f'<div class="gp-formula"><p><b>{name}</b> · {shown}</p>{_mathml(term.formula.latex)}</div>'


@lru_cache(maxsize=256)
def _mathml(latex: str) -> str:
    return str(convert(latex, display="block"))


@lru_cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False})


@lru_cache
def fonts() -> str:
    """Both scripts in two weights, inside the file."""
    faces = []
    for name, family in _SCRIPTS.items():
        for weight in (400, 600):
            data = base64.b64encode((_FONTS / f"{name}-{weight}-normal.woff2").read_bytes()).decode()
            faces.append(
                f'@font-face{{font-family:"{family}";font-weight:{weight};'
                f'src:url(data:font/woff2;base64,{data}) format("woff2")}}'
            )
    return "".join(faces)
