"""A plan as a framework's files and command."""

import io
import zipfile
from html import escape

import streamlit as st

from pages.ui import words
from pages.ui.headline import copy_button_html
from pages.ui.text import Text
from pages.ui.words import launch as launch_words
from planner.launch.frameworks import FRAMEWORKS, export, frameworks_for
from planner.launch.types import Launch
from planner.launch.wrappers import WRAPPERS
from planner.plan.plan import Plan
from planner.result import InputError


def draw_export(text: Text, plan: Plan) -> None:
    """Choice of the framework and of a scheduler, then the files, the command, and what could not be said."""
    able = [framework.id for framework in frameworks_for(plan)]
    left, right = st.columns(2)
    chosen = left.selectbox(
        text.t("Framework"), able, format_func=lambda id: FRAMEWORKS[id].name, key="launch-framework"
    )
    schedulers = {None: text.t("None: run it myself"), "slurm": "Slurm", "kubernetes": "Kubernetes"}
    wrapper = right.selectbox(
        text.t("Scheduler"), [None, *WRAPPERS], format_func=lambda id: schedulers[id], key="launch-wrapper"
    )
    try:
        launch = export(plan, chosen, wrapper)
    except InputError as error:
        for problem in error.problems:
            st.error(words.problem(text, problem))
        return
    _draw(text, launch)


def _draw(text: Text, launch: Launch) -> None:
    for notice in launch.notes:
        st.warning(launch_words.note(text, notice))
    st.html(_code_html(text, text.t("Run"), launch.command))
    source = FRAMEWORKS[launch.framework].source
    names = text.t("Option names are those of {version}: {source}.", version=launch.version, source=source)
    st.html(f'<p class="gp-note">{escape(names)}</p>')
    if launch.files:
        st.download_button(
            text.t("Download the files"),
            lambda: archive(launch),
            file_name="launch.zip",
            mime="application/zip",
            key="launch-files",
            on_click="ignore",
        )
    st.html("".join(_code_html(text, file.name, file.text) for file in launch.files))


def _code_html(text: Text, title: str, code: str) -> str:
    """A text to copy: reachable by keyboard, left to right in every language."""
    copy = copy_button_html(text.t("Copy"), code)
    return (
        f'<div class="gp-code-head"><h3>{escape(text.isolate(title))}</h3>{copy}</div>'
        f'<pre class="gp-code" dir="ltr" tabindex="0" role="region" aria-label="{escape(title, quote=True)}">'
        f"<code>{escape(code)}</code></pre>"
    )


def archive(launch: Launch) -> bytes:
    """The files and the command as a zip."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as folder:
        for file in launch.files:
            folder.writestr(file.name, file.text)
        folder.writestr("run.sh", f"#!/usr/bin/env bash\n# {launch.version}\n{launch.command}\n")
    return out.getvalue()
