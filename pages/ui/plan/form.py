"""The inputs of a plan: presets, the few basic ones in view, all the rest under Advanced."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.ui import inputs, model_picker, state
from pages.ui.text import Text
from planner.plan.fields import Kind, Section
from planner.plan.plan import Plan
from planner.plan.presets import PRESETS
from planner.result import Problem


def draw(text: Text, plan: Plan, problems: tuple[Problem, ...]) -> None:
    """All inputs, each beside what is wrong with it."""
    _draw_presets(text)
    for field in inputs.section_fields(plan, Section.BASIC):
        if field.kind is Kind.MODEL:
            model_picker.draw(text, plan, problems)
        elif field.kind is not Kind.CONFIG:
            inputs.draw_fields(text, plan, [field], problems)
    inputs.draw_advanced(text, plan, problems)


def preset_names(text: Text) -> dict[str, str]:
    """What each example is called."""
    return {
        "finetune-8b": text.t("Fine-tune an 8B on one 24 GB card"),
        "pretrain-70b": text.t("Pre-train a 70B on 64 H100"),
        "serve-32b": text.t("Serve a 32B on two L40S"),
        "resnet-50": text.t("Train ResNet-50 on ImageNet"),
        "bert": text.t("Fine-tune BERT-large on a T4"),
    }


def _draw_presets(text: Text) -> None:
    names = preset_names(text)
    presets = st.popover(text.t("Examples"), key="presets", width="stretch", on_change="rerun")
    if not presets.open:
        return
    with presets:
        for id, values in PRESETS.items():
            st.button(names[id], key=f"preset-{id}", type="tertiary", width="stretch", on_click=_start, args=(values,))
        st.button(text.t("Start again with the defaults"), key="preset-none", on_click=_start, args=({},))


def _start(values: Mapping[str, Any]) -> None:
    """Take an example and close the list, which would cover the answer."""
    state.replace(values)
    st.session_state["presets"] = False
