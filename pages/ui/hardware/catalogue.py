"""The catalogue: one GPU in full, each value with how it is known, its source, and its date; and its offers."""

import datetime
from html import escape

import streamlit as st

from pages.ui import labels
from pages.ui.hardware import answer, names
from pages.ui.headline import section_html
from pages.ui.tables import Column, table_html
from pages.ui.text import Text
from planner.hardware import catalogue
from planner.hardware.facts import facts
from planner.hardware.types import Gpu
from planner.recommend.charges import offers_of
from planner.recommend.wishes import Wishes


def draw(text: Text, wishes: Wishes, present: str, today: datetime.date) -> None:
    """A list to choose from, and the chosen card."""
    note = text.n("{count} accelerator", "{count} accelerators", len(catalogue.gpus()))
    st.html(section_html(text.t("The catalogue"), note))
    cards = {**{one.id: one.gpu() for one in wishes.custom}, **{one.id: one for one in catalogue.gpus()}}
    shown = {**{one.id: text.isolate(one.name) for one in wishes.custom}, **labels.gpus(text)}
    chosen = st.selectbox(
        text.t("GPU"),
        list(cards),
        index=list(cards).index(present),
        format_func=shown.__getitem__,
        key="hw-browse",
        help=text.t("Type to search by name."),
    )
    _draw_gpu(text, cards[chosen], today)


def _draw_gpu(text: Text, gpu: Gpu, today: datetime.date) -> None:
    columns = (
        Column(id="name", label=text.t("Value")),
        Column(id="value", label=text.t("Figure"), numeric=True),
        Column(id="basis", label=text.t("Known from")),
        Column(id="confidence", label=text.t("Confidence")),
        Column(id="date", label=text.t("Read on")),
        Column(id="source", label=text.t("Source")),
    )
    known = facts(gpu)
    sources = list(dict.fromkeys(source for one in known for source in one.sources))
    rows = [
        (
            names.fact(text, one),
            names.value(text, one),
            names.basis(text, one),
            names.confidence(text, one),
            text.date(one.as_of) if one.as_of else "–",
            _references(text, [sources.index(source) + 1 for source in one.sources]),
        )
        for one in known
    ]
    st.html(table_html(text, columns, rows, caption=_caption(text, gpu)) + _sources_html(sources))
    if gpu.note:
        st.html(f'<p class="gp-note">{text.isolate(names.escaped(gpu.note))}</p>')
    if gpu.confidence != "user":
        _draw_offers(text, gpu, today)


def _caption(text: Text, gpu: Gpu) -> str:
    if gpu.confidence == "user":
        return text.isolate(gpu.name)
    parts = [gpu.name, gpu.vendor, gpu.architecture, gpu.form_factor, gpu.release_date or ""]
    return text.isolate(" · ".join(part for part in parts if part))


def _references(text: Text, numbers: list[int]) -> str:
    """Numbers of sources, a run of them as its ends: "1–7"."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return text.span(str(numbers[0]), str(numbers[-1]))
    return text.join([str(number) for number in numbers]) or "–"


def _sources_html(sources: list[str]) -> str:
    """The numbered list of sources; those that are addresses can be opened."""
    return f'<ol class="gp-note gp-sources" dir="ltr">{"".join(f"<li>{_link(source)}</li>" for source in sources)}</ol>'


def _link(source: str) -> str:
    shown = escape(source)
    if not source.startswith("https://"):
        return shown
    return f'<a href="{escape(source, quote=True)}" target="_blank" rel="noopener noreferrer">{shown}</a>'


def _draw_offers(text: Text, gpu: Gpu, today: datetime.date) -> None:
    offers = offers_of(gpu.id)
    if not offers:
        nothing = text.t("No price is known for this GPU.")
        st.html(f'<p class="gp-note">{nothing}</p>')
        return
    sources = list(dict.fromkeys(one.source for one in offers))
    columns = (
        Column(id="provider", label=text.t("Provider")),
        Column(id="instance", label=text.t("Instance")),
        Column(id="region", label=text.t("Region")),
        Column(id="gpus", label=text.t("GPUs"), numeric=True),
        Column(id="pricing", label=text.t("Offer")),
        Column(id="price", label=text.t("Price per GPU-hour"), unit="USD", numeric=True),
        Column(id="date", label=text.t("Read on")),
        Column(id="source", label=text.t("Source")),
    )
    rows = [
        (
            one.provider,
            one.instance,
            one.region,
            one.gpus,
            names.choice(text, "pricing", one.pricing),
            one.price_per_gpu_hour,
            answer.dated(text, one.as_of, today),
            _references(text, [sources.index(one.source) + 1]),
        )
        for one in offers
    ]
    st.html(table_html(text, columns, rows, caption=text.t("Offers, cheapest first")) + _sources_html(sources))
