"""Curves around the plan: memory and throughput against batch, length and GPUs, and every precision side by side."""

from collections.abc import Callable

import streamlit as st

from pages.ui import charts, labels, words
from pages.ui.charts import Limit, Mark, Series
from pages.ui.headline import section_html
from pages.ui.plan import limits
from pages.ui.tables import Column, table_html
from pages.ui.text import Text, grouped
from planner import sweep
from planner.advice import processors
from planner.advice.precisions import compare, precision_field
from planner.plan.plan import Plan
from planner.plan.table import BY_ID
from planner.result import Estimate
from planner.sweep import Curve
from planner.units import GIB
from planner.workload import Request


def draw(text: Text, plan: Plan, request: Request, result: Estimate) -> None:
    """One tab a quantity; only the open one is computed and drawn."""
    views: list[tuple[str, Callable[[], None]]] = [
        (_batch_name(text, plan), lambda: _draw(text, plan, sweep.over_batch(request), "batch")),
        (_length_name(text, plan), lambda: _draw(text, plan, sweep.over_length(request), "length")),
        (text.t("Number of GPUs"), lambda: _draw(text, plan, sweep.over_gpus(plan), "gpus")),
        (text.t("Precision"), lambda: _draw_precisions(text, plan, result)),
        (text.t("Limits"), lambda: limits.draw(text, plan)),
        (text.t("GPU or CPU"), lambda: _draw_processors(text, request, result)),
    ]
    st.html(section_html(text.t("How it changes")))
    tabs = st.tabs([name for name, _ in views], key="curves", on_change="rerun")
    for tab, (_, view) in zip(tabs, views, strict=True):
        if tab.open:
            with tab:
                view()


def _batch_name(text: Text, plan: Plan) -> str:
    return text.t("Requests at once") if plan.values["task"] == "serve" else text.t("Micro-batch size")


def _length_name(text: Text, plan: Plan) -> str:
    if plan.spec.image is not None:
        return text.t("Image size")
    return text.t("Input length") if plan.values["task"] == "serve" else text.t("Sequence length")


def _quantity(text: Text, plan: Plan, kind: str) -> str:
    """The varied quantity inside a sentence."""
    if kind == "gpus":
        return text.p("quantity", "number of GPUs")
    if kind == "length":
        if plan.spec.image is not None:
            return text.p("quantity", "image size")
        serving = plan.values["task"] == "serve"
        return text.p("quantity", "input length") if serving else text.p("quantity", "sequence length")
    if plan.values["task"] == "serve":
        return text.p("quantity", "requests at once")
    return text.p("quantity", "micro-batch size")


def _axis(text: Text, plan: Plan, kind: str) -> str:
    names = {"batch": _batch_name(text, plan), "length": _length_name(text, plan), "gpus": text.t("Number of GPUs")}
    return names[kind]


def _draw(text: Text, plan: Plan, curve: Curve, kind: str) -> None:
    axis = _axis(text, plan, kind)
    with st.container(key=f"gp-charts-{kind}"):  # side by side where there is room, by the style sheet
        _draw_memory(text, plan, curve, kind, axis)
        if any(rate is not None for rate in curve.rates):
            _draw_rates(text, plan, curve, kind, axis)


def _draw_memory(text: Text, plan: Plan, curve: Curve, kind: str, axis: str) -> None:
    size = [used / GIB for used in curve.required_bytes]
    capacity = text.bytes(curve.capacity)
    largest = curve.largest_that_fits
    if kind == "gpus":
        limit = text.t("{size} usable", size=capacity)
    elif largest is None:
        limit = text.t("{size} usable · none of these fits", size=capacity)
    elif largest == curve.x[-1]:
        limit = text.t("{size} usable · all of these fit", size=capacity)
    else:
        limit = text.t("{size} usable · largest that fits: {value}", size=capacity, value=grouped(largest))
    at = curve.x.index(curve.present)
    charts.draw(
        text,
        charts.line_chart(
            text,
            curve.x,
            [Series(label=text.t("Memory"), values=size)],
            x_label=axis,
            unit="GiB",
            limit=Limit(y=curve.capacity / GIB, label=limit),
            marks=[Mark(x=curve.present, y=size[at])],
            decimals=1,
            dark=charts.is_dark(),
        ),
        title=text.t("Memory against {quantity}", quantity=_quantity(text, plan, kind)),
        alt=text.t("Memory of one GPU against {quantity}: {limit}.", quantity=_quantity(text, plan, kind), limit=limit),
        columns=[_number(axis), _number(text.t("Memory"), "GiB")],
        rows=list(zip(curve.x, size, strict=True)),
        key=f"memory-{kind}",
    )


