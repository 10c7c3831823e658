"""The reader's own measurements: of the plan on the Plan page, kept for the visit, exported and brought back."""

from html import escape
from typing import Any

import streamlit as st

from pages.ui import export, state
from pages.ui.tables import Column, table_html
from pages.ui.text import Text
from planner.calibration.intervals import Interval, interval
from planner.estimate import estimate
from planner.plan.checks import problems_of
from planner.plan.request import request_of
from planner.units import GIB

STORE = "own_measurements"


def note(text: Text) -> str:
    """Where they are kept."""
    return text.t(
        "Measured the current plan? Add the figure to see how far off we are for you. It stays in this visit."
    )


def draw(text: Text) -> None:
    """The form for the current plan, and everything added so far."""
    plan = state.kept()
    if problems_of(plan):
        st.info(text.t("The current plan is not possible as it stands; correct it on the Plan page first."))
        return
    request = request_of(plan)
    found = interval(estimate(request), request)
    choices = _choices(text, found)
    title = text.t(
        "{model} on {gpus} GPUs of type {gpu}", model=plan.spec.name, gpus=plan.values["gpus"], gpu=plan.card.name
    )
    with st.form("own", border=True):
        st.html(f"<p>{escape(title)}</p>")
        left, right = st.columns(2)
        with left:
            quantity = st.selectbox(text.t("Quantity"), list(choices), format_func=lambda id: choices[id][0])
        with right:
            value = st.number_input(text.t("Measured value"), min_value=0.0, value=None, format="%.4g")
        sent = st.form_submit_button(text.t("Add"))
    if sent and value:
        label, unit, predicted = choices[quantity]
        _store().append(
            {
                "plan": title,
                "quantity": label,
                "measured": value,
                "predicted": predicted.value / unit,
                "low": predicted.low / unit,
                "high": predicted.high / unit,
            }
        )
    _list(text)


def _store() -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = st.session_state.setdefault(STORE, [])
    return kept


def _choices(text: Text, found: Any) -> dict[str, tuple[str, float, Interval]]:
    """What the reader may have measured: label, unit in base units, and the prediction."""
    every = {
        "device": (text.t("Peak memory by nvidia-smi (GiB)"), float(GIB), found.device),
        "reserved": (text.t("Peak memory reserved by PyTorch (GiB)"), float(GIB), found.reserved),
        "allocated": (text.t("Peak memory allocated by PyTorch (GiB)"), float(GIB), found.allocated),
        "seconds": (text.t("Time of a step (s)"), 1.0, found.seconds),
        "tokens": (text.t("Tokens per second, all GPUs"), 1.0, found.tokens_per_second),
        "samples": (text.t("Samples per second, all GPUs"), 1.0, found.samples_per_second),
        "first": (text.t("Time to first token (s)"), 1.0, found.time_to_first_token),
        "token": (text.t("Time per output token (s)"), 1.0, found.time_per_output_token),
    }
    return {id: (label, unit, value) for id, (label, unit, value) in every.items() if value is not None}


def _list(text: Text) -> None:
    kept = _store()
    if not kept:
        return
    columns = [
        Column(id="plan", label=text.t("Plan")),
        Column(id="quantity", label=text.t("Quantity")),
        Column(id="measured", label=text.t("Measured"), numeric=True),
        Column(id="predicted", label=text.t("Predicted"), numeric=True),
        Column(id="interval", label=text.t("Interval (90%)"), numeric=True),
        Column(id="error", label=text.t("Error"), numeric=True),
    ]
    cells = [
        (
            each["plan"],
            each["quantity"],
            each["measured"],
            each["predicted"],
            text.span(text.number(each["low"]), text.number(each["high"])),
            text.change(each["predicted"] / each["measured"]),
        )
        for each in kept
    ]
    st.html(table_html(text, columns, cells, caption=text.t("Your measurements")))
    export.download_csv(text, columns, cells, name="measurements", key="own-csv")
