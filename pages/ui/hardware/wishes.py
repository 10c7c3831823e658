"""The sidebar of the Hardware page: filters, cards of one's own, and where the power comes from."""

from dataclasses import replace
from functools import lru_cache

import streamlit as st

from pages.ui import labels, leave, words
from pages.ui.hardware import kept, names, state
from pages.ui.text import Text
from planner.hardware import carbon
from planner.hardware.custom import PEAKS, custom_gpu
from planner.plan.fields import Field, Kind
from planner.plan.plan import CUSTOM
from planner.recommend.wishes import BY_ID, Wishes
from planner.result import InputError, Problem

_FILTERS = ("source", "pricing", "vendor", "memory_gib", "most_gpus", "budget", "deadline_hours")
_POWER = ("grid", "pue", "years", "utilisation", "power_price")
_PROBLEMS = "hw.custom.problems"


def draw(text: Text, wishes: Wishes, problems: tuple[Problem, ...], present: str) -> None:
    """All inputs; what is wrong with one stands under it, what is wrong with the rest at the end.

    `present` is the plan's GPU, the likeliest to be owned.
    """
    _draw_fields(text, wishes, _FILTERS, problems)
    owned = st.expander(text.t("Your hardware"), key="hw-owned", on_change="rerun")
    if owned.open:
        with owned:
            _draw_owned(text, wishes, present)
    own = st.expander(text.t("A GPU that is not listed"), key="hw-custom", on_change="rerun")
    if own.open:
        with own:
            _draw_custom(text, wishes, present)
    saved = st.expander(text.t("Kept hardware"), key="hw-kept", on_change="rerun")
    if saved.open:
        with saved:
            kept.draw(text, wishes)
    power = st.expander(text.t("Power and carbon"), key="hw-power", on_change="rerun")
    if power.open:
        with power:
            _draw_fields(text, wishes, _POWER, problems)
    for problem in problems:
        if problem.field not in (*_FILTERS, *_POWER):
            st.error(words.problem(text, problem), icon=":material/error:")


def _draw_fields(text: Text, wishes: Wishes, ids: tuple[str, ...], problems: tuple[Problem, ...]) -> None:
    for id in ids:
        _draw_field(text, BY_ID[id], wishes)
        for problem in problems:
            if problem.field == id:
                st.error(words.problem(text, problem), icon=":material/error:")


def _draw_field(text: Text, field: Field, wishes: Wishes) -> None:
    key = f"hw.in.{field.id}"
    value = wishes.values[field.id]
    if st.session_state.get(key) != value:
        st.session_state[key] = value
    common = {"label": names.field(text, field), "help": names.help_of(text, field.id), "key": key}
    common |= {"on_change": _take, "args": (field.id,)}
    if field.id == "grid":
        grids = _grids(text)
        st.selectbox(
            options=list(grids),
            index=None,
            format_func=grids.__getitem__,
            placeholder=text.t("That of the offer"),
            **common,
        )
    elif field.kind is Kind.CHOICE:
        options = {option: names.choice(text, field.id, option) for option in field.choices}
        st.selectbox(options=list(options), format_func=options.__getitem__, **common)
    else:
        whole = field.kind is Kind.INTEGER
        kind = int if whole else float
        st.number_input(
            min_value=kind(field.low),
            max_value=kind(field.high),
            value=None if field.default is None else "min",
            step=1 if whole else None,
            format="%d" if whole else None,
            placeholder=text.t("No limit"),
            **common,
        )


def _take(id: str) -> None:
    value = st.session_state[f"hw.in.{id}"]
    state.change({id: None if value == BY_ID[id].default else value})


@lru_cache
def _grids(text: Text) -> dict[str, str]:
    return {
        one.id: text.isolate(f"{one.name} · {one.id} · {one.grams_per_kwh:g} g/kWh") for one in carbon.grids().values()
    }


