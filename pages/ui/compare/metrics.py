"""The rows of figures: how each is read from a result, and which way is better."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pages.ui.compare.links import Entry
from pages.ui.text import Text
from planner.plan.plan import Plan
from planner.result import Estimate


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of every plan. `better`: 1 where more is better, -1 where less is, 0 where neither can be said."""

    label: str
    better: int
    value: Callable[[Plan, Estimate], float | None]
    shown: Callable[[float], str]


def metrics(text: Text) -> list[Metric]:
    """Every figure, the deciding ones first."""

    def speed(name: str) -> Callable[[Plan, Estimate], float | None]:
        return lambda plan, result: _positive(getattr(result.speed, name, None))

    def cost(name: str) -> Callable[[Plan, Estimate], float | None]:
        return lambda plan, result: _positive(getattr(result.cost, name))

    return [
        Metric(text.t("Memory of one GPU"), -1, lambda plan, result: float(result.memory.required), text.bytes),
        Metric(text.t("To spare"), 1, lambda plan, result: float(result.memory.spare), text.bytes),
        Metric(text.t("Number of GPUs"), -1, lambda plan, result: float(plan.values["gpus"]), text.number),
        Metric(text.t("Tokens per second"), 1, speed("tokens_per_second"), text.tokens_per_second),
        Metric(text.t("Samples per second"), 1, _samples, text.samples_per_second),
        Metric(text.t("Step time"), 0, _step, text.seconds),
        Metric(text.t("Time to first token"), -1, speed("time_to_first_token"), text.seconds),
        Metric(text.t("Time per output token"), -1, speed("time_per_output_token"), text.seconds),
        Metric("MFU", 1, speed("mfu"), text.percent),
        Metric(text.t("Time to finish"), -1, cost("seconds_to_finish"), text.seconds),
        Metric(text.t("Price per hour"), -1, cost("price_per_hour"), text.money),
        Metric(text.t("Cost to finish"), -1, cost("price_to_finish"), text.money),
        Metric(text.t("Cost of a million tokens"), -1, cost("price_per_million_tokens"), text.money),
    ]


def _samples(plan: Plan, result: Estimate) -> float | None:
    """Where work is not counted in tokens."""
    if result.speed is None or result.speed.tokens_per_second:
        return None
    return _positive(result.speed.samples_per_second)


def _step(plan: Plan, result: Estimate) -> float | None:
    """A step of another batch is other work: neither is better."""
    return None if plan.values["task"] == "serve" or result.speed is None else float(result.speed.seconds)


def _positive(value: object) -> float | None:
    return float(value) if value else None  # type: ignore[arg-type]


def best_of(metric: Metric, values: Sequence[float | None], plans: Sequence[Entry], fits: Sequence[bool]) -> set[int]:
    """The places of the best: among those that fit, of one task, and only where they differ."""
    known = [place for place, value in enumerate(values) if value is not None and fits[place]]
    tasks = {plans[place].plan.values["task"] == "serve" for place in known}
    if not metric.better or len(known) < 2 or len(tasks) > 1:
        return set()
    found = [values[place] for place in known]
    best = max(found) if metric.better > 0 else min(found)  # type: ignore[type-var]
    return set() if len(set(found)) == 1 else {place for place in known if values[place] == best}
