"""Around a lesson: the list of lessons, the row of actions, and the presenter's buttons."""

from html import escape

import streamlit as st

from pages.ui.headline import copy_button_html
from pages.ui.learn import glossary, handout, state, view
from pages.ui.learn.lesson import Lesson
from pages.ui.learn.lessons import LESSONS
from pages.ui.learn.prose import Part, fill, prose
from pages.ui.text import Text


def draw_list(text: Text) -> None:
    """The contents, in the sidebar: each lesson, with a mark where its task is solved, and the glossary."""
    present, done = state.place()["lesson"], state.done()
    with st.container(key="gp-contents", gap=None):
        for number, lesson in enumerate(LESSONS, start=1):
            title = prose(text.language, lesson.id).title
            st.button(
                f"{number}. {title}",
                key=f"learn-open-{lesson.id}",
                type="secondary" if lesson.id == present else "tertiary",
                icon=":material/check:" if lesson.id in done else None,
                on_click=state.go,
                args=(lesson.id,),
                width="stretch",
            )
        st.button(
            text.t("Glossary"),
            key="learn-open-glossary",
            type="secondary" if present == state.GLOSSARY else "tertiary",
            on_click=state.go,
            args=(state.GLOSSARY,),
            width="stretch",
        )


def draw_shelf(text: Text) -> None:
    """The first page of the lessons: what there is, in order."""
    title, lead = (
        text.t("Learn"),
        text.t("Ten lessons on what a GPU holds and what makes it fast. Every number in them is computed as you read."),
    )
    st.html(f'<h1 class="gp-title">{escape(title)}</h1><p class="gp-lead">{escape(lead)}</p>')
    for number, lesson in enumerate(LESSONS, start=1):
        words = prose(text.language, lesson.id)
        with st.container(key=f"gp-shelf-{number}", gap=None):
            st.button(
                f"{number}. {words.title}",
                key=f"learn-shelf-{lesson.id}",
                type="tertiary",
                on_click=state.go,
                args=(lesson.id,),
            )
            st.html(f'<p class="gp-detail">{escape(fill(words.lead, lesson.numbers(text)))}</p>')


def draw_lesson(text: Text, lesson: Lesson) -> None:
    """The open lesson, read or presented."""
    words, numbers = prose(text.language, lesson.id), lesson.numbers(text)
    number = LESSONS.index(lesson) + 1
    step = state.place()["step"]
    if step is None:
        _draw_actions(text, lesson)
        with st.container(key="gp-lesson"):
            view.draw_head(text, words, number, numbers)
            view.draw_parts(text, lesson, words, words.parts, numbers)
            glossary.draw_used(text, lesson.id)
        _draw_next(text, number)
        return
    parts = [part for part in words.parts if part.kind != "hint"]
    with st.container(key="gp-lesson"), st.container(key="gp-presenter"):
        if step == 0:
            view.draw_head(text, words, number, numbers)
        else:
            view.draw_parts(text, lesson, words, _slide(parts, step), numbers)
    _draw_presenter(text, step, len(parts))


def _slide(parts: list[Part], step: int) -> list[Part]:
    """What a step of the presentation shows: one part, and the question again above its answer."""
    shown = parts[min(step, len(parts)) - 1]
    return [*(part for part in parts if shown.kind == "answer" and part.kind == "task"), shown]


def _draw_actions(text: Text, lesson: Lesson) -> None:
    with st.container(key="gp-actions", horizontal=True, vertical_alignment="center"):
        st.html('<p class="gp-crumb"></p>')
        st.button(
            text.t("Present"), key="learn-present", icon=":material/slideshow:", on_click=state.present, args=(0,)
        )
        st.html(copy_button_html(text.t("Copy link for the class")), width="content")
        handout.draw_buttons(text, lesson)
        st.button(text.t("Start over"), key="learn-reset", on_click=state.reset)


def _draw_next(text: Text, number: int) -> None:
    if number < len(LESSONS):
        following = LESSONS[number]
        title = prose(text.language, following.id).title
        st.button(
            text.t("Next lesson: {title}", title=title),
            key="learn-following",
            type="tertiary",
            on_click=state.go,
            args=(following.id,),
        )


def _draw_presenter(text: Text, step: int, steps: int) -> None:
    """Back and next for the keyboard, or a clicker, whose keys are page up and page down."""
    with st.container(key="gp-presenter-bar", horizontal=True, vertical_alignment="center"):
        st.button(
            text.t("Back"),
            key="learn-back",
            shortcut="PageUp",
            disabled=step == 0,
            on_click=state.present,
            args=(max(step - 1, 0),),
        )
        st.button(
            text.t("Next"),
            key="learn-next",
            type="primary",
            shortcut="PageDown",
            disabled=step >= steps,
            on_click=state.present,
            args=(min(step + 1, steps),),
        )
        st.button(text.t("Start over"), key="learn-reset", shortcut="Home", on_click=state.reset)
        st.button(text.t("Close"), key="learn-close", shortcut="Escape", on_click=state.present, args=(None,))
        count = text.t("{step} of {steps}", step=min(step, steps), steps=steps)
        st.html(f'<p class="gp-note">{escape(count)}</p>')
