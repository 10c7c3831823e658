"""Saving the plan: as a new one, or over the one that is open; and what to do when somebody else saved meanwhile."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.ui import desk, shell, state
from pages.ui.saved import current
from pages.ui.saved.differences import draw_differences
from pages.ui.text import Text, plain
from planner.plan.plan import Plan

if TYPE_CHECKING:
    from planner.store.items import Conflict

_CONFLICT, _DONE = "saved.conflict", "saved.done"


def draw_button(text: Text, plan: Plan, name: str) -> None:
    """The button of the Plan page."""
    if st.button(text.t("Save"), key="save-open", icon=":material/bookmark:", help=text.t("Keep this plan")):
        ask(text, plan, name)


def ask(text: Text, plan: Plan, name: str) -> None:
    """Open the dialog; `name` is proposed for a new plan."""
    st.session_state.pop(_CONFLICT, None)
    st.session_state.pop(_DONE, None)
    _dialog(text, plan, name)


def _dialog(text: Text, plan: Plan, name: str) -> None:
    @st.dialog(text.t("Save this plan"), width="large")
    def draw() -> None:
        with shell.boundary(text), desk.told(text):
            if done := st.session_state.get(_DONE):
                _draw_done(text, done)
            elif conflict := st.session_state.get(_CONFLICT):
                _draw_conflict(text, plan, conflict)
            else:
                _draw_form(text, plan, name)

    draw()


def _draw_form(text: Text, plan: Plan, name: str) -> None:
    mine = desk.desk()
    opened = current.current()
    over = False
    if opened is not None:
        ways = {"over": text.t("Save changes to “{name}”", name=opened.name), "new": text.t("Save as a new plan")}
        over = st.radio(text.t("How"), list(ways), format_func=ways.__getitem__, key="save.way") == "over"
    label = opened.name if over and opened else plain(name)
    st.text_input(text.t("Name"), value=label, max_chars=120, key=f"save.name.{over}")
    if not over:
        st.text_input(text.t("Tags, separated by commas"), key="save.tags")
        st.text_area(text.t("Notes"), key="save.notes", height=90)
    st.button(text.t("Save"), key="save.do", type="primary", on_click=_guarded, args=(text, _save, mine, plan, over))
    _draw_failure()


def _save(mine: Any, plan: Plan, over: bool) -> None:
    from planner.store.items import Conflict, Kind

    name, content = st.session_state[f"save.name.{over}"], current.content_of(plan)
    opened = current.current()
    if not over or opened is None:
        tags = [tag for tag in st.session_state["save.tags"].split(",") if tag.strip()]
        _keep(mine.create(Kind.PLAN, name, content, tags=tags, notes=st.session_state["save.notes"]))
        return
    try:
        _keep(mine.save(opened.id, opened.version, name=name, content=content))
    except Conflict as conflict:
        st.session_state[_CONFLICT] = conflict


def _keep(item: Any) -> None:
    st.session_state.pop(_CONFLICT, None)
    st.session_state[_DONE] = item
    current.set_current(item)


def _draw_done(text: Text, item: Any) -> None:
    st.success(text.t("“{name}” is saved.", name=item.name), icon=":material/check:")
    st.markdown(text.t("Its short link, for everybody in your team:"))
    st.code(f"?{current.LINK}={item.id}", language=None)


def _draw_conflict(text: Text, plan: Plan, conflict: "Conflict") -> None:
    theirs = conflict.theirs
    st.warning(
        text.t(
            "{author} saved “{name}” while you had it open. Nothing is lost: choose.",
            author=theirs.author,
            name=theirs.name,
        ),
        icon=":material/group:",
    )
    draw_differences(text, [(text.t("Yours"), plan), (text.t("Theirs"), current.plan_of(theirs.content))])
    mine = desk.desk()
    with st.container(horizontal=True):
        for key, label, action in (
            ("copy", text.t("Keep mine as a copy"), _copy),
            ("theirs", text.t("Take theirs"), _take),
            ("over", text.t("Overwrite theirs"), _overwrite),
        ):
            st.button(label, key=f"conflict.{key}", on_click=_guarded, args=(text, action, mine, plan, conflict))
    _draw_failure()


def _copy(mine: Any, plan: Plan, conflict: "Conflict") -> None:
    from planner.store.items import Kind

    theirs = conflict.theirs
    name = f"{conflict.mine.name[:116]} (2)"
    _keep(mine.create(Kind.PLAN, name, current.content_of(plan), tags=theirs.tags, notes=theirs.notes))


def _take(mine: Any, plan: Plan, conflict: "Conflict") -> None:
    state.replace(current.plan_of(conflict.theirs.content).chosen)
    _keep(conflict.theirs)


def _overwrite(mine: Any, plan: Plan, conflict: "Conflict") -> None:
    from planner.store.items import Conflict

    try:
        _keep(
            mine.save(
                conflict.theirs.id, conflict.theirs.version, name=conflict.mine.name, content=current.content_of(plan)
            )
        )
    except Conflict as again:
        st.session_state[_CONFLICT] = again


_FAILED = "saved.failed"


def _guarded(text: Text, action: Callable[..., None], *arguments: Any) -> None:
    """A callback whose failure is shown in the dialog, which stays open with what was typed."""
    st.session_state.pop(_FAILED, None)
    try:
        action(*arguments)
    except (ValueError, LookupError, PermissionError) as error:
        st.session_state[_FAILED] = desk.sentences(text, error)


def _draw_failure() -> None:
    for sentence in st.session_state.pop(_FAILED, []):
        st.error(sentence, icon=":material/error:")
