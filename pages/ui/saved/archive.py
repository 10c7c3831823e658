"""Everything the team keeps as one file, and such a file in again."""

from typing import TYPE_CHECKING

import streamlit as st

from pages.ui import export
from pages.ui.headline import section_html
from pages.ui.saved.item import attempt
from pages.ui.text import Text

if TYPE_CHECKING:
    from planner.store.desk import Desk

_DONE = "archive.done"


def draw(text: Text, mine: "Desk") -> None:
    """The two ways, behind a fold."""
    fold = st.expander(text.t("Everything as one file"), key="archive", on_change="rerun")
    if not fold.open:
        return
    with fold:
        st.html(
            section_html("", text.t("Plans, scenarios, own GPUs and prices, measurements, with notes and comments."))
        )
        export.download(
            text.t("Download everything"),
            lambda: _all(mine),
            file_name="gpu-planner.json",
            mime="application/json",
            key="archive-out",
        )
        file = st.file_uploader(
            text.t("A file made here or elsewhere"), type=["json"], key="archive-file", max_upload_size=50
        )
        if file is not None:
            st.button(text.t("Add what is in it"), key="archive-in", on_click=_take, args=(text, mine, file))
        if done := st.session_state.pop(_DONE, None):
            added = text.n("{count} item added", "{count} items added", done[0])
            known = text.n("{count} was here already", "{count} were here already", done[1])
            st.success(text.join([added, known]), icon=":material/check:")


def _all(mine: "Desk") -> str:
    from planner.store.archive import export_all

    return export_all(mine)


def _take(text: Text, mine: "Desk", file: object) -> None:
    from planner.store.archive import import_all

    def take() -> None:
        st.session_state[_DONE] = import_all(mine, file.getvalue())  # type: ignore[attr-defined]

    attempt(text, take)
