"""The glossary: every field term of the lessons, in both languages, each with an address of its own."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from html import escape

import streamlit as st

from pages.ui.learn.prose import FOLDER, prose
from pages.ui.text import Text

_ENTRY = re.compile(r"^## ([a-z0-9-]+): *(.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One term: its name in the reader's language (with the English one beside it) and what it means."""

    id: str
    name: str
    meaning: str


@lru_cache
def entries(language: str) -> tuple[Entry, ...]:
    """The terms of a language, in its alphabetical order."""
    source = (FOLDER / language / "glossary.md").read_text("utf-8")
    _, *rest = _ENTRY.split(source)
    found = (
        Entry(id, name.strip(), " ".join(meaning.split()))
        for id, name, meaning in zip(rest[::3], rest[1::3], rest[2::3], strict=True)
    )
    return tuple(sorted(found, key=lambda entry: entry.name.lower()))


@lru_cache
def used_in(language: str, lesson_id: str) -> tuple[Entry, ...]:
    """The terms that a lesson speaks of; found in its English words, which use the names as the glossary has them."""
    words = prose("en", lesson_id)
    spoken = " ".join([words.lead, *(part.body for part in words.parts)])
    wanted = {entry.id for entry in entries("en") if _names(entry).search(spoken)}
    return tuple(entry for entry in entries(language) if entry.id in wanted)


def _names(entry: Entry) -> re.Pattern[str]:
    """Finds the term; a name with capitals of its own, such as ZeRO, is not the word "zero"."""
    own_capitals = entry.name[1:] != entry.name[1:].lower()
    return re.compile(rf"\b{re.escape(entry.name)}", 0 if own_capitals else re.IGNORECASE)


def draw_used(text: Text, lesson_id: str) -> None:
    """The terms of a lesson behind a button, so that nobody has to leave the page to look one up."""
    terms = st.popover(text.t("Terms of this lesson"), key="learn-terms", type="tertiary", on_change="rerun")
    if terms.open:
        with terms:
            st.html(list_html(text, used_in(text.language, lesson_id), anchors=False))


def draw_link(text: Text) -> None:
    """The way to the glossary, for wherever field terms stand."""
    query = {"lesson": "glossary", "lang": text.language}
    st.page_link("pages/learn.py", label=text.t("Glossary"), query_params=query)


def draw(text: Text) -> None:
    """All terms, narrowed by what is typed."""
    title, none = text.t("Glossary"), text.t("No term matches.")
    st.html(f'<h1 class="gp-title">{escape(title)}</h1>')
    typed = st.text_input(text.t("Find a term"), key="learn-find", max_chars=60, width=360).strip().lower()
    found = [entry for entry in entries(text.language) if typed in f"{entry.name} {entry.meaning}".lower()]
    if found:
        st.html(list_html(text, found))
    else:
        st.html(f'<p class="gp-detail">{escape(none)}</p>')


def list_html(text: Text, shown: Iterable[Entry], *, anchors: bool = True) -> str:
    """Terms as a definition list; with `anchors` each has an address of its own."""
    rows = []
    for entry in shown:
        place = f' id="{entry.id}"' if anchors else ""
        rows.append(f"<dt{place}>{escape(entry.name)}</dt><dd>{escape(entry.meaning)}</dd>")
    focus = "" if anchors else ' tabindex="0"'  # a popover scrolls, and must be reachable by keyboard
    return f'<dl class="gp-glossary" dir="{text.direction}"{focus}>{"".join(rows)}</dl>'
