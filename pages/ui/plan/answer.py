"""The answer at a glance: verdict, memory bar, and the figures that decide."""

from collections.abc import Callable

import streamlit as st

from pages.ui import labels, words
from pages.ui.compare import button
from pages.ui.headline import Verdict, actions, fits_sentence, headline_html
from pages.ui.launch import dialogs
from pages.ui.memory_bar import memory_bar_html
from pages.ui.report import downloads
from pages.ui.report.report import Report
from pages.ui.saved import save
from pages.ui.tables import Tile, tiles_html
from pages.ui.text import Text
from planner.calibration.intervals import Interval, Intervals, interval
from planner.memory.serving import kv_capacity_tokens
from planner.plan.plan import Plan
from planner.result import Estimate, Problem, Severity
from planner.workload import Request, Serving


def draw(text: Text, plan: Plan, request: Request, result: Estimate, problems: tuple[Problem, ...]) -> None:
    """Everything above the fold."""
    with actions(text, crumb(text, plan)):
        save.draw_button(text, plan, crumb(text, plan))
        button.draw(text, plan, crumb(text, plan))
        dialogs.draw_buttons(text, plan)
        downloads.draw(text, lambda: _report(text, plan, request, result), name="plan", key="report")
    for problem in problems:  # of a link: the bad values were left out, and that must be said
        st.error(words.problem(text, problem), icon=":material/error:")
    memory = result.memory
    verdict, sentence = verdict_of(text, plan, result)
    bands = interval(result, request)
    parts = [(term.id, words.term(text, term.id), term.value) for term in memory.parts]
    drawn = (  # one element: each costs the server a message and the browser a box
        headline_html(verdict, sentence, detail_of(text, request, result, bands)),
        memory_bar_html(parts, memory.capacity, text),
        f'<p class="gp-note gp-does-not-fit">{if_it_fitted(text, result)}</p>',
        tiles_html(tiles_of(text, plan, result, bands)),
    )
    st.html("".join(drawn))
    for notice in result.notices:
        show = st.warning if notice.severity is Severity.WARNING else st.info
        show(words.notice(text, notice))


def if_it_fitted(text: Text, result: Estimate) -> str:
    """Speed and price of a run that cannot be are not to be taken for promises. Nothing where it fits."""
    if result.fits or result.speed is None:
        return ""
    return text.t("The figures below are those of a run with enough memory.")


def _report(text: Text, plan: Plan, request: Request, result: Estimate) -> Report:
    from pages.ui.report import plan as subject  # which takes its figures from here

    return subject.report(text, plan, request, result)


def crumb(text: Text, plan: Plan) -> str:
    """What is planned, in a sentence: "Fine-tune Llama-3.1-8B on 8 × H100"."""
    values = plan.values
    name, gpu = plan.spec.name, plan.card.name
    task = labels.choice(text, "task", values["task"])
    if values["gpus"] == 1:
        return text.t("{task} {model} on one {gpu}", task=task, model=name, gpu=gpu)
    count = text.number(values["gpus"]).number
    gpus = f"{count} × {gpu}"
    return text.t("{task} {model} on {gpus}", task=task, model=name, gpus=gpus)


def verdict_of(text: Text, plan: Plan, result: Estimate) -> tuple[Verdict, str]:
    """The headline. Of diffusion pipelines only the weights are known, and it says no more than that."""
    spare = result.memory.spare
    if plan.spec.components and result.fits:
        return Verdict.UNKNOWN, text.t("The weights fit, {size} to spare", size=text.bytes(spare))
    return fits_sentence(text, spare, tight=bool(result.tight))


def detail_of(text: Text, request: Request, result: Estimate, bands: Intervals) -> str:
    """What the verdict rests on, and how sure it is."""
    memory = result.memory
    peak = text.t(
        "Needs {used} of {capacity}; the peak is {phase}.",
        used=text.bytes(memory.required),
        capacity=text.bytes(memory.capacity),
        phase=words.phase(text, memory.peak.id),
    )
    sure = bands.fits_probability if result.fits else 1 - bands.fits_probability
    if not request.model.components:
        peak = text.t("{peak} {share} sure.", peak=peak, share=text.percent(min(sure, _SUREST)))
    if isinstance(request, Serving):
        tokens = kv_capacity_tokens(request)
        room = text.t("The engine's cache holds {count} tokens.", count=text.number(int(tokens))) if tokens else ""
        return f"{peak} {room}".rstrip()
    if request.cluster.gpu.vendor != "NVIDIA":
        return peak
    counters = text.t(
        "Allocated {allocated}, reserved {reserved}; nvidia-smi would show {device}.",
        allocated=text.bytes(memory.allocated),
        reserved=text.bytes(memory.reserved),
        device=text.bytes(memory.device),
    )
    return f"{peak} {counters}"


