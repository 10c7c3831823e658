"""What is recommended: the headline, the ranked options with their buttons, and what would help where there is none."""

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pages.ui import labels, leave, tables
from pages.ui.hardware import names
from pages.ui.hardware.state import change, raw
from pages.ui.headline import Verdict, headline_html, section_html
from pages.ui.tables import Column, data_frame
from pages.ui.text import Text
from planner.hardware.custom import CustomGpu
from planner.hardware.prices import Age, age
from planner.plan.plan import CUSTOM, Plan
from planner.plan.request import request_of
from planner.recommend.options import Option
from planner.recommend.recommend import Recommendation, Relaxation
from planner.recommend.wishes import parse_wishes
from planner.units import HOUR, KILO, KILOWATT_HOUR
from planner.workload import Training

_SHOWN = 8
_ORDERS = ("frontier", "price", "time", "gpus")


def crumb(text: Text, plan: Plan) -> str:
    """What is planned, without the hardware: "Fine-tune Llama-3.1-8B"."""
    task = labels.choice(text, "task", plan.values["task"])
    return text.t("{task} {model}: which hardware?", task=task, model=plan.spec.name)


def headline(text: Text, result: Recommendation) -> None:
    """The cheapest option in a sentence, or that there is none, and why the others are out."""
    tried = text.t(
        "{fit} of {all} pairs of a GPU and a number do the work within your wishes.",
        fit=len(result.options),
        all=result.considered,
    )
    out = text.join([names.refused(text, reason, count) for reason, count in result.refused.items() if count])
    others = text.t("Of the others: {reasons}.", reasons=out) if out else ""
    detail = f"{tried} {others}".rstrip()
    if not result.options:
        st.html(headline_html(Verdict.DOES_NOT_FIT, text.t("No hardware meets all wishes"), detail))
        return
    best = result.options[0]
    sentence = text.t("{option} would do it", option=names.option(best))
    if best.price is not None:
        sentence = text.t(
            "Cheapest: {option}, {price} in {time}",
            option=names.option(best),
            price=text.money(best.price),
            time=text.seconds(best.seconds or 0.0),
        )
    st.html(headline_html(Verdict.FITS, sentence, detail))
    if not result.work.asked:
        million = text.t("No amount of work is set: prices and times are for a million.")
        st.html(f'<p class="gp-note">{million}</p>')


def draw_options(text: Text, plan: Plan, result: Recommendation, today: datetime.date) -> None:
    """The ranked list in the order that the reader chooses, and all of it as a table."""
    st.html(
        section_html(
            text.t("Best options"),
            text.t(
                "Apply opens the plan on that hardware. Assumed: machines of {count} GPUs, joined as usual.",
                count=plan.values["gpus_per_node"],
            ),
        )
    )
    orders = {
        "frontier": text.t("Price and time"),
        "price": text.t("Cheapest"),
        "time": text.t("Fastest"),
        "gpus": text.t("Fewest GPUs"),
    }
    order = st.segmented_control(
        text.t("Order"),
        _ORDERS,
        format_func=orders.__getitem__,
        default="frontier",
        required=True,
        label_visibility="collapsed",
        key="hw-order",
    )
    shown = _ordered(result, order or "frontier")[:_SHOWN]
    draw_rows(text, plan, shown, today, key=f"hw-{order}")
    everything = st.expander(text.t("All {count} options", count=len(result.options)), key="hw-all", on_change="rerun")
    if everything.open:
        with everything:
            _draw_all(text, result, today)


def _ordered(result: Recommendation, order: str) -> Sequence[Option]:
    """Frontier: from the cheapest to the fastest that nothing beats in both; if one has no price, all in order."""
    if order == "frontier":
        return _thinned(result.frontier) or result.options
    if order == "time":
        return sorted(result.options, key=lambda one: one.seconds or float("inf"))
    if order == "gpus":
        return sorted(result.options, key=lambda one: (one.gpus, one.price is None, one.price or 0.0))
    return result.options


