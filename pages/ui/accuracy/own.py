"""The reader's own measurements: of the plan on the Plan page, kept in the store, listed with how far off we were."""

from html import escape

import streamlit as st

from pages.ui import desk, export, state
from pages.ui.accuracy import measurements
from pages.ui.accuracy.measurements import Measurement
from pages.ui.tables import Column, table_html
from pages.ui.text import Text
from planner.calibration.intervals import interval
from planner.estimate import estimate
from planner.plan.checks import problems_of
from planner.plan.request import request_of

_REMOVED = "own.removed"


def note(text: Text) -> str:
    """Where they are kept."""
    return text.t(
        "Measured the current plan? Add the figure to see how far off we are for you. It is kept with your plans."
    )


def draw(text: Text) -> None:
    """The form for the current plan, and everything kept so far."""
    _form(text)
    with desk.told(text):
        _list(text, measurements.every())


def _form(text: Text) -> None:
    plan = state.kept()
    if problems_of(plan):
        st.info(text.t("The current plan is not possible as it stands; correct it on the Plan page first."))
        return
    request = request_of(plan)
    predicted = measurements.predictions(interval(estimate(request), request))
    labels = measurements.labels(text)
    with st.form("own", border=True, clear_on_submit=True):
        title = measurements.title_of(text, plan)
        st.html(f"<p>{escape(title)}</p>")
        left, right = st.columns(2)
        with left:
            quantity = st.selectbox(text.t("Quantity"), list(predicted), format_func=lambda id: labels[id][0])
        with right:
            value = st.number_input(text.t("Measured value"), min_value=0.0, value=None, format="%.4g")
        sent = st.form_submit_button(text.t("Add"))
    if sent and value:
        with desk.told(text):
            measurements.keep(text, plan, quantity, value * labels[quantity][1], predicted[quantity], "typed")


def _list(text: Text, kept: tuple[Measurement, ...]) -> None:
    labels = measurements.labels(text)
    shown = [one for one in kept if one.quantity in labels]
    if removed := st.session_state.get(_REMOVED):
        st.button(
            text.t("Undo delete"), key="own-undo", icon=":material/undo:", on_click=_restore, args=(text, removed)
        )
    if not shown:
        return
    columns = _columns(text)
    cells = [_cells(text, one) for one in shown]
    st.html(table_html(text, columns, cells, caption=text.t("Your measurements")))
    with st.container(horizontal=True, vertical_alignment="bottom", key="own-actions"):
        export.download_csv(text, columns, cells, name="measurements", key="own-csv")
        with st.popover(text.t("Delete a measurement"), type="tertiary"):
            names = {one.id: f"{one.title} · {labels[one.quantity][0]}" for one in shown}
            chosen = st.selectbox(
                text.t("Which"), list(names), index=None, format_func=names.__getitem__, key="own-which"
            )
            st.button(
                text.t("Delete"), key="own-delete", disabled=chosen is None, on_click=_remove, args=(text, chosen)
            )


def _columns(text: Text) -> list[Column]:
    return [
        Column(id="plan", label=text.t("Plan")),
        Column(id="quantity", label=text.t("Quantity")),
        Column(id="measured", label=text.t("Measured"), numeric=True),
        Column(id="predicted", label=text.t("Predicted"), numeric=True),
        Column(id="interval", label=text.t("Interval (90%)"), numeric=True),
        Column(id="error", label=text.t("Error"), numeric=True),
        Column(id="by", label=text.t("Measured by")),
    ]


def _cells(text: Text, one: Measurement) -> list[object]:
    label, unit = measurements.labels(text)[one.quantity]
    low, high = (text.number(edge / unit) for edge in (one.low, one.high))
    by = {"typed": text.t("yourself"), "monitor": text.t("the Monitor page")}.get(one.by, one.by)
    error = text.change(one.predicted / one.measured)
    return [one.title, label, one.measured / unit, one.predicted / unit, text.span(low, high), error, by]


def _remove(text: Text, id: str) -> None:
    with desk.told(text):
        measurements.remove(id)
        st.session_state[_REMOVED] = id


def _restore(text: Text, id: str) -> None:
    with desk.told(text):
        measurements.restore(id)
    st.session_state.pop(_REMOVED, None)