def _draw_rates(text: Text, plan: Plan, curve: Curve, kind: str, axis: str) -> None:
    unit = text.p("unit", "samples/s") if plan.spec.image is not None else text.p("unit", "tokens/s")
    at = curve.x.index(curve.present)
    marks = [Mark(x=curve.present, y=curve.rates[at] or 0.0)]
    if kind == "batch" and curve.knee not in (None, curve.x[0], curve.x[-1]):  # at an end of the curve there is none
        knee = curve.x.index(curve.knee)
        marks.append(
            Mark(x=curve.knee, y=curve.rates[knee] or 0.0, label=text.t("knee: {value}", value=grouped(curve.knee)))
        )
    columns = [_number(axis), _number(text.t("Throughput"), unit)]
    rows = [list(pair) for pair in zip(curve.x, curve.rates, strict=True)]
    note = ""
    if len(marks) > 1:
        note = text.t(
            "Knee: the smallest value with {share} of the best throughput here.", share=text.percent(sweep.KNEE)
        )
    if kind == "gpus":
        columns.append(_number(text.t("Scaling efficiency"), "%"))
        shares = [None if share is None else 100 * share for share in curve.efficiency]
        rows = [[*row, share] for row, share in zip(rows, shares, strict=True)]
        note = text.t(
            "Scaling efficiency: {steps}.",
            steps=text.join(
                [f"{grouped(x)}: {text.percent(e)}" for x, e in zip(curve.x, curve.efficiency, strict=True) if e]
            ),
        )
    charts.draw(
        text,
        charts.line_chart(
            text,
            curve.x,
            [Series(label=text.t("Throughput"), values=curve.rates)],
            x_label=axis,
            unit=unit,
            marks=marks,
            dark=charts.is_dark(),
        ),
        title=text.t("Throughput against {quantity}", quantity=_quantity(text, plan, kind)),
        alt=text.t("Throughput of all GPUs against {quantity}.", quantity=_quantity(text, plan, kind)),
        columns=columns,
        rows=rows,
        key=f"rate-{kind}",
        source=note,
    )


def _number(label: str, unit: str = "") -> Column:
    return Column(id=label, label=label, unit=unit, numeric=True)


def _draw_precisions(text: Text, plan: Plan, result: Estimate) -> None:
    field = BY_ID[precision_field(plan)]
    columns = [
        Column(id="precision", label=labels.field(text, field)),
        _number(text.t("Memory"), "GiB"),
        Column(id="fits", label=text.t("Verdict")),
        _number(text.t("Speed against this plan")),
    ]
    rows = []
    for row in compare(plan):
        name = labels.choice(text, field.id, row.id)
        if row.estimate is None:
            reason = words.problem(text, row.problems[0]) if row.problems else text.t("not possible")
            rows.append([name, None, reason, None])
            continue
        memory = row.estimate.memory
        fits = text.t("fits") if row.estimate.fits else text.t("does not fit")
        ratio = row.estimate.relative_rate(result)
        rows.append([name, memory.required / GIB, fits, None if ratio is None else text.change(ratio)])
    st.html(table_html(text, columns, rows, caption=text.t("Every precision, the rest of the plan unchanged")))


def _draw_processors(text: Text, request: Request, result: Estimate) -> None:
    """The plan's work on each processor of the catalogue, against its GPUs."""
    if result.speed is None:
        unknown = text.t("The speed of this plan is not known.")
        st.html(f'<p class="gp-note">{unknown}</p>')
        return
    by_tokens = bool(result.speed.tokens_per_second)
    unit = text.p("unit", "tokens/s") if by_tokens else text.p("unit", "samples/s")
    columns = [
        Column(id="cpu", label=text.t("Processor")),
        _number(text.t("Cores")),
        _number(text.t("Throughput"), unit),
        _number(text.t("Times slower than the GPUs")),
        Column(id="bound", label=text.t("Bound by")),
    ]
    rows = []
    for row in processors.compare(request, result):
        speed = row.estimate.speed
        if speed is None or not row.ratio:
            continue
        rate = speed.tokens_per_second if by_tokens else speed.samples_per_second
        rows.append([row.cpu.name, row.cpu.cores, float(rate), 1 / row.ratio, words.bound(text, speed.bound)])
    st.html(table_html(text, columns, rows, caption=text.t("The same work on one processor instead of the GPUs")))
    note = text.t("A roofline with an assumed share of each processor's peak, unchecked: real programs reach less.")
    st.html(f'<p class="gp-note">{note}</p>')
