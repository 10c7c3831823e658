"""The script: pasted, uploaded, or the example; and its report."""

from pathlib import Path

import streamlit as st

from pages.ui import words
from pages.ui.monitor.note import note
from pages.ui.text import Text
from planner.code_check.check import check
from planner.code_check.finding import Report
from planner.code_check.source import LARGEST_NOTEBOOK
from planner.result import InputError

_PASTED = "gp-code-text"
_EXAMPLE = Path(__file__).parents[3] / "assets" / "demo" / "slow_training.txt"


def choose(text: Text) -> Report | None:
    """The report on what was given; None while there is nothing, or where it cannot be read."""
    left, right = st.columns([3, 2])
    with left:
        pasted = st.text_area(
            text.t("Training script"), key=_PASTED, height=220, placeholder="import torch\n…\nloss.backward()"
        )
    with right:
        file = st.file_uploader(
            text.t("Or a file"),
            type=["py", "ipynb", "txt"],
            max_upload_size=LARGEST_NOTEBOOK // 1_000_000,
            key="gp-code-file",
            help=text.t("A Python script or a Jupyter notebook. It counts before the pasted text."),
        )
        st.button(text.t("Try an example"), key="gp-code-example", icon=":material/science:", on_click=_example)
    note(
        text.t(
            "PyTorch, Lightning, Hugging Face Trainer, Accelerate, TensorFlow and Keras. The code is read, never run, "
            "and not kept."
        )
    )
    code, name = (file.getvalue().decode("utf-8", "replace"), file.name) if file is not None else (pasted, "")
    if not code.strip():
        return None
    try:
        return _checked(code, name)
    except InputError as error:
        for problem in error.problems:
            st.error(words.problem(text, problem), icon=":material/error:")
        return None


def _example() -> None:
    st.session_state[_PASTED] = _EXAMPLE.read_text("utf-8")


@st.cache_data(max_entries=8, show_spinner=False)
def _checked(code: str, name: str) -> Report:
    return check(code, name)
