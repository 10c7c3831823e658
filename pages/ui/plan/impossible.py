"""What stands in place of an answer when the inputs make no possible plan."""

import streamlit as st

from pages.ui import words
from pages.ui.headline import Verdict, actions, headline_html
from pages.ui.plan.answer import crumb
from pages.ui.text import Text
from planner.plan.plan import Plan
from planner.result import Problem


def draw(text: Text, plan: Plan, problems: tuple[Problem, ...]) -> None:
    """The headline says that nothing was computed; below it each reason with what would do instead."""
    with actions(text, crumb(text, plan)):
        pass
    detail = text.t("Nothing was computed. Your inputs are kept: change what is named below.")
    st.html(headline_html(Verdict.UNKNOWN, text.t("This plan is not possible"), detail))
    for problem in problems:
        st.error(words.problem(text, problem), icon=":material/error:")
