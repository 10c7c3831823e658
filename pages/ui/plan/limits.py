"""How far the plan goes: the largest value of each input that still fits and the fewest GPUs, with the margin left."""

from pages.ui import labels, state, tables
from pages.ui.headline import Verdict
from pages.ui.text import Text, grouped
from planner.plan.plan import Plan
from planner.plan.table import BY_ID
from planner.solve import Solution, solvable, solve


def draw(text: Text, plan: Plan) -> None:
    """One row an input, each solved for alone; Apply sets it in the plan."""
    found = {id: solve(plan, id) for id in solvable(plan)}
    rows = [_row(text, one) for one in found.values()]
    tables.change_rows(text, rows, lambda id: state.change(found[id].plan.chosen), key="limits")


def _row(text: Text, one: Solution) -> tables.Change:
    field = labels.field(text, BY_ID[one.field])
    memory = one.estimate.memory
    if one.value is None:
        sentence = text.t("{input}: no value fits, all else as it is", input=field)
        said, verdict = text.t("{size} short at best", size=text.bytes(-one.margin_bytes)), Verdict.DOES_NOT_FIT
    else:
        value = text.isolate(one.plan.spec.name if one.field == "model" else grouped(int(one.value)))
        if one.field == "gpus":
            sentence = text.t("{input}: at least {value}", input=field, value=value)
        else:
            sentence = text.t("{input}: up to {value}", input=field, value=value)
        said, verdict = text.t("fits, {size} to spare", size=text.bytes(one.margin_bytes)), Verdict.FITS
    beyond = ""
    if one.value is not None and one.next_short_bytes is not None:
        beyond = text.t("the next lacks {size}", size=text.bytes(one.next_short_bytes))
    return tables.Change(
        id=one.field,
        sentence=sentence,
        result=text.bytes(memory.required),
        verdict=verdict,
        verdict_words=said,
        speed=beyond,
        applies=one.value is not None,
    )
