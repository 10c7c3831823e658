"""The measured rows of one quantity: filtered, listed, with their sources."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.ui.tables import Column, data_frame
from pages.ui.text import Text, plain
from planner.calibration.residuals import Residual, residuals
from planner.calibration.targets import TARGETS

BYTES = frozenset({"allocated", "reserved", "device", "weights", "activation", "engine", "graphs"})


def chosen(text: Text, target_id: str) -> list[Residual]:
    """The rows of a quantity after the reader's filters; says so where none is left."""
    target = next(each for each in TARGETS if each.id == target_id)
    found = [each for each in residuals() if target.chosen(each)]
    left, middle, right = st.columns(3)
    with left:
        sources = st.multiselect(
            text.t("Source"), sorted({each.source for each in found}), key="source", placeholder=text.t("All")
        )
    with middle:
        models = st.multiselect(
            text.t("Model"), sorted({each.model for each in found}), key="model_name", placeholder=text.t("All")
        )
    with right:
        gpus = st.multiselect(
            text.t("GPU"), sorted({each.gpu for each in found if each.gpu}), key="gpu_name", placeholder=text.t("All")
        )
    shown = [
        each
        for each in found
        if (not sources or each.source in sources)
        and (not models or each.model in models)
        and (not gpus or each.gpu in gpus)
    ]
    if not shown:
        st.info(text.t("No measurement has all of these. Remove a filter."), icon=":material/filter_alt_off:")
    return shown


def amount(text: Text, each: Residual, value: float) -> str:
    """A value of a comparison with its unit."""
    if each.quantity in ("ttft", "tpot", "step_time"):
        return text.seconds(value)
    if each.quantity == "samples_per_second":
        return text.samples_per_second(value)
    if each.quantity.endswith("per_second"):
        return text.tokens_per_second(value)
    return text.number(value) if each.quantity == "kv_tokens" else text.bytes(value)


def draw(text: Text, target_id: str, shown: Sequence[Residual]) -> None:
    """The table, behind a fold: large, searchable, with a download."""
    fold = st.expander(text.n("{count} measurement", "{count} measurements", len(shown)), key="rows", on_change="rerun")
    if not fold.open:
        return
    columns = [
        Column(id="id", label=text.t("Row")),
        Column(id="model", label=text.t("Model")),
        Column(id="gpu", label=text.t("GPU")),
        Column(id="quantity", label=text.t("Quantity")),
        Column(id="measured", label=text.t("Measured"), numeric=True),
        Column(id="predicted", label=text.t("Predicted"), numeric=True),
        Column(id="interval", label=text.t("Interval (90%)"), numeric=True),
        Column(id="error", label=text.t("Error"), numeric=True),
        Column(id="status", label=text.t("Evidence")),
        Column(id="quality", label=text.t("Quality")),
        Column(id="assumed", label=text.t("Assumed")),
        Column(id="source", label=text.t("Source")),
        Column(id="address", label=text.t("Address")),
        Column(id="date", label=text.t("Date")),
    ]
    rows = [
        (
            each.id,
            each.model,
            f"{each.gpus} x {each.gpu}" if each.gpu else "–",
            each.quantity,
            plain(amount(text, each, each.measured)),
            plain(amount(text, each, each.predicted)),
            plain(text.span(amount(text, each, each.low), amount(text, each, each.high))),
            plain(text.change(each.predicted / each.measured)),
            status(text, each.status),
            each.quality,
            each.assumed,
            each.source,
            each.url,
            each.date,
        )
        for each in shown
    ]
    with fold:
        data_frame(text, columns, rows, alt=escape(text.t("Measured rows")), key=f"rows-{target_id}")


def status(text: Text, id: str) -> str:
    """How well measurements cover a row's card, in words."""
    return {
        "measured": text.t("measured on this GPU"),
        "interpolated": text.t("measured on its generation"),
        "extrapolated": text.t("not measured on its generation"),
    }.get(id, id)
