"""The buttons on the Plan page that open the parts of this folder."""

from collections.abc import Callable

import streamlit as st

from pages.ui import shell
from pages.ui.launch import export, import_
from pages.ui.text import Text
from planner.launch.frameworks import frameworks_for
from planner.plan.plan import Plan


def draw_buttons(text: Text, plan: Plan) -> None:
    """Launch and Import, for the row of actions. A plan that no framework runs has no Launch."""
    if frameworks_for(plan) and st.button(
        text.t("Launch"),
        key="launch-open",
        icon=":material/rocket_launch:",
        help=text.t("Files and command to run this"),
    ):
        _open(text, text.t("Launch this plan"), lambda: export.draw_export(text, plan))
    if st.button(
        text.t("Import"), key="import-open", icon=":material/input:", help=text.t("Read a configuration or a command")
    ):
        _open(text, text.t("Import a configuration or a command"), lambda: import_.draw_import(text, plan))


def _open(text: Text, title: str, draw: Callable[[], None]) -> None:
    def guarded() -> None:
        with shell.boundary(text):
            draw()

    st.dialog(title, width="large")(guarded)()
