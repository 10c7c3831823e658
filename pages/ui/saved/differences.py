"""In which inputs plans differ, as a table."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.ui import labels
from pages.ui.tables import Column, table_html
from pages.ui.text import Text
from planner.plan.fields import Field, Kind
from planner.plan.plan import Plan
from planner.plan.table import FIELDS


def differing(plans: Sequence[Plan]) -> list[Field]:
    """The inputs that some plan uses and that are not the same in all."""
    return [field for field in FIELDS if len({_value(plan, field) for plan in plans}) > 1]


def shared(plans: Sequence[Plan]) -> list[Field]:
    """The inputs that every plan uses and that are the same in all."""
    different = differing(plans)
    return [field for field in FIELDS if field not in different and field.used_in(plans[0].values)]


def draw_shared(text: Text, plans: Sequence[Plan], *, key: str) -> None:
    """What the plans have in common, behind a fold."""
    fields = shared(plans)
    label = text.n("{count} input is the same in all", "{count} inputs are the same in all", len(fields))
    fold = st.expander(label, key=key, on_change="rerun")
    if not fold.open:
        return
    columns = [Column(id="field", label=text.t("Input")), Column(id="value", label=text.t("Value"))]
    rows = [
        [labels.field(text, field), value]
        for field in fields
        if not isinstance(value := shown(text, plans[0], field), dict)
    ]
    fold.html(table_html(text, columns, rows, caption=text.t("Inputs that are the same in all")))


def draw_differences(text: Text, named: Sequence[tuple[str, Plan]]) -> None:
    """One row an input that differs, one column a plan."""
    plans = [plan for _, plan in named]
    fields = differing(plans)
    if not fields:
        same = text.t("All inputs are the same.")
        st.html(f'<p class="gp-note">{same}</p>')
        return
    columns = [Column(id="field", label=text.t("Input")), *(Column(id=name, label=name) for name, _ in named)]
    rows = [[labels.field(text, field), *(shown(text, plan, field) for plan in plans)] for field in fields]
    st.html(table_html(text, columns, rows, caption=text.t("Inputs that differ")))


def shown(text: Text, plan: Plan, field: Field) -> Any:
    """An input's value for the reader; None where the plan does not use it."""
    if not field.used_in(plan.values):
        return None
    value = plan.values[field.id]
    if field.kind is Kind.MODEL:
        return plan.spec.name
    if field.kind is Kind.GPU:
        return text.isolate(plan.card.name)
    if field.kind is Kind.FLAG:
        return text.t("yes") if value else text.t("no")
    if field.kind is Kind.CHOICE:
        return labels.choice(text, field.id, value)
    return value


def _value(plan: Plan, field: Field) -> Any:
    """Something that can be compared: the value, or None where it is not used."""
    if not field.used_in(plan.values):
        return None
    value = plan.values[field.id]
    return str(value) if field.kind is Kind.CONFIG else value