def tiles_of(text: Text, plan: Plan, result: Estimate, bands: Intervals) -> list[Tile]:
    """The figures that decide, with their ranges."""
    speed = result.speed
    if speed is None:
        return [Tile(label=text.t("Throughput"), value=text.t("unknown"))]
    if plan.values["task"] == "serve" and speed.time_per_output_token is not None:
        return _serving_tiles(text, plan, result, bands)
    if speed.tokens_per_second:
        shown, band, rate = text.tokens_per_second, bands.tokens_per_second, speed.tokens_per_second
    else:
        shown, band, rate = text.samples_per_second, bands.samples_per_second, speed.samples_per_second
    each = text.t("MFU {mfu}, HFU {hfu}", mfu=text.percent(speed.mfu), hfu=text.percent(speed.hfu)) if speed.mfu else ""
    return [
        Tile(label=text.t("Throughput"), value=shown(rate), note=_band_note(text, band, shown, _gpus_note(text, plan))),
        Tile(label=text.t("Step time"), value=text.seconds(speed.seconds), note=_step_note(text, plan)),
        _finish_tile(text, plan, result),
        Tile(label=text.t("Bound by"), value=words.bound(text, speed.bound), note=each),
    ]


_SUREST = 0.99
"""Nothing is promised more surely than this."""


def _band_note(text: Text, band: Interval | None, shown: Callable[[float], str], note: str) -> str:
    """A tile's note behind its range: nine of ten measurements of other sources lie within such a one."""
    return text.join([text.span(shown(band.low), shown(band.high)), note]) if band else note


def _gpus_note(text: Text, plan: Plan) -> str:
    return text.n("on {count} GPU", "on {count} GPUs", plan.values["gpus"])


def _step_note(text: Text, plan: Plan) -> str:
    values = plan.values
    batch = f"{values['micro_batch_size']} × {values['gradient_accumulation_steps']}"
    if plan.uses("sequence_length"):
        return text.t(
            "micro-batch {batch}, {length} tokens each", batch=batch, length=text.number(values["sequence_length"])
        )
    if plan.uses("micro_batch_size"):
        return text.t("micro-batch {batch}", batch=batch)
    return text.n("{count} request at once", "{count} requests at once", values["concurrency"])


def _finish_tile(text: Text, plan: Plan, result: Estimate) -> Tile:
    cost = result.cost
    if cost.seconds_to_finish is None:
        return _price_tile(text, result)
    return Tile(
        label=text.t("Time for {amount}", amount=_amount(text, plan)),
        value=text.seconds(cost.seconds_to_finish),
        note=_price_note(text, result),
    )


def _price_tile(text: Text, result: Estimate) -> Tile:
    """What stands in place of the end where nobody said how much is to be done."""
    price = result.cost.price_per_hour
    value = "–" if price is None else text.money(price)
    return Tile(label=text.t("Price per hour"), value=value, note=_price_date(text, result))


def _amount(text: Text, plan: Plan) -> str:
    values = plan.values
    for field, unit in (
        ("train_tokens_millions", text.p("unit", "million tokens")),
        ("train_images_millions", text.p("unit", "million images")),
        ("serve_tokens_millions", text.p("unit", "million tokens")),
    ):
        if plan.uses(field):
            return f"{text.number(values[field])} {unit}"
    return ""


def _price_note(text: Text, result: Estimate) -> str:
    cost = result.cost
    date = _price_date(text, result)
    if cost.price_per_hour is None or cost.price_to_finish is None:
        return date
    return text.t(
        "{cost} at {price} per hour ({date})",
        cost=text.money(cost.price_to_finish),
        price=text.money(cost.price_per_hour),
        date=date,
    )


def _price_date(text: Text, result: Estimate) -> str:
    cost = result.cost
    if cost.price_per_hour is None:
        return text.t("no price is known for this GPU")
    if cost.price_source == "user":
        return text.t("your price")
    return text.date(cost.price_date) if cost.price_date else text.t("undated")


def _serving_tiles(text: Text, plan: Plan, result: Estimate, bands: Intervals) -> list[Tile]:
    speed = result.speed
    prefill = speed.prefill_tokens_per_second
    return [
        Tile(
            label=text.t("Output throughput"),
            value=text.tokens_per_second(speed.tokens_per_second),
            note=_band_note(text, bands.tokens_per_second, text.tokens_per_second, _step_note(text, plan)),
        ),
        Tile(
            label=text.t("Time to first token"),
            value=text.seconds(speed.time_to_first_token),
            note=text.t("prefill {rate}", rate=text.tokens_per_second(prefill)) if prefill else "",
        ),
        Tile(
            label=text.t("Time per output token"),
            value=text.seconds(speed.time_per_output_token),
            note=text.t("bound by {bound}", bound=words.bound(text, speed.bound)),
        ),
        _finish_tile(text, plan, result),
    ]
