"""Titled lists of sentences. Pasted words are shown as words."""

from collections.abc import Iterable
from html import escape


def title_html(title: str) -> str:
    """A small heading."""
    return f'<div class="gp-lists"><h3>{escape(title)}</h3></div>'


def list_html(sentences: Iterable[str], title: str = "") -> str:
    """A list under its heading; nothing where there are no sentences."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    if not items:
        return ""
    return f'{title_html(title) if title else ""}<ul class="gp-list">{items}</ul>'
