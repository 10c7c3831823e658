"""What a search found: headline, the best few with why they lose, the whole table, and why not the reader's own."""

from collections.abc import Sequence
from html import escape

import streamlit as st

from pages.ui import labels, leave, tables, words
from pages.ui.headline import Verdict, headline_html, section_html
from pages.ui.layouts import job, names
from pages.ui.layouts.job import Job
from pages.ui.shell import fragment
from pages.ui.tables import Column
from pages.ui.text import Text
from planner.plan.plan import Plan
from planner.plan.request import request_of
from planner.result import TIGHT_SHARE
from planner.search.explain import Difference, Reason, WhyNot, why_not
from planner.search.search import Found, Layout
from planner.units import GIB

_POLL = 0.4
_MOST_ROWS = 1000


def crumb(text: Text, plan: Plan) -> str:
    """What is planned, without its layout."""
    values = plan.values
    return text.t(
        "{task} {model} on {gpus}: which layout?",
        task=labels.choice(text, "task", values["task"]),
        model=plan.spec.name,
        gpus=text.isolate(f"{text.number(values['gpus']).number} × {plan.card.name}"),
    )


def wait(text: Text, running: Job) -> None:
    """How far a longer search is, with a button that ends it."""
    st.html(headline_html(Verdict.UNKNOWN, text.t("Searching …")))

    def draw() -> None:
        if running.done_within(_POLL):
            st.rerun()
        done = text.t("{share} done, {count} layouts scored", share=text.percent(running.share), count=running.scored)
        st.progress(running.share, done)

    fragment(text, run_every=_POLL)(draw)()
    st.button(text.t("Stop, and show what is found"), key="ly-stop", on_click=running.stop)


def headline(text: Text, plan: Plan, done: Job, found: Found) -> None:
    """The best layout in a sentence and the counts; or that there is none, and what would leave one."""
    counts = text.t(
        "{considered} layouts considered, {legal} possible, {fits} fit in memory.",
        considered=found.considered,
        legal=found.legal,
        fits=found.fits,
    )
    if found.best:
        best = found.best[0]
        sentence = text.t("Best layout: {layout}", layout=names.degrees(text, best))
        if best.rate is not None:
            sentence = text.t(
                "Best layout: {layout}, {rate}", layout=names.degrees(text, best), rate=_rate(text, plan, best.rate)
            )
        st.html(headline_html(Verdict.FITS, sentence, counts))
    elif found.legal:
        st.html(headline_html(Verdict.DOES_NOT_FIT, text.t("No layout fits"), counts))
    else:
        st.html(headline_html(Verdict.DOES_NOT_FIT, text.t("No layout is possible"), counts))
    if found.stopped:
        st.info(text.t("The search was stopped at {share}.", share=text.percent(done.share)), icon=":material/info:")
        st.button(text.t("Search again"), key="ly-again", on_click=job.forget)
    if not found.best and found.leanest is not None:
        short = text.bytes(found.leanest.required_bytes - found.capacity_bytes)
        lean = text.t("The leanest, {layout}, lacks {size}.", layout=names.degrees(text, found.leanest), size=short)
        st.html(f"<p>{escape(lean)}</p>")
    for one in done.advice:
        st.html(f"<p>{escape(names.relaxation(text, one))}</p>")


def _rate(text: Text, plan: Plan, value: float) -> str:
    return names.rate(text, value, bool(plan.spec.stacks))


def draw_best(text: Text, done: Job, found: Found) -> None:
    """The best of each combination of degrees as rows with Apply; all of them as a table behind."""
    note = text.t("The best of each combination of degrees, and where the others lose against the first.")
    st.html(section_html(text.t("Best layouts"), note))
    plan, shown = done.plan, done.leaders
    rows = [_row(text, done, found, place) for place in range(len(shown))]
    tables.change_rows(text, rows, lambda id: leave.choose(shown[int(id)].sets(plan)), key="layouts")
    everything = st.expander(text.t("All {count} combinations", count=len(found.best)), key="ly-all", on_change="rerun")
    if everything.open:
        with everything:
            _draw_all(text, plan, found)


