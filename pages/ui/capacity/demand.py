"""Uncertain demand: simulated years on this page, a chunk at a time, with progress and cancel."""

import os
from html import escape
from typing import Any

import streamlit as st

from pages.ui import shell
from pages.ui.capacity import drawings
from pages.ui.headline import section_html
from pages.ui.tables import Column, table_html
from pages.ui.text import Text
from planner.capacity.demand import PERCENTILES, Demand, classes_of, over_dask, simulate
from planner.capacity.types import Scenario

_ADDRESS = "DASK_SCHEDULER_ADDRESS"
"""Set by whoever runs the server: a scheduler can run code on it, so no visitor may name one."""

_RESULT, _FAILED = "capacity.demand", "capacity.demand.failed"


def draw(text: Text, scenario: Scenario) -> None:
    """The settings, the button, and what came of it."""
    note = text.t(
        "The jobs above as a random stream: each kind comes as often, at any hour, and takes longer or shorter. "
        "They start in the order of arrival on one pool of GPUs."
    )
    st.html(section_html(text.t("If demand is uncertain"), note))
    kinds = classes_of(scenario)
    if not kinds:
        drawings.nothing(text)
        return

    @shell.fragment(text)
    def part() -> None:
        _draw(text, scenario)

    part()


def _draw(text: Text, scenario: Scenario) -> None:
    largest = max(job.gpus for job in scenario.workloads if not job.is_service)
    have = max(largest, sum(pool.gpus for pool in scenario.pools))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        years = st.number_input(text.t("Simulated years"), 50, 5000, 200, 50, key="demand.years")
        sigma = st.slider(text.t("Spread of the hours (σ of ln)"), 0.0, 2.0, 1.0, 0.1, key="demand.sigma")
        seed = st.number_input(text.t("Seed"), 0, 10**9, 1, 1, key="demand.seed")
    address = os.environ.get(_ADDRESS, "")
    if address:
        where = escape(text.t("Computed by the Dask scheduler at {address}.", address=text.isolate(address)))
        st.html(f'<p class="gp-note">{where}</p>')
    gpus = sorted({max(largest, round(have * share)) for share in (0.5, 0.75, 1, 1.25, 1.5)})
    if st.button(text.t("Simulate"), key="demand.run", type="primary"):
        _run(text, scenario, gpus, int(years), float(sigma), int(seed), address)
    for sentence in st.session_state.pop(_FAILED, []):
        st.error(sentence, icon=":material/error:")
    found: tuple[Demand, ...] | None = st.session_state.get(_RESULT)
    if found is not None:
        _draw_result(text, found)


def _run(text: Text, scenario: Scenario, gpus: list[int], years: int, sigma: float, seed: int, address: str) -> None:
    """Streamlit stops a run that is left or interrupted at the next sign of progress: that is the cancel."""
    price = _mean_price(scenario)
    place = st.empty()
    with place.container(horizontal=True, vertical_alignment="center"):
        bar = st.progress(0.0, text.t("Simulating…"))
        st.button(text.t("Cancel"), key="demand.cancel")
    try:
        spread: dict[str, Any] = {"spread": over_dask(address)} if address else {}
        st.session_state[_RESULT] = simulate(
            classes_of(scenario, sigma),
            gpus,
            years=years,
            seed=seed,
            price_per_gpu_hour=price,
            progress=lambda share: bar.progress(share, text.t("Simulating…")),
            **spread,
        )
    except ImportError:
        st.session_state[_FAILED] = [text.t("Dask is not installed here: pip install “dask[distributed]”.")]
    except (OSError, TimeoutError) as error:
        reason = text.t("The Dask scheduler does not answer: {reason}.", reason=text.isolate(type(error).__name__))
        st.session_state[_FAILED] = [reason]
    place.empty()


def _mean_price(scenario: Scenario) -> float:
    gpus = sum(pool.gpus for pool in scenario.pools) or 1
    return sum(pool.gpus * pool.price_per_gpu_hour for pool in scenario.pools) / gpus


def _draw_result(text: Text, found: tuple[Demand, ...]) -> None:
    heads = [text.t("{share} wait less (h)", share=text.percent(share / 100)) for share in PERCENTILES]
    columns = [
        Column(id="gpus", label=text.t("GPUs"), numeric=True),
        Column(id="mean", label=text.t("Mean wait"), unit=text.p("unit", "h"), numeric=True),
        *(Column(id=head, label=head, numeric=True) for head in heads),
        Column(id="use", label=text.t("In use")),
        Column(id="cost", label=text.t("Cost a year")),
    ]
    rows = [
        [one.gpus, one.mean_wait, *one.waits, text.percent(one.utilisation[0]), text.money(one.cost)] for one in found
    ]
    st.html(table_html(text, columns, rows, caption=text.t("Waiting, use and cost by number of GPUs")))
    lines = {text.percent(share / 100): [one.waits[place] for one in found] for place, share in enumerate(PERCENTILES)}
    drawings.waits(text, columns, rows, gpus=[one.gpus for one in found], values=lines)