def _draw_owned(text: Text, wishes: Wishes, present: str) -> None:
    for id, one in wishes.owned.items():
        with st.container(horizontal=True, vertical_alignment="center", key=f"hw-own-{id}"):
            price = text.t("{price} each", price=text.money(one.purchase_price))
            st.html(f"<p>{text.isolate(f'{one.count} × {one.gpu.name}')} · {price}</p>")
            st.button(
                text.t("Remove"),
                key=f"hw-own-remove-{id}",
                type="tertiary",
                on_click=state.set_owned,
                args=(wishes, id, 0, 0),
            )
    cards = {**{one.id: text.isolate(one.name) for one in wishes.custom}, **labels.gpus(text)}
    st.session_state.setdefault("hw.own.gpu", present)
    st.selectbox(text.t("GPU"), list(cards), format_func=cards.__getitem__, key="hw.own.gpu")
    st.number_input(text.t("How many"), 1, 65_536, key="hw.own.count")
    st.number_input(
        text.t("Purchase price of one (USD)"),
        0.0,
        1e9,
        step=100.0,
        key="hw.own.price",
        help=text.t("With its share of the machine around it."),
    )
    st.button(text.t("Add"), key="hw-own-add", on_click=_add_owned, args=(wishes,))


def _add_owned(wishes: Wishes) -> None:
    gpu, count, price = (st.session_state[f"hw.own.{name}"] for name in ("gpu", "count", "price"))
    state.set_owned(wishes, gpu, count, price)


def _draw_custom(text: Text, wishes: Wishes, present: str) -> None:
    for place, one in enumerate(wishes.custom):
        with st.container(horizontal=True, vertical_alignment="center", key=f"hw-custom-{place}"):
            st.html(f"<p>{text.isolate(names.escaped(one.name))}</p>")
            rest = tuple(card for card in wishes.custom if card is not one)
            st.button(
                text.t("Use in the plan"),
                key=f"hw-custom-plan-{place}",
                type="tertiary",
                on_click=leave.choose,
                args=({"gpu": CUSTOM, "gpu_config": one.as_mapping()},),
            )
            st.button(
                text.t("Remove"),
                key=f"hw-custom-remove-{place}",
                type="tertiary",
                disabled=one.id == present,
                help=text.t("The plan uses it.") if one.id == present else None,
                on_click=state.set_custom,
                args=(rest,),
            )
    names_of_fields = {"name": text.t("Name"), **_custom_fields(text)}
    st.text_input(text.t("Name"), key="hw.new.name", max_chars=60)
    for id, label in _custom_fields(text).items():
        st.number_input(label, min_value=0.0, value=None, key=f"hw.new.{id}", placeholder=text.t("Not set"))
    for problem in st.session_state.get(_PROBLEMS, ()):
        named = replace(problem, field=names_of_fields.get(problem.field, problem.field))
        st.error(words.problem(text, named), icon=":material/error:")
    st.button(text.t("Add"), key="hw-custom-add", on_click=_add_custom, args=(wishes,))


@lru_cache
def _custom_fields(text: Text) -> dict[str, str]:
    peaks = {id: text.t("{dtype} (dense TFLOP/s)", dtype=id.upper()) for id in PEAKS}
    return {
        "memory_gib": text.t("Memory (GiB)"),
        "bandwidth_gbs": text.t("Memory bandwidth (GB/s)"),
        **peaks,
        "link_gbs": text.t("Link to other GPUs (GB/s, both directions)"),
        "watts": text.t("Power limit (W)"),
        "price": text.t("Price (USD per hour)"),
    }


def _add_custom(wishes: Wishes) -> None:
    ids = ("name", "memory_gib", "bandwidth_gbs", *PEAKS, "link_gbs", "watts", "price")
    raw = {id: value for id in ids if (value := st.session_state.get(f"hw.new.{id}")) not in (None, "")}
    try:
        card = custom_gpu(raw)
    except InputError as error:
        st.session_state[_PROBLEMS] = error.problems
        return
    st.session_state[_PROBLEMS] = ()
    state.set_custom((*(one for one in wishes.custom if one.id != card.id), card))