def _thinned(front: Sequence[Option]) -> Sequence[Option]:
    """Of a long frontier evenly spread steps, both ends kept."""
    if len(front) <= _SHOWN:
        return front
    last = len(front) - 1
    return [front[round(step * last / (_SHOWN - 1))] for step in range(_SHOWN)]


def draw_rows(text: Text, plan: Plan, shown: Sequence[Option], today: datetime.date, *, key: str) -> None:
    """Options as rows with a button that opens the Plan page on them."""
    own = {card.id: card for card in parse_wishes(raw())[0].custom}
    by_id = {one.id: one for one in shown}
    rows = [_row(text, plan, one, today) for one in shown]
    tables.change_rows(text, rows, lambda id: leave.choose({**_card(by_id[id], own), **by_id[id].sets}), key=key)


def _card(one: Option, own: Mapping[str, CustomGpu]) -> dict[str, Any]:
    """A card for a plan: its id, or the user's own in full, so that a link works for whoever opens it."""
    card = own.get(one.gpu.id)
    return {"gpu": one.gpu.id} if card is None else {"gpu": CUSTOM, "gpu_config": card.as_mapping()}


def _row(text: Text, plan: Plan, one: Option, today: datetime.date) -> tables.Change:
    if one.tight:
        verdict, words = Verdict.TIGHT, text.t("tight, {size} to spare", size=text.bytes(one.spare_bytes))
    elif one.fits:
        verdict, words = Verdict.FITS, text.t("fits, {size} to spare", size=text.bytes(one.spare_bytes))
    else:
        verdict, words = Verdict.DOES_NOT_FIT, text.t("still {size} short", size=text.bytes(-one.spare_bytes))
    asides = (paid(text, one, today), _footprint(text, one), _batch(text, plan, one))
    return tables.Change(
        id=one.id,
        sentence=text.isolate(names.option(one)),
        result=text.money(one.price) if one.price is not None else "–",
        verdict=verdict,
        verdict_words=words,
        speed=text.seconds(one.seconds) if one.seconds else text.t("unknown speed"),
        note=text.join([part for part in asides if part]),
    )


def paid(text: Text, one: Option, today: datetime.date) -> str:
    """Who is paid what by the hour, and when that price was read."""
    charge = one.charge
    if charge is None:
        return text.t("no price known")
    price = text.money(charge.per_hour)
    if charge.offer is None:
        owned = charge.kind == "owned"
        return (
            text.t("owned, {price} per hour", price=price)
            if owned
            else text.t("your price, {price} per hour", price=price)
        )
    seller = f"{charge.offer.provider} {charge.offer.instance}"
    return text.t(
        "{seller}, {price} per hour ({date})", seller=seller, price=price, date=dated(text, charge.as_of, today)
    )


def dated(text: Text, as_of: str | None, today: datetime.date) -> str:
    """The date of a price; a stale one says so, as does one without."""
    how = age(as_of, today)
    if as_of is None or how is Age.UNDATED:
        return text.t("undated")
    if how is Age.STALE:
        return text.t("{date}, stale", date=text.date(as_of))
    return text.date(as_of)


def _footprint(text: Text, one: Option) -> str:
    if one.joules is None:
        return ""
    energy = text.t("{energy} kWh", energy=text.number(one.joules / KILOWATT_HOUR))
    if one.grams is None:
        return energy
    return text.t("{energy}, {mass} kg CO₂", energy=energy, mass=text.number(one.grams / KILO))


def _batch(text: Text, plan: Plan, one: Option) -> str:
    """A global batch that is not the plan's must be said: the training differs."""
    if one.global_batch_size is None or one.global_batch_size == _planned_batch(plan):
        return ""
    return text.t("global batch {size}", size=one.global_batch_size)


def _planned_batch(plan: Plan) -> int:
    request = request_of(plan)
    return int(request.global_batch_size) if isinstance(request, Training) else 0


