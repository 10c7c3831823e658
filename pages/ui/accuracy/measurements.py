"""The measurements that users keep: one item of the store each, in base units, with what was predicted then."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pages.ui import desk
from pages.ui.text import Text
from planner.calibration.intervals import Interval, Intervals
from planner.plan.plan import Plan, to_json
from planner.units import GIB

if TYPE_CHECKING:
    from planner.store.items import Item

_FIGURES = ("predicted", "low", "high", "measured")


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One kept figure. `quantity` is one of `labels`; figures in bytes, seconds or a rate; `by` says who measured."""

    id: str
    title: str
    quantity: str
    measured: float
    predicted: float
    low: float
    high: float
    by: str


def labels(text: Text) -> dict[str, tuple[str, float]]:
    """Each quantity: its label with the unit on screen, and that unit in base units."""
    return {
        "device": (text.t("Peak memory by nvidia-smi (GiB)"), float(GIB)),
        "reserved": (text.t("Peak memory reserved by PyTorch (GiB)"), float(GIB)),
        "allocated": (text.t("Peak memory allocated by PyTorch (GiB)"), float(GIB)),
        "seconds": (text.t("Time of a step (s)"), 1.0),
        "tokens_per_second": (text.t("Tokens per second, all GPUs"), 1.0),
        "samples_per_second": (text.t("Samples per second, all GPUs"), 1.0),
        "time_to_first_token": (text.t("Time to first token (s)"), 1.0),
        "time_per_output_token": (text.t("Time per output token (s)"), 1.0),
        "power": (text.t("Power of a GPU (W)"), 1.0),
    }


def predictions(found: Intervals) -> dict[str, Interval]:
    """What a plan predicts of these quantities."""
    names = ("device", "reserved", "allocated", "seconds", "tokens_per_second", "samples_per_second",
             "time_to_first_token", "time_per_output_token")  # fmt: skip
    return {name: value for name in names if (value := getattr(found, name)) is not None}


def title_of(text: Text, plan: Plan) -> str:
    """A plan in a few words."""
    return text.t(
        "{model} on {gpus} GPUs of type {gpu}", model=plan.spec.name, gpus=plan.values["gpus"], gpu=plan.card.name
    )


def keep(text: Text, plan: Plan, quantity: str, measured: float, predicted: Interval, by: str) -> None:
    """Put one into the store. Raises what `desk.told` says in words."""
    from planner.store.items import Kind

    title = f"{plan.spec.name} · {plan.values['gpus']} × {plan.card.name}"
    content = {
        "plan": dict(to_json(plan)),
        "title": title,
        "quantity": quantity,
        "measured": float(measured),
        "predicted": float(predicted.value),
        "low": float(predicted.low),
        "high": float(predicted.high),
        "by": by,
    }
    desk.desk().create(Kind.MEASUREMENT, title[:100], content, tags=(quantity,))


def every() -> tuple[Measurement, ...]:
    """All that are kept, the newest first; what an import brought that is none is left out."""
    from planner.store.items import Kind

    found = (_measurement(one) for one in desk.desk().items(Kind.MEASUREMENT))
    return tuple(one for one in found if one is not None)


def remove(id: str) -> None:
    """Put one away; `restore` undoes it."""
    mine = desk.desk()
    mine.delete(id, mine.item(id).version)


def restore(id: str) -> None:
    """Undo `remove`."""
    desk.desk().restore(id)


def _measurement(item: "Item") -> Measurement | None:
    content: Mapping[str, Any] = item.content
    figures = [content.get(name) for name in _FIGURES]
    if not all(isinstance(figure, int | float) and not isinstance(figure, bool) and figure > 0 for figure in figures):
        return None
    predicted, low, high, measured = (float(figure) for figure in figures if figure is not None)
    return Measurement(
        id=item.id,
        title=str(content.get("title", item.name))[:200],
        quantity=str(content.get("quantity", "")),
        measured=measured,
        predicted=predicted,
        low=low,
        high=high,
        by=str(content.get("by", "")),
    )
