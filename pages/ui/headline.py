"""The answer as the page's headline, the sentence above it, and the actions beside it."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from html import escape

import streamlit as st

from pages.ui.text import Text


class Verdict(StrEnum):
    """What the headline says. Told by word, icon and colour, never by colour alone."""

    FITS = "fits"
    TIGHT = "tight"
    DOES_NOT_FIT = "does-not-fit"
    UNKNOWN = "unknown"


_ICONS = {
    Verdict.FITS: "M5 12.5l4.5 4.5L19 7.5",
    Verdict.TIGHT: "M12 5v9M12 18.4v.2",
    Verdict.DOES_NOT_FIT: "M6.5 6.5l11 11M17.5 6.5l-11 11",
    Verdict.UNKNOWN: "M8.5 9a3.5 3.5 0 1 1 4.6 3.3c-.8.3-1.1.8-1.1 1.7M12 18.4v.2",
}


def headline_html(verdict: Verdict, sentence: str, detail: str = "") -> str:
    """The verdict as the page's first heading, with an icon, and one sentence of detail under it."""
    below = f'<p class="gp-detail">{escape(detail)}</p>' if detail else ""
    return (
        f'<h1 class="gp-headline gp-{verdict}"><svg viewBox="0 0 24 24" aria-hidden="true">'
        f'<path d="{_ICONS[verdict]}"/></svg>{escape(sentence)}</h1>{below}'
    )


def fits_sentence(text: Text, spare: float, tight: bool = False) -> tuple[Verdict, str]:
    """The verdict on `spare` bytes (negative: does not fit), and the headline that says it."""
    if spare < 0:
        return Verdict.DOES_NOT_FIT, text.t("Does not fit: {size} short", size=text.bytes(-spare))
    if tight:
        return Verdict.TIGHT, text.t("Tight: {size} to spare", size=text.bytes(spare))
    return Verdict.FITS, text.t("Fits, {size} to spare", size=text.bytes(spare))


def copy_button_html(label: str, content: str = "") -> str:
    """A button that copies `content`, or the page's address where it is empty. assets/js/app.js does the copying."""
    return (
        f'<button type="button" class="gp-button" data-gp-copy="{escape(content, quote=True)}">{escape(label)}</button>'
    )


@contextmanager
def actions(text: Text, crumb: str) -> Iterator[None]:
    """The first row of a page: a sentence that says what is planned, "Copy link", and the page's own buttons."""
    with st.container(key="gp-actions", horizontal=True, vertical_alignment="center"):
        st.html(f'<p class="gp-crumb">{escape(crumb)}</p>')
        st.html(copy_button_html(text.t("Copy link")), width="content")
        yield


def section_html(title: str, note: str = "") -> str:
    """A heading inside the page, with an optional quiet note under it."""
    below = f'<p class="gp-note">{escape(note)}</p>' if note else ""
    return f'<h2 class="gp-section">{escape(title)}</h2>{below}'
