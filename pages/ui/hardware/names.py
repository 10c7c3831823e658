"""Words of the Hardware page: names of its inputs, of reasons, and of values of the catalogue."""

from functools import lru_cache
from html import escape

from pages.ui.text import Text
from planner.hardware.facts import DRIVER, PUBLISHED, Fact
from planner.plan.fields import Field
from planner.recommend.options import Option


def escaped(name: str) -> str:
    """A name that somebody typed, for HTML."""
    return escape(name)


def field(text: Text, one: Field) -> str:
    """The label of a wish, with its unit."""
    return _fields(text)[one.id]


@lru_cache
def _fields(text: Text) -> dict[str, str]:
    t = text.t
    return {
        "source": t("Rent or own"),
        "pricing": t("Offers"),
        "vendor": t("Maker"),
        "memory_gib": t("Least memory of one GPU (GiB)"),
        "most_gpus": t("Most GPUs"),
        "budget": t("Budget (USD)"),
        "deadline_hours": t("Deadline (hours)"),
        "grid": t("Electricity grid"),
        "pue": t("PUE of the room"),
        "years": t("Years until written off"),
        "utilisation": t("Share of that time at work"),
        "power_price": t("Price of electricity (USD per kWh)"),
    }


def help_of(text: Text, id: str) -> str | None:
    """What a wish means, where its name doesn't say it all."""
    return {
        "pricing": text.t("Spot instances are cheaper, and may be taken away while the work runs."),
        "grid": text.t("For carbon. Empty: that of the offer's region, where its place is known."),
        "pue": text.t("Energy of the room over energy of the machines: about 1.1 in large clouds, 1.5 on average."),
        "utilisation": text.t("The purchase price is spread over the hours at work: a card that rests costs more."),
    }.get(id)


def choice(text: Text, field_id: str, value: str) -> str:
    """A choice's name; makers are their own names."""
    names = {
        ("source", "any"): text.t("Either"),
        ("source", "cloud"): text.t("Rented"),
        ("source", "owned"): text.t("Owned"),
        ("pricing", "on_demand"): text.t("On demand"),
        ("pricing", "spot"): text.p("pricing", "Spot"),
        ("pricing", "any"): text.t("Either"),
        ("vendor", "any"): text.t("Any"),
    }
    return names.get((field_id, value)) or text.isolate(value)


def option(one: Option) -> str:
    """What is recommended: "8 × H100 SXM5"."""
    return f"{one.gpus} × {one.gpu.name}"


def refused(text: Text, reason: str, count: int) -> str:
    """Why pairs of a GPU and a number are no options."""
    sentences = {
        "memory": text.n("{count} too little memory", "{count} too little memory", count),
        "precision": text.n("{count} lacks the precision", "{count} lack the precision", count),
        "speed": text.n("{count} of unknown speed", "{count} of unknown speed", count),
        "budget": text.n("{count} over the budget", "{count} over the budget", count),
        "deadline": text.n("{count} past the deadline", "{count} past the deadline", count),
        "source": text.n("{count} not to be had so", "{count} not to be had so", count),
        "layout": text.n("{count} without a possible layout", "{count} without a possible layout", count),
    }
    return sentences[reason]


def fact(text: Text, one: Fact) -> str:
    """The name of a value of the catalogue."""
    dtype = one.dtype.upper()
    return {
        "memory": text.t("Memory"),
        "bandwidth": text.t("Memory bandwidth"),
        "link": text.t("Link to other GPUs"),
        "power": text.t("Power limit"),
        "peak": text.t("{dtype} peak, dense", dtype=dtype),
        "reached": text.t("{dtype}, reached by large products", dtype=dtype),
        "reached-bandwidth": text.t("Memory bandwidth, reached"),
    }[one.id]


def value(text: Text, one: Fact) -> str:
    """A value of the catalogue with its unit."""
    return text.bytes(one.value) if one.unit == "B" else text.scaled(one.value, one.unit)


def basis(text: Text, one: Fact) -> str:
    """How a value is known."""
    known = {
        DRIVER: text.t("reported by the driver"),
        PUBLISHED: text.t("published figures"),
        "datasheet": text.t("data sheet"),
        "third-party database": text.t("third-party database"),
        "public comparison tables": text.t("public comparison tables"),
        "user": text.t("given by you"),
        "measured": text.p("status", "measured"),
        "interpolated": text.p("status", "interpolated"),
        "extrapolated": text.p("status", "extrapolated"),
    }
    return known.get(one.basis) or text.isolate(one.basis)


def confidence(text: Text, one: Fact) -> str:
    """How sure a value is."""
    return {
        "high": text.p("confidence", "high"),
        "medium": text.p("confidence", "medium"),
        "low": text.p("confidence", "low"),
        "user": text.p("confidence", "yours"),
        "measured": text.p("confidence", "high"),
        "interpolated": text.p("confidence", "medium"),
        "extrapolated": text.p("confidence", "low"),
    }.get(one.confidence, one.confidence)
