"""What a lesson is made of: a plan, controls over it, a figure, numbers for its text, a task, and a real case."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pages.ui.learn import numbers
from pages.ui.tables import Column
from pages.ui.text import Text
from planner.estimate import estimate
from planner.plan.checks import problems_of
from planner.plan.plan import Plan, resolve
from planner.plan.request import request_of
from planner.plan.table import BY_ID
from planner.result import Estimate, Term
from planner.teaching.answers import Unit

Values = Mapping[str, Any]
"""Values of a lesson's controls by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Control:
    """One thing that the learner changes: a field of the plan, or a quantity of the lesson's own."""

    id: str
    options: tuple[Any, ...]
    default: Any

    @property
    def in_plan(self) -> bool:
        return self.id in BY_ID


@dataclass(frozen=True, slots=True)
class Fact:
    """A number of a lesson's text (or a version, as text): `kind` is the method of `Text` that shows it."""

    kind: str
    value: Any
    options: Mapping[str, Any] = field(default_factory=dict)

    def shown(self, text: Text) -> str:
        """The number in the reader's language."""
        if self.kind == "scientific":
            return numbers.scientific(text, self.value)
        shown: str = getattr(text, self.kind)(self.value, **self.options)
        return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Something that was measured elsewhere: its numbers, and where they come from."""

    source: str
    url: str
    facts: Mapping[str, Fact]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A question with one number for an answer, which the planner computes."""

    unit: Unit
    answer: Callable[[], Fact]
    tolerance: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart with its data, as `charts.draw` takes it; a hand-out prints the data."""

    id: str
    title: str
    alt: str
    figure: Any
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    note: str = ""


Drawing = str | Chart
"""A piece of a figure: our own HTML, or a chart."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A lesson with the learner's values: what its figure draws."""

    plan: Plan
    values: Values

    @property
    def possible(self) -> bool:
        return not problems_of(self.plan)

    @property
    def result(self) -> Estimate:
        return estimated(self.plan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One lesson. Its words are in assets/lessons/<language>/<id>.md."""

    id: str
    base: Values
    controls: tuple[Control, ...]
    figure: Callable[[Text, Stage], Sequence[Drawing]]
    facts: Callable[[], Mapping[str, Fact]]
    terms: Callable[[Stage], Sequence[Term]]
    task: Task
    case: Case
    changes: Callable[[Values], Values] = lambda values: {}  # what the lesson's own controls do to the plan

    def defaults(self) -> dict[str, Any]:
        """The controls' values at the start."""
        return {control.id: control.default for control in self.controls}

    def stage(self, values: Values) -> Stage:
        """The lesson's plan under the controls' values."""
        fields = {control.id for control in self.controls if control.in_plan}
        chosen = {key: value for key, value in values.items() if key in fields}
        return Stage(resolve({**self.base, **chosen, **self.changes(values)}), values)

    def numbers(self, text: Text) -> dict[str, str]:
        """Every number of the lesson's text, by its placeholder. They do not depend on the controls."""
        found = _NUMBERS.get((self.id, text.language))
        if found is None:
            facts = {**self.facts(), **self.case.facts, "answer": self.task.answer()}
            found = _NUMBERS[self.id, text.language] = {name: fact.shown(text) for name, fact in facts.items()}
        return found


_NUMBERS: dict[tuple[str, str], dict[str, str]] = {}
"""Numbers of the lessons' texts by lesson and language: fixed plans, so computed once."""


def estimated(plan: Plan) -> Estimate:
    """The planner's answer to a plan."""
    return estimate(request_of(plan))


@lru_cache(maxsize=512)
def _planned(chosen: tuple[tuple[str, Any], ...]) -> Estimate:
    return estimated(resolve(dict(chosen)))


def planned(base: Values, **changes: Any) -> Estimate:
    """The planner's answer to a lesson's plan with changes, kept because texts ask for the same ones again."""
    return _planned(tuple(sorted({**base, **changes}.items())))


def part(result: Estimate, *ids: str) -> float:
    """Bytes of the named terms, in whichever moment of the run each is largest."""
    found = {
        term.id: max(float(t.value) for phase in result.memory.phases for t in phase.terms if t.id == term.id)
        for phase in result.memory.phases
        for term in phase.terms
        if term.id in ids
    }
    return sum(found.values())
