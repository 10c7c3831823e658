"""The catalogue: one GPU in full, each value with how it is known, its source, and its date; and its offers."""

import datetime

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
    rows = [
        (
            names.fact(text, one),
            names.value(text, one),
            names.basis(text, one),
            names.confidence(text, one),
            text.date(one.as_of) if one.as_of else "–",
            " ".join(one.sources) or "–",
        )
        for one in facts(gpu)
    ]
    with st.container(key="gp-sources"):
        st.html(table_html(text, columns, rows, caption=_caption(text, gpu)))
    if gpu.note:
        st.html(f'<p class="gp-note">{text.isolate(names.escaped(gpu.note))}</p>')
    _draw_offers(text, gpu, today)


def _caption(text: Text, gpu: Gpu) -> str:
    parts = [gpu.name, gpu.vendor, gpu.architecture, gpu.form_factor, gpu.release_date or ""]
    return text.isolate(" · ".join(part for part in parts if part))


def _draw_offers(text: Text, gpu: Gpu, today: datetime.date) -> None:
    offers = offers_of(gpu.id)
    if not offers:
        st.html(f'<p class="gp-note">{text.t("No price is known for this GPU.")}</p>')
        return
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
            one.source,
        )
        for one in offers
    ]
    with st.container(key="gp-offers"):
        st.html(table_html(text, columns, rows, caption=text.t("Offers, cheapest first")))
