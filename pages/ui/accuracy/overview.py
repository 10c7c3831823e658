"""Every target with what was reached, and which of them to look at."""

from html import escape

import streamlit as st

from pages.ui.tables import Column, table_html
from pages.ui.text import Text
from planner.calibration.residuals import residuals
from planner.calibration.targets import TARGETS, Target, reached


def introduction(text: Text) -> str:
    """What the page shows, in two sentences."""
    count, sources = len(residuals()), len({each.source for each in residuals()})
    return escape(
        text.t(
            "{count} published measurements from {sources} sources, each predicted from its own stated settings. "
            "The interval of a row is learnt from other sources, or from other models where there are too few.",
            count=count,
            sources=sources,
        )
    )


def names(text: Text) -> dict[str, str]:
    """Every target's name by its id."""
    return {
        "allocated": text.t("Training peak, allocated"),
        "held": text.t("Training peak, reserved or device"),
        "weights": text.t("Engine weights per GPU"),
        "cache": text.t("Key/value cache"),
        "language": text.t("Language model training speed"),
        "images": text.t("Image and encoder speed"),
        "decode": text.t("Time per output token"),
        "first": text.t("First token and output rate"),
    }


@st.cache_data(max_entries=1)
def _reached() -> list[tuple[str, int, int, float, float, float]]:
    return [(r.target.id, r.rows, r.sources, r.middle, r.tail, r.coverage) for r in reached()]


def draw(text: Text) -> None:
    """The table of targets: errors in the median and for nine of ten rows, and the share inside the interval."""
    columns = [
        Column(id="quantity", label=text.t("Quantity")),
        Column(id="rows", label=text.t("Measurements"), numeric=True),
        Column(id="sources", label=text.t("Sources"), numeric=True),
        Column(id="median", label=text.t("Median error"), numeric=True),
        Column(id="tail", label=text.t("90 of 100 within"), numeric=True),
        Column(id="aim", label=text.t("Aim"), numeric=True),
        Column(id="coverage", label=text.t("Inside the interval (90%)"), numeric=True),
        Column(id="rule", label=text.t("A public rule's median error"), numeric=True),
    ]
    labels, aims = names(text), {target.id: target for target in TARGETS}
    cells = [
        (
            labels[id],
            rows,
            sources,
            text.percent(middle, 1),
            text.percent(tail),
            text.t("{middle} and {tail}", middle=text.percent(aims[id].middle), tail=text.percent(aims[id].tail)),
            text.percent(coverage),
            _rule(text, aims[id]),
        )
        for id, rows, sources, middle, tail, coverage in _reached()
    ]
    st.html(table_html(text, columns, cells, caption=text.t("Errors by quantity")))
    st.html(f'<p class="gp-note">{escape(_rules_note(text))}</p>')


def _rules_note(text: Text) -> str:
    return text.t(
        "Public rules: accelerate's four times the fp32 weights, DeepSpeed's ZeRO estimators, weights times 1.2 for "
        "serving, and 6 FLOPs a parameter and token at half of the peak for speed."
    )


def _rule(text: Text, target: Target) -> str:
    errors = _rule_errors(target.id)
    return text.percent(errors) if errors is not None else "–"


@st.cache_data(max_entries=32)
def _rule_errors(target_id: str) -> float | None:
    from statistics import median

    target = next(each for each in TARGETS if each.id == target_id)
    found = [abs(r.ruled / r.measured - 1) for r in residuals() if r.rule and r.quality != "C" and target.chosen(r)]
    return median(found) if found else None


def choose(text: Text) -> str:
    """The quantity to look at, kept in the address."""
    labels = names(text)
    asked = st.query_params.get("quantity")
    ids = list(labels)
    chosen = st.selectbox(
        text.t("Look closer at"), ids, index=ids.index(asked) if asked in labels else 0, format_func=labels.__getitem__
    )
    st.query_params["quantity"] = chosen
    return str(chosen)