def _draw_all(text: Text, result: Recommendation, today: datetime.date) -> None:
    columns = (
        Column(id="gpu", label=text.t("GPU")),
        Column(id="gpus", label=text.t("Number of GPUs"), numeric=True),
        Column(id="price", label=text.t("Price"), unit="USD", numeric=True),
        Column(id="time", label=text.t("Time"), unit=text.p("unit", "h"), numeric=True),
        Column(id="spare", label=text.t("Spare memory"), unit="GiB", numeric=True),
        Column(id="energy", label=text.t("Energy"), unit="kWh", numeric=True),
        Column(id="carbon", label=text.t("CO₂"), unit="kg", numeric=True),
        Column(id="seller", label=text.t("Provider")),
        Column(id="date", label=text.t("Read on")),
    )
    rows = [
        (
            one.gpu.name,
            one.gpus,
            _rounded(one.price),
            _rounded(one.seconds and one.seconds / HOUR),
            _rounded(one.spare_bytes / 2**30),
            _rounded(one.joules and one.joules / KILOWATT_HOUR),
            _rounded(one.grams and one.grams / KILO),
            one.charge.offer.provider if one.charge and one.charge.offer else _own(text, one),
            dated(text, one.charge.as_of, today) if one.charge and one.charge.offer else None,
        )
        for one in result.options
    ]
    data_frame(text, columns, rows, alt=text.t("All options"), key="hw-options")


def _own(text: Text, one: Option) -> str | None:
    """Who is paid where nobody rents it out."""
    if one.charge is None:
        return None
    return text.t("Owned") if one.charge.kind == "owned" else text.t("your price")


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def draw_nothing(text: Text, plan: Plan, result: Recommendation, today: datetime.date) -> None:
    """The smallest step that leaves an option, for each limit; then what the model needs at least."""
    for number, one in enumerate(result.relaxed):
        with st.container(horizontal=True, vertical_alignment="center", key=f"hw-relax-{number}"):
            st.html(f"<p>{_relaxed(text, one)}</p>")
            st.button(text.t("Allow"), key=f"hw-relax-button-{number}", on_click=_relax, args=(one,))
    if result.closest is not None:
        note = text.t(
            "No number of any GPU that was tried holds this. Nearest: {option}, {size} short on each.",
            option=names.option(result.closest),
            size=text.bytes(-result.closest.spare_bytes),
        )
        st.html(f'<p class="gp-note">{note}</p>')
    draw_smallest(text, plan, result, today)


def draw_smallest(text: Text, plan: Plan, result: Recommendation, today: datetime.date) -> None:
    """What would I need: the smallest number of each GPU that holds the model."""
    if not result.smallest:
        return
    note = text.t("Of each GPU the smallest number that fits, divided as it must be; fewest first.")
    st.html(section_html(text.t("What would be needed"), note))
    draw_rows(text, plan, result.smallest[:_SHOWN], today, key="hw-smallest")


def _relaxed(text: Text, one: Relaxation) -> str:
    option = names.option(one.option)
    if one.limit == "budget" and one.value is not None:
        return text.t("With a budget of {price}: {option}.", price=text.money(one.value), option=option)
    if one.limit == "deadline" and one.value is not None:
        return text.t("With {time} until the deadline: {option}.", time=text.seconds(one.value), option=option)
    if one.limit == "most_gpus" and one.value is not None:
        return text.t("With up to {count} GPUs: {option}.", count=int(one.value), option=option)
    return text.t("With any hardware, rented or owned: {option}.", option=option)


def _relax(one: Relaxation) -> None:
    """Move the limit just as far as it must go, rounded up so that the figure in the box still allows it."""
    if one.limit == "source" or one.value is None:
        change({"source": None})
    elif one.limit == "most_gpus":
        change({"most_gpus": int(one.value)})
    elif one.limit == "deadline":
        change({"deadline_hours": f"{one.value / HOUR * 1.001:.4g}"})
    else:
        change({"budget": f"{one.value * 1.001:.4g}"})