def _row(text: Text, done: Job, found: Found, place: int) -> tables.Change:
    plan, one = done.plan, done.leaders[place]
    spare = found.capacity_bytes - one.required_bytes
    tight = spare < TIGHT_SHARE * found.capacity_bytes
    notes = [names.rest(text, one, plan.values["gpus"])]
    if lost := _lost(text, done.losses[place]):
        notes.append(lost)
    if tight:
        said = text.t("tight, {size} to spare", size=text.bytes(spare))
    else:
        said = text.t("fits, {size} to spare", size=text.bytes(spare))
    speed = "" if one.rate is None else _rate(text, plan, one.rate)
    return tables.Change(
        id=str(place),
        sentence=names.degrees(text, one),
        note=" · ".join(notes),
        result=text.bytes(one.required_bytes),
        verdict=Verdict.TIGHT if tight else Verdict.FITS,
        verdict_words=said,
        speed=speed,
    )


def _lost(text: Text, parts: Sequence[Difference]) -> str:
    """The part of the time that costs most against the best layout."""
    if not parts or parts[0].seconds <= 0:
        return ""
    return text.t(
        "loses {time} a step: {part}", time=text.seconds(parts[0].seconds), part=words.term(text, parts[0].term)
    )


def columns(text: Text, plan: Plan) -> tuple[Column, ...]:
    """The columns of every table of layouts."""
    unit = text.p("unit", "tokens/s") if plan.spec.stacks else text.p("unit", "samples/s")
    return (
        Column(id="layout", label=text.t("Layout")),
        Column(id="choices", label=text.t("Choices")),
        Column(id="gpus", label=text.t("Number of GPUs"), numeric=True),
        Column(id="rate", label=text.t("Speed"), unit=unit, numeric=True),
        Column(id="spare", label=text.t("To spare"), unit="GiB", numeric=True),
        Column(id="price", label=text.t("Price of a million"), unit="USD", numeric=True),
    )


def table_rows(text: Text, plan: Plan, found: Found, some: Sequence[Layout]) -> list[tuple[object, ...]]:
    """Layouts as cells of `columns`."""
    price = request_of(plan).cluster.price_per_gpu_hour
    return [
        (
            names.degrees(text, one),
            names.rest(text, one, one.gpus),
            one.gpus,
            one.rate,
            (found.capacity_bytes - one.required_bytes) / GIB,
            one.price_per_million(price),
        )
        for one in some
    ]


def _draw_all(text: Text, plan: Plan, found: Found) -> None:
    rows = table_rows(text, plan, found, found.best[:_MOST_ROWS])
    alt = text.t("The best layout of each combination of degrees, fastest first.")
    tables.data_frame(text, columns(text, plan), rows, alt=alt, key="layouts")


def draw_why_not(text: Text, named: Plan, done: Job, found: Found) -> None:
    """Why the plan's own layout is not the answer."""
    answer = why_not(named, done.plan, done.space, found)
    note = text.t("As it stands in the plan; change it under “Your layout”.")
    st.html(section_html(text.t("Why not your layout?"), note))
    st.html(f"<p>{escape(_reason(text, answer))}</p>")
    if answer.global_batch_size is not None:
        batch = text.t("Its global batch is {count}, not the one searched for.", count=answer.global_batch_size)
        st.html(f'<p class="gp-note">{escape(batch)}</p>')
    for problem in answer.problems:
        st.error(words.problem(text, problem), icon=":material/error:")
    if answer.reason is Reason.SLOWER and answer.differences:
        heads = (
            Column(id="part", label=text.t("Part of the time")),
            Column(id="seconds", label=text.t("More than in the best layout"), unit=text.p("unit", "ms"), numeric=True),
        )
        parts = [(words.term(text, one.term), one.milliseconds) for one in answer.differences if one.counts]
        st.html(tables.table_html(text, heads, parts, caption=text.t("Time for the best layout's step of work")))


def _reason(text: Text, answer: WhyNot) -> str:
    if answer.reason is Reason.IMPOSSIBLE:
        return text.t("It is not possible:")
    if answer.reason is Reason.NO_MEMORY:
        return text.t("It does not fit: {size} short.", size=text.bytes(answer.short_bytes))
    if answer.reason is Reason.BEST:
        return text.t("Nothing found is faster.")
    if answer.speed_ratio is None:
        return text.t("It fits; this card's speed is not known, so nothing can be compared.")
    return text.t(
        "It runs at {ratio} of the best layout's speed, faster than {share} of all that fit.",
        ratio=text.percent(answer.speed_ratio),
        share=text.percent(answer.share_slower),
    )
