"""A plan against what is measured here: side by side, and one click to keep it as a measurement."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui import desk, state, words
from pages.ui.accuracy import measurements
from pages.ui.monitor.note import note
from pages.ui.saved import current
from pages.ui.tables import Column, table_html
from pages.ui.text import Text
from pages.ui.words import oom as oom_words
from pages.ui.words.telemetry import metric
from planner.calibration.intervals import interval
from planner.cost import power_watts
from planner.estimate import estimate
from planner.oom.compare import compare
from planner.oom.read import read
from planner.plan.checks import problems_of
from planner.plan.plan import Plan
from planner.plan.request import request_of
from planner.result import InputError
from planner.telemetry.actual import Figure, against
from planner.telemetry.sample import Process
from planner.telemetry.trace import Trace

if TYPE_CHECKING:  # the database's library takes a quarter of a second to load
    from planner.store.items import Item

_KINDS = {"device": "memory_used", "power": "power", "utilization": "utilization"}
_MOST_PLANS = 200
_DIFFERENT_GPU = 0.1  # memory further apart than this is another GPU


def draw(text: Text, trace: Trace, processes: Sequence[Process]) -> None:
    """The section; its inside is drawn only when it is open."""
    place = st.expander(
        text.t("Against the plan"), key="gp-against", icon=":material/compare_arrows:", on_change="rerun"
    )
    if place.open:
        with place:
            _draw(text, trace, processes)


def _draw(text: Text, trace: Trace, processes: Sequence[Process]) -> None:
    plan = _plan(text)
    if problems_of(plan):
        st.info(text.t("This plan is not possible as it stands; correct it on the Plan page first."))
        return
    request = request_of(plan)
    result = estimate(request)
    gpus = plan.values["gpus"]
    note(measurements.title_of(text, plan))
    chosen = _process(text, processes)
    step = st.number_input(
        text.t("Time of a step (s)"), min_value=0.0, value=None, format="%.3f", key="gp-against-step"
    )
    watts = power_watts(request, result.speed) if result.speed is not None else None
    figures = against(
        trace,
        interval(result, request),
        watts=None if watts is None else float(watts) / float(gpus),
        process_memory=chosen.memory if chosen is not None and isinstance(chosen.memory, float) else None,
        step=step or None,
    )
    _other_gpu(text, trace, float(result.memory.capacity))
    st.html(_table(text, figures))
    st.button(
        text.t("Keep as my measurements"),
        icon=":material/bookmark_add:",
        key="gp-against-keep",
        on_click=_keep,
        args=(text, plan, figures),
        disabled=not any(one.ratio for one in figures),
        help=text.t("They are then listed on the Accuracy page, with what was predicted."),
    )
    _parts(text, plan, result)


def _plan(text: Text) -> Plan:
    """The plan that is meant: the current one, or one of those that are kept."""
    kept: dict[str, Item] = {}
    try:
        from planner.store.items import Kind

        kept = {one.id: one for one in desk.desk().items(Kind.PLAN)[:_MOST_PLANS]}
    except (InputError, desk.SignedOut):  # nothing is kept: the current plan is enough
        pass
    if not kept:
        return state.kept()
    chosen = st.selectbox(
        text.t("Plan"),
        list(kept),
        index=None,
        placeholder=text.t("the current plan"),
        format_func=lambda id: kept[id].name,
        key="gp-against-plan",
    )
    return current.plan_of(kept[chosen].content) if chosen in kept else state.kept()


def _process(text: Text, processes: Sequence[Process]) -> Process | None:
    """The program that is meant; without one, all that is in use on the fullest GPU."""
    able = [one for one in processes if isinstance(one.memory, float)]
    if not able:
        return None
    return st.selectbox(
        text.t("Process"),
        able,
        index=None,
        placeholder=text.t("everything on the fullest GPU"),
        format_func=lambda one: f"{one.pid} {one.name} · {text.bytes(one.memory)}",
        key="gp-against-process",
    )


def _other_gpu(text: Text, trace: Trace, capacity: float) -> None:
    sizes = [trace.latest(device.uuid, "memory_total") for device in trace.gpus]
    known = [size for size in sizes if isinstance(size, float)]
    if known and abs(max(known) / capacity - 1) > _DIFFERENT_GPU:
        st.warning(
            text.t(
                "These GPUs have {measured} of memory, the plan's {planned}: it is another GPU.",
                measured=text.bytes(max(known)),
                planned=text.bytes(capacity),
            ),
            icon=":material/warning:",
        )


def _names(text: Text) -> dict[str, str]:
    return {
        "device": text.t("Memory of the fullest GPU"),
        "seconds": text.t("Time of a step"),
        "tokens_per_second": text.t("Tokens per second, all GPUs"),
        "samples_per_second": text.t("Samples per second, all GPUs"),
        "power": text.t("Power of a GPU"),
        "utilization": text.t("Time with a kernel running"),
    }


def _shown(text: Text, id: str, value: float) -> str:
    if id == "seconds":
        return text.seconds(value)
    if id == "tokens_per_second":
        return text.tokens_per_second(value)
    if id == "samples_per_second":
        return text.samples_per_second(value)
    return metric(text, _KINDS[id], value)


def _table(text: Text, figures: Sequence[Figure]) -> str:
    columns = [
        Column(id="what", label=text.t("Quantity")),
        Column(id="predicted", label=text.t("Predicted"), numeric=True),
        Column(id="interval", label=text.t("Nine of ten lie within"), numeric=True),
        Column(id="measured", label=text.t("Measured"), numeric=True),
        Column(id="error", label=text.t("Predicted against measured"), numeric=True),
    ]
    rows = []
    for one in figures:
        predicted = span = "–"
        if one.predicted is not None:
            predicted = _shown(text, one.id, one.predicted.value)
            if one.predicted.low < one.predicted.high:
                low, high = (_shown(text, one.id, edge) for edge in (one.predicted.low, one.predicted.high))
                span = text.span(low, high)
        kind = _KINDS.get(one.id, "utilization")
        measured = _shown(text, one.id, one.measured) if isinstance(one.measured, float) else None
        error = "–" if one.ratio is None else text.change(one.ratio)
        rows.append([_names(text)[one.id], predicted, span, measured or metric(text, kind, one.measured), error])
    return table_html(text, columns, rows, caption=text.t("The plan against what was measured"))


def _keep(text: Text, plan: Plan, figures: Sequence[Figure]) -> None:
    """Into the store's measurements, each with what was predicted."""
    labels = measurements.labels(text)
    with desk.told(text):
        for one in figures:
            if one.id in labels and one.ratio is not None and one.predicted is not None:
                assert isinstance(one.measured, float)  # it has a ratio
                measurements.keep(text, plan, one.id, one.measured, one.predicted, "monitor")
        st.toast(text.t("Kept. See the Accuracy page."), icon=":material/check:")


def _parts(text: Text, plan, result) -> None:  # type: ignore[no-untyped-def]
    """Memory by part, where an engine or PyTorch tells of it."""
    pasted = st.text_area(
        text.t("Start-up lines of the engine, or PyTorch's report: memory by part"), key="gp-against-log", height=120
    )
    if not pasted.strip():
        return
    try:
        found = compare(read(pasted), plan, result)
    except InputError as error:
        for problem in error.problems:
            st.error(words.problem(text, problem))
        return
    columns = [
        Column(id="what", label=text.t("Memory")),
        Column(id="seen", label=text.t("Measured"), numeric=True),
        Column(id="planned", label=text.t("Predicted"), numeric=True),
        Column(id="residual", label=text.t("Difference"), numeric=True),
    ]
    rows = []
    for row in found.rows:
        seen, planned = (None if size is None else text.bytes(size) for size in (row.seen, row.planned))
        left = None if row.seen is None or row.planned is None else text.bytes(row.planned - row.seen)
        rows.append([oom_words.quantity(text, row.id), seen, planned, left])
    st.html(table_html(text, columns, rows, caption=text.t("Memory by part")))
