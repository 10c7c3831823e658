"""The "try it" of a lesson: an answer is typed, judged by the planner's number, and helped along."""

import streamlit as st

from pages.ui.learn import names, state
from pages.ui.learn.lesson import Lesson
from pages.ui.learn.prose import Prose
from pages.ui.text import Text
from planner.teaching.answers import Judgement, Verdict, judge


def draw(text: Text, lesson: Lesson, words_of: Prose, numbers: dict[str, str]) -> None:
    """The field for the answer, what was wrong with it, hints one by one, and the answer when asked for."""
    key = f"learn.{lesson.id}"
    with st.form(f"{key}.form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            text.t("Your answer ({unit})", unit=names.unit(text, lesson.task.unit)),
            key=f"{key}.typed",
            max_chars=60,
            width=260,
        )
        st.form_submit_button(text.t("Check"), on_click=_check, args=(lesson,))
    judgement: Judgement | None = st.session_state.get(f"{key}.judgement")
    if judgement is not None:
        show = st.success if judgement.verdict is Verdict.RIGHT else st.warning
        show(names.verdict(text, judgement.verdict))
    hints = words_of.of("hint")
    seen = st.session_state.get(f"{key}.hints", 0)
    for hint in hints[:seen]:
        st.info(hint.filled(numbers), icon=":material/lightbulb:")
    solved = judgement is not None and judgement.verdict is Verdict.RIGHT
    shown = solved or st.session_state.get(f"{key}.answer", False)
    if shown:
        for answer in words_of.of("answer"):
            st.markdown(answer.filled(numbers))
        return
    with st.container(horizontal=True):
        if seen < len(hints):
            st.button(
                text.t("Hint"), key=f"{key}.more", type="tertiary", on_click=_set, args=(f"{key}.hints", seen + 1)
            )
        st.button(
            text.t("Show the answer"), key=f"{key}.show", type="tertiary", on_click=_set, args=(f"{key}.answer", True)
        )


def _check(lesson: Lesson) -> None:
    key = f"learn.{lesson.id}"
    typed = st.session_state.get(f"{key}.typed") or ""
    task = lesson.task
    judgement = judge(typed, task.unit, task.answer().value, task.tolerance)
    st.session_state[f"{key}.judgement"] = judgement
    if judgement.verdict is Verdict.RIGHT:
        state.mark_done(lesson.id)


def _set(key: str, value: int | bool) -> None:
    st.session_state[key] = value
