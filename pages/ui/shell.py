"""The frame around every page: language, navigation, text direction, styles, and what happens when a page fails."""

import json
import logging
import runpy
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any

import streamlit as st

from pages.ui import theme
from pages.ui.text import LANGUAGES, Text, text_in

ROOT = Path(__file__).parents[2]

_log = logging.getLogger("gpu_planner")
_run = threading.local()


def pages(text: Text) -> list[Any]:
    """Every page in the order of the navigation. A new page is one line here."""
    return [
        st.Page("pages/plan.py", title=text.p("page", "Plan"), default=True),
        st.Page("pages/layouts.py", title=text.p("page", "Layouts"), url_path="layouts"),
        st.Page("pages/hardware.py", title=text.p("page", "Hardware"), url_path="hardware"),
        st.Page("pages/compare.py", title=text.p("page", "Compare"), url_path="compare"),
        st.Page("pages/capacity.py", title=text.p("page", "Capacity"), url_path="capacity"),
        st.Page("pages/saved.py", title=text.p("page", "Saved"), url_path="saved"),
        st.Page("pages/monitor.py", title=text.p("page", "Monitor"), url_path="monitor"),
        st.Page("pages/environment.py", title=text.p("page", "Environment"), url_path="environment"),
        st.Page("pages/code.py", title=text.p("page", "Check code"), url_path="code"),
        st.Page("pages/learn.py", title=text.p("page", "Learn"), url_path="learn"),
        st.Page("pages/accuracy.py", title=text.p("page", "Accuracy"), url_path="accuracy"),
    ]


# Language


def open_run() -> Text:
    """First call of a run: the page's settings, and the language (link, then the reader's choice, then the browser)."""
    st.set_page_config(layout="wide", page_icon=str(ROOT / "assets" / "logo.svg"))
    language = _language()
    return text_in(language)


def _language() -> str:
    asked = st.query_params.get("lang")
    if asked in LANGUAGES:
        st.session_state["language"] = asked
        return asked
    chosen = st.session_state.get("language")
    if chosen:
        st.query_params["lang"] = chosen  # so that the address always shows what is on screen
        return str(chosen)
    return "ar" if (st.context.locale or "").lower().startswith("ar") else "en"


def _choose_language(language: str) -> None:
    st.session_state["language"] = language
    st.query_params["lang"] = language


# The frame


def draw_frame(text: Text) -> None:
    """Everything around the page: direction, styles and script (invisible), the name, and the language."""
    with st.container(key="gp-head"):
        st.html(_head(text.language), unsafe_allow_javascript=True)
    st.sidebar.html('<p class="gp-brand">GPU Planner</p>')
    other = next(code for code in LANGUAGES if code != text.language)
    st.button(
        {"ar": "عربي", "en": "EN"}[other],
        key="gp-language",
        type="tertiary",
        help=LANGUAGES[other],
        on_click=_choose_language,
        args=(other,),
    )


@lru_cache
def _head(language: str) -> str:
    text = text_in(language)
    style = theme.style_sheet() + (ROOT / "assets" / "css" / "app.css").read_text("utf-8")
    script = (ROOT / "assets" / "js" / "app.js").read_text("utf-8")
    facts = json.dumps(
        {
            "language": text.language,
            "direction": text.direction,
            "locale": "ar-u-nu-latn" if text.rtl else "en-US",
            "copied": text.t("Copied"),
        }
    )
    return f"<style>{style}</style><script>(function(facts){{{script}}})({facts})</script>"


# Running a page


@contextmanager
def running(text: Text) -> Iterator[None]:
    """Marks that app.py runs the page, and turns a failure of the page into a sentence."""
    _run.text = text
    try:
        with boundary(text):
            yield
    finally:
        _run.text = None


def page_text() -> Text:
    """First call of every page: the language of this run.

    Streamlit runs the files of a folder named `pages` by themselves until some visitor has opened app.py. Such a run
    has no frame; it starts app.py instead, which then runs the page as it should.
    """
    text: Text | None = getattr(_run, "text", None)
    if text is None:
        runpy.run_path(str(ROOT / "app.py"), run_name="__main__")
        st.stop()
    return text


@contextmanager
def boundary(text: Text) -> Iterator[None]:
    """An unexpected failure inside shows a sentence with an id; the log on the server has the rest under that id."""
    try:
        yield
    except Exception:
        failure = secrets.token_hex(4)
        _log.exception("failure %s", failure)
        st.error(
            text.t(
                "Something went wrong on our side, and this part of the page could not be drawn. "
                "Your inputs are kept: change one, or reload. In a report, give this number: {id}",
                id=failure,
            ),
            icon=":material/error:",
        )


def fragment(text: Text, **options: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `st.fragment`, with the error boundary inside, because a fragment reruns without app.py around it."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def guarded(*arguments: Any, **named: Any) -> None:
            with boundary(text):
                function(*arguments, **named)

        return st.fragment(guarded, **options)

    return decorate
