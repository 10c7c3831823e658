"""Widgets from the plan's table of fields: one function draws any field, in the reader's language."""

from collections.abc import Iterable, Mapping

import streamlit as st

from pages.ui import labels, state, words
from pages.ui.text import Text
from planner.hardware import cpus
from planner.plan.fields import Field, Kind, Section
from planner.plan.plan import CUSTOM, Plan, card_of, choices_of
from planner.plan.table import FIELDS
from planner.result import Problem

_ADVANCED = tuple(section for section in Section if section is not Section.BASIC)
_FEW = 3  # choices that a segmented control shows side by side


def section_fields(plan: Plan, section: Section) -> list[Field]:
    """The fields of a section that apply to this plan, in the table's order."""
    return [field for field in FIELDS if field.section is section and field.used_in(plan.values)]


def draw_fields(text: Text, plan: Plan, fields: Iterable[Field], problems: Iterable[Problem]) -> None:
    """Each field's widget, and beside it what is wrong with it."""
    wrong = {problem.field: problem for problem in problems}
    for field in fields:
        draw_field(text, plan, field)
        if field.id in wrong:
            st.error(words.problem(text, wrong[field.id]), icon=":material/error:")


def draw_advanced(text: Text, plan: Plan, problems: tuple[Problem, ...]) -> None:
    """Everything beyond the basic inputs, by section, closed at first and never lost when hidden."""
    fields = [field for section in _ADVANCED for field in section_fields(plan, section)]
    untouched = sum(field.id not in plan.chosen for field in fields)
    count = text.n(
        "{count} of these inputs is at its default.", "{count} of these inputs are at their defaults.", untouched
    )
    wrong = any(problem.field == field.id for problem in problems for field in fields)
    # The count is not in the label: a label that changes closes its expander.
    advanced = st.expander(text.t("Advanced"), expanded=wrong, key="advanced", on_change="rerun")
    if not advanced.open:  # a widget costs most of a rerun's time, and a closed one shows nothing
        return
    with advanced:
        st.html(f'<p class="gp-note">{count}</p>')
        for section in _ADVANCED:
            inside = section_fields(plan, section)
            if inside:
                st.html(f'<h3 class="gp-section">{labels.section(text, section)}</h3>')
                draw_fields(text, plan, inside, problems)


def draw_field(text: Text, plan: Plan, field: Field) -> None:
    """One field's widget, seeded with the plan's value; a value that the user didn't choose is marked as default."""
    value = plan.values[field.id]
    common = {
        "label": labels.field(text, field, default=field.id not in plan.chosen and field.section is not Section.BASIC),
        "help": labels.help_of(text, field),
        "on_change": state.take,
        "args": (field.id,),
    }
    if field.kind is Kind.FLAG:
        st.toggle(value=value, key=state.seed(field.id, value), **common)
    elif field.kind in (Kind.INTEGER, Kind.NUMBER):
        _draw_number(text, field, value, common)
    elif field.kind is Kind.GPU:
        own = {CUSTOM: text.isolate(card_of(CUSTOM, config).name)} if (config := plan.chosen.get("gpu_config")) else {}
        names = {**own, **labels.gpus(text)}
        _draw_list(text, field, names, value, common)
    elif field.kind is Kind.CPU:
        _draw_list(text, field, {cpu.id: cpu.name for cpu in cpus.cpus()}, value, common)
    else:
        _draw_choice(text, field, value, common)


def _draw_number(text: Text, field: Field, value: float | None, common: dict[str, object]) -> None:
    """Limits are the planner's, not the widget's: Streamlit would name them in English, and drop what was typed."""
    whole = field.kind is Kind.INTEGER
    kind = int if whole else float
    st.number_input(
        value=None if value is None else kind(value),
        step=kind(1) if whole else None,
        format="%d" if whole else None,
        placeholder=text.t("Not set"),
        key=state.seed(field.id, value),
        **common,
    )


def _draw_choice(text: Text, field: Field, value: str, common: dict[str, object]) -> None:
    options = list(choices_of(field))
    names = {option: labels.choice(text, field.id, option) for option in options}
    if len(options) <= _FEW and field.section is Section.BASIC:
        st.segmented_control(
            options=options,
            format_func=names.__getitem__,
            default=value,
            key=state.seed(field.id, value),
            required=True,
            width="stretch",
            **common,
        )
    else:
        _draw_list(text, field, names, value, common)


def _draw_list(
    text: Text, field: Field, names: Mapping[str, str], value: str | None, common: dict[str, object]
) -> None:
    options = list(names)
    st.selectbox(
        options=options,
        index=options.index(value) if value else None,
        format_func=names.__getitem__,
        placeholder=text.t("Not set"),
        key=state.seed(field.id, value),
        **common,
    )
