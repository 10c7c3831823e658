"""The sidebar of the Layouts page: what the search varies, and the reader's own layout to compare with."""

import streamlit as st

from pages.ui import inputs
from pages.ui.layouts import state
from pages.ui.layouts.state import Wishes
from pages.ui.text import Text
from planner.plan.plan import Plan
from planner.plan.table import BY_ID
from planner.result import Problem
from planner.search.space import global_batch_of

_OWN = (
    "tensor_parallel",
    "sequence_parallel",
    "pipeline_parallel",
    "schedule",
    "virtual_stages",
    "context_parallel",
    "expert_parallel",
    "sharding",
    "shard_group",
    "micro_batch_size",
    "gradient_accumulation_steps",
    "recompute",
    "offload_optimizer",
    "offload_parameters",
)


def draw(text: Text, plan: Plan, wishes: Wishes, problems: tuple[Problem, ...]) -> None:
    """All inputs of the page."""
    inputs.draw_fields(text, plan, [BY_ID["gpus"]], problems)
    if plan.values["task"] != "serve":
        _draw_batch(text, plan, wishes)
    _draw_flag(text.t("Fewer GPUs, too"), "fewer", wishes.fewer, text.t("Half of them, a quarter, and so on."))
    if plan.values["task"] != "serve":
        _draw_flag(text.t("Offload to CPU memory, too"), "offload", wishes.offload, None)
        caution = text.t("Precision changes what is learnt, not only the speed.")
        _draw_flag(text.t("Any precision the GPU has"), "precision", wishes.precision, caution)
    own = st.expander(text.t("Your layout"), key="ly-own", on_change="rerun")
    if own.open:
        with own:
            shown = [BY_ID[id] for id in _OWN if plan.uses(id)]
            inputs.draw_fields(text, plan, shown, problems)


def _draw_batch(text: Text, plan: Plan, wishes: Wishes) -> None:
    value = wishes.batch or min(global_batch_of(plan), state.LARGEST_BATCH)
    if st.session_state.get("ly.in.batch") != value:
        st.session_state["ly.in.batch"] = value
    label = text.t("Global batch size")
    st.number_input(
        label if wishes.batch else text.t("{label} · default", label=label),
        min_value=1,
        max_value=state.LARGEST_BATCH,
        step=1,
        key="ly.in.batch",
        help=text.t("Samples of one optimizer step. Every layout keeps it; the default is that of the plan."),
        on_change=lambda: state.change("batch", st.session_state["ly.in.batch"]),
    )


def _draw_flag(label: str, key: str, value: bool, help: str | None) -> None:
    widget = f"ly.in.{key}"
    if st.session_state.get(widget) != value:
        st.session_state[widget] = value
    st.toggle(label, key=widget, help=help, on_change=lambda: state.change(key, st.session_state[widget]))
