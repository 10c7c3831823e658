"""Quiet lines and headings."""

from html import escape
from pathlib import Path

import streamlit as st

_STYLE = Path(__file__).parents[3] / "assets" / "css" / "monitor.css"


def style() -> None:
    """The style sheet of these pages."""
    st.html(_STYLE)


def note(sentence: str) -> None:
    """A quiet line."""
    st.html(f'<p class="gp-note">{escape(sentence)}</p>')


def page_title(title: str) -> None:
    """The page's first heading."""
    st.html(f'<h1 class="gp-page-title">{escape(title)}</h1>')


def section(title: str) -> None:
    """The heading of a part of the page."""
    st.html(f'<h2 class="gp-section">{escape(title)}</h2>')
