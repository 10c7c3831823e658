"""The inventory and the workloads as tables to edit, and the settings beside them."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import streamlit as st

from pages.ui import words
from pages.ui.capacity import rows
from pages.ui.headline import section_html
from pages.ui.text import Text
from planner.capacity.read import POOL_COLUMNS, WORKLOAD_COLUMNS, rows_of_text, scenario_of
from planner.capacity.types import LONGEST_WEEKS, Scenario
from planner.result import InputError, Problem

_FAILED = "capacity.failed"


def draw(text: Text) -> tuple[Scenario, tuple[Problem, ...]]:
    """Everything that is put in; the scenario that it makes, and what is wrong with it."""
    kept = rows.rows()
    _draw_settings(text, kept)
    st.html(
        section_html(
            text.t("GPUs"),
            text.t(
                "One row a kind of node. Prices are US dollars for a GPU and hour; “from” and “until” may stay empty."
            ),
        )
    )
    _draw_table(text, "pools", POOL_COLUMNS, kept["pools"])
    st.html(
        section_html(
            text.t("Workloads"),
            text.t("GPU-hours of a job; 0 for a service, which runs to the end. Several kinds of GPU with | between."),
        )
    )
    _draw_table(text, "workloads", WORKLOAD_COLUMNS, kept["workloads"])
    now = rows.rows()
    return scenario_of(
        now["pools"],
        now["workloads"],
        start=date.fromisoformat(now["start"]),
        weeks=now["weeks"],
        growth_per_year=now["growth_per_year"],
    )


def draw_problems(text: Text, problems: Sequence[Problem]) -> None:
    """What was left out, and why."""
    for problem in problems[:10]:
        st.error(words.problem(text, problem), icon=":material/error:")
    if len(problems) > 10:
        st.error(
            text.n(
                "{count} more row has something wrong.", "{count} more rows have something wrong.", len(problems) - 10
            )
        )


def draw_empty(text: Text) -> None:
    """Where to begin."""
    st.info(
        text.t("Enter GPUs and workloads above, paste a table, open a file, or start from the example."),
        icon=":material/table:",
    )


def _draw_settings(text: Text, kept: dict[str, Any]) -> None:
    edition = rows.edition()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        start = st.date_input(text.t("Start"), value=date.fromisoformat(kept["start"]), key=f"capacity.start.{edition}")
        weeks = st.number_input(
            text.t("Weeks"),
            value=kept["weeks"],
            min_value=1,
            max_value=LONGEST_WEEKS,
            step=1,
            key=f"capacity.weeks.{edition}",
        )
        growth = st.slider(
            text.t("Growth of services in a year (%)"),
            -50,
            300,
            round(100 * kept["growth_per_year"]),
            5,
            key=f"capacity.growth.{edition}",
        )
    new = {"start": start.isoformat(), "weeks": int(weeks), "growth_per_year": growth / 100}
    if any(kept[name] != value for name, value in new.items()):
        rows.put(**new)


def _draw_table(text: Text, name: str, columns: Sequence[str], kept: list[dict[str, Any]]) -> None:
    import pandas as pd

    labels = _labels(text)
    order = list(columns)[::-1] if text.rtl else list(columns)
    # The editor shows its own edits over what it was given first; only another scenario gives it new rows.
    first = st.session_state.setdefault(f"capacity.{name}.{rows.edition()}.first", kept)
    frame = pd.DataFrame(
        [{column: _cell(row.get(column)) for column in columns} for row in first], columns=list(columns), dtype=object
    )
    edited = st.data_editor(
        frame,
        num_rows="dynamic",
        hide_index=True,
        column_order=order,
        column_config={column: st.column_config.Column(labels[column]) for column in columns},
        key=f"capacity.{name}.{rows.edition()}",
    )
    new = [{k: v for k, v in row.items() if _filled(v)} for row in edited.to_dict("records")]
    if [{k: str(v) for k, v in row.items() if _filled(v)} for row in kept] != [
        {k: str(v) for k, v in row.items()} for row in new
    ]:
        rows.put(**{name: new})
    paste = st.popover(text.t("Paste a table"), key=f"capacity.{name}.paste", type="tertiary", on_change="rerun")
    if paste.open:
        with paste:
            st.html(f'<p class="gp-note" dir="ltr">{",".join(columns)}</p>')
            st.text_area(text.t("Table with these columns"), key=f"capacity.{name}.text", height=160, max_chars=500_000)
            st.button(text.t("Add these rows"), key=f"capacity.{name}.add", on_click=_add, args=(text, name, columns))
            for sentence in st.session_state.pop(_FAILED, []):
                st.error(sentence, icon=":material/error:")


def _add(text: Text, name: str, columns: Sequence[str]) -> None:
    try:
        found = rows_of_text(st.session_state[f"capacity.{name}.text"], columns)
    except InputError as error:
        st.session_state[_FAILED] = [words.problem(text, problem) for problem in error.problems]
        return
    rows.replace({name: [*rows.rows()[name], *found]})


def _filled(value: Any) -> bool:
    return value is not None and value != "" and value == value  # NaN is not itself


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _labels(text: Text) -> dict[str, str]:
    return {
        "name": text.t("Name"),
        "gpu": text.t("GPU"),
        "nodes": text.t("Nodes"),
        "gpus_per_node": text.t("GPUs a node"),
        "site": text.t("Site"),
        "price_per_gpu_hour": text.t("$ a GPU-hour"),
        "on_demand": text.t("Paid by use"),
        "from": text.t("From"),
        "until": text.t("Until"),
        "gpus": text.t("GPUs"),
        "gpu_hours": text.t("GPU-hours"),
        "gpu_types": text.t("Kinds of GPU"),
        "start": text.t("Start"),
        "deadline": text.t("Deadline"),
        "priority": text.t("Priority (1–10)"),
    }
