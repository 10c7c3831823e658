"""The button of the Plan page that takes its plan to the comparison."""

from typing import Literal

import streamlit as st

from pages.ui.compare import links
from pages.ui.saved import current
from pages.ui.text import Text, plain
from planner.plan.plan import Plan


def draw(
    text: Text, plan: Plan, name: str, *, key: str = "compare-open", width: Literal["content", "stretch"] = "content"
) -> None:
    """One button; pressed, it opens the Compare page with the plan added."""
    about = text.t("Put this plan beside others")
    if st.button(text.t("Compare"), key=key, icon=":material/compare_arrows:", help=about, width=width):
        opened = current.current()
        links.append(links.of(plan, opened.name if opened else plain(name)))
        st.switch_page("pages/compare.py")
