"""How accurate is this plan: what its ranges were learnt from, and the measured runs most like it."""

from html import escape

import streamlit as st

from pages.ui import words
from pages.ui.accuracy.rows import amount
from pages.ui.tables import Column, table_html
from pages.ui.text import Text
from planner.calibration.families import Family
from planner.calibration.intervals import Interval, Intervals, interval
from planner.calibration.residuals import Residual
from planner.calibration.similar import similar
from planner.result import Estimate
from planner.workload import Request, Serving


def draw(text: Text, request: Request, result: Estimate) -> None:
    """One part a figure of the answer: its range, and the runs like it."""
    bands = interval(result, request)
    st.html(f'<p class="gp-note">{escape(_introduction(text))}</p>')
    for title, family, band in _figures(text, request, bands):
        if band is not None:
            st.html(f'<h3 class="gp-section">{escape(title)}</h3><p class="gp-note">{escape(_learnt(text, band))}</p>')
            _draw_runs(text, title, similar(request, family))
    more = text.t("All measurements")
    st.html(f'<p class="gp-note"><a href="accuracy?lang={text.language}">{more}</a></p>')


def _introduction(text: Text) -> str:
    return text.t(
        "Each range holds nine of ten measurements of other sources than the ones it was learnt from. "
        "Below, the measured runs most like this plan, with what the planner says of each."
    )


def _figures(text: Text, request: Request, bands: Intervals) -> list[tuple[str, Family, Interval | None]]:
    if isinstance(request, Serving):
        return [
            (text.t("Weights"), Family.WEIGHTS, bands.required),
            (text.t("Time per output token"), Family.DECODE, bands.time_per_output_token),
            (text.t("Output throughput"), Family.OUTPUT, bands.tokens_per_second),
        ]
    return [
        (text.t("Peak memory"), Family.ALLOCATED, bands.required),
        (text.t("Memory by nvidia-smi"), Family.DEVICE, bands.device),
        (text.t("Step time"), Family.STEP, bands.seconds),
    ]


def _learnt(text: Text, band: Interval) -> str:
    if not band.rows:
        return text.t("Nothing of the kind was ever measured here: the range is a guess.")
    return text.t(
        "Within {share}. Learnt from {rows} of {sources}; {status}.",
        share=text.percent(band.share),
        rows=text.n("{count} measurement", "{count} measurements", band.rows),
        sources=text.n("{count} source", "{count} sources", band.sources),
        status=words.status(text, band.status),
    )


def _draw_runs(text: Text, title: str, runs: tuple[Residual, ...]) -> None:
    if not runs:
        none = text.t("No measured run is like this plan.")
        st.html(f'<p class="gp-note">{none}</p>')
        return
    columns = [
        Column(id="model", label=text.t("Model")),
        Column(id="gpu", label=text.t("GPU")),
        Column(id="measured", label=text.t("Measured"), numeric=True),
        Column(id="predicted", label=text.t("Predicted"), numeric=True),
        Column(id="error", label=text.t("Error"), numeric=True),
        Column(id="source", label=text.t("Source")),
    ]
    rows = [
        (
            run.model,
            run.gpu if run.gpus == 1 else f"{run.gpus} × {run.gpu}",
            amount(text, run, run.measured),
            amount(text, run, run.predicted),
            text.change(run.predicted / run.measured),
            run.source,
        )
        for run in runs
    ]
    st.html(table_html(text, columns, rows, caption=text.t("Measured runs like this plan: {figure}", figure=title)))
