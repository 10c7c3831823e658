"""Runs a table through the planner: every row predicted, or why it could not be."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from planner.calibration.families import FAMILY, INVERSE
from planner.calibration.intervals import around
from planner.result import InputError, Problem, Status
from planner.validation.case import Case, Quantity, Row, Skipped
from planner.validation.finetune_rows import finetune_case
from planner.validation.inference_rows import inference_case
from planner.validation.predict import predictions, starts
from planner.validation.tables import BadCell, Layout, Table
from planner.validation.training_rows import training_case

_READERS: dict[Layout, Callable[[Row], Case]] = {
    Layout.TRAINING: training_case,
    Layout.FINETUNE: finetune_case,
    Layout.INFERENCE: inference_case,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One measured quantity of a row against its prediction."""

    case: Case
    quantity: Quantity
    measured: float
    predicted: float
    low: float
    high: float
    status: Status

    @property
    def error(self) -> float:
        """Relative: positive where the prediction is too high."""
        return self.predicted / self.measured - 1

    @property
    def covered(self) -> bool:
        return self.low <= self.measured <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One row: its case or why there is none, its comparisons, and whether it was predicted to fit."""

    id: str
    line: int
    quality: str
    case: Case | None = None
    comparisons: tuple[Comparison, ...] = ()
    fits: bool | None = None
    skipped: Skipped | None = None


def table_outcomes(table: Table) -> Iterator[Outcome]:
    """Outcomes of an open table."""
    reader = _READERS[table.layout]
    for row in table.rows:
        yield _outcome(row, reader)
    for line, text in table.problems:
        yield Outcome(id=f"line {line}", line=line, quality="", skipped=Skipped("", line, "", "unreadable-line", text))


def _outcome(row: Row, reader: Callable[[Row], Case]) -> Outcome:
    id, quality = row.text("id") or f"line {row.line}", row.text("quality")
    try:
        case = reader(row)
    except BadCell as error:
        return _skip(row, id, "bad-number", str(error))
    except InputError as error:
        return _skip(row, id, error.problems[0].code, _detail(error.problems[0]))
    if not case.measured and case.ran is not False:
        return _skip(row, id, "nothing-comparable", "; ".join(case.left_out) or "no measured value")
    try:
        found, result = predictions(case)
    except InputError as error:
        return _skip(row, id, error.problems[0].code, _detail(error.problems[0]))
    if case.measured and not found:
        return _skip(row, id, "no-prediction", ", ".join(case.measured))
    comparisons = tuple(
        _comparison(case, quantity, case.measured[quantity], value) for quantity, value in found.items()
    )
    fits = starts(case, result) if case.ran is not None else None
    return Outcome(id=id, line=row.line, quality=quality or case.quality, case=case, comparisons=comparisons, fits=fits)


def _comparison(case: Case, quantity: Quantity, measured: float, predicted: float) -> Comparison:
    found = around(
        predicted, FAMILY[quantity], case.request, inverse=quantity in INVERSE, source=case.source, model=case.model
    )
    return Comparison(
        case=case,
        quantity=quantity,
        measured=measured,
        predicted=predicted,
        low=found.low,
        high=found.high,
        status=found.status,
    )


def _detail(problem: Problem) -> str:
    return f"{problem.field}: {problem.value}"


def _skip(row: Row, id: str, reason: str, detail: str) -> Outcome:
    quality = row.text("quality")
    return Outcome(id=id, line=row.line, quality=quality, skipped=Skipped(id, row.line, quality, reason, detail))
