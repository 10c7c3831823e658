"""Who is signed in, in which team, and, for admins, who else is. Nothing is drawn where sign-in is not configured."""

from html import escape
from typing import Any

import streamlit as st

from pages.ui import desk
from pages.ui.saved.item import attempt
from pages.ui.text import Text


def draw(text: Text) -> None:
    """The account's line."""
    if not desk.sign_in_configured():
        return
    if not st.user.is_logged_in:
        st.button(text.t("Sign in"), key="account.in", type="primary", on_click=st.login)
        return
    who = desk.identity()
    teams = {one.team: one for one in desk.store().memberships(who)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if len(teams) > 1:
            st.selectbox(text.t("Team"), list(teams), format_func=lambda id: teams[id].name, key=desk.TEAM)
        st.html(f'<p class="gp-note">{_who(text, who)}</p>')
        st.button(text.t("Sign out"), key="account.out", on_click=st.logout)
        members = st.popover(text.t("Members"), key="account.members", on_change="rerun")
    if members.open:
        with members:
            _draw_members(text)


def _who(text: Text, who: Any) -> str:
    return escape(text.t("Signed in as {name}", name=text.isolate(who.name)))


def _draw_members(text: Text) -> None:
    from planner.store.items import Role

    mine, store = desk.desk(), desk.store()
    roles = {
        Role.VIEWER: text.t("reads"),
        Role.EDITOR: text.t("reads and writes"),
        Role.ADMIN: text.t("manages the team"),
    }
    admin = mine.role.allows(Role.ADMIN)
    for one in store.members(mine):
        label = text.join([one.email, text.t("invited")]) if one.invited else one.email
        choice = st.selectbox(
            label,
            list(roles),
            index=list(roles).index(one.role),
            format_func=roles.__getitem__,
            key=f"role-{one.user}",
            disabled=not admin,
        )
        if admin and choice is not one.role:
            st.button(
                text.t("Change"),
                key=f"set-{one.user}",
                on_click=attempt,
                args=(text, _setter(store, mine, one.user, choice)),
            )
        if admin:
            st.button(
                text.t("Remove"),
                key=f"out-{one.user}",
                on_click=attempt,
                args=(text, _setter(store, mine, one.user, None)),
            )
    if not admin:
        return
    email = st.text_input(text.t("E-mail address"), key="account.email", max_chars=320)
    role = st.selectbox(text.t("Role"), list(roles), format_func=roles.__getitem__, key="account.role")
    st.button(
        text.t("Invite"), key="account.invite", on_click=attempt, args=(text, lambda: store.invite(mine, email, role))
    )


def _setter(store: Any, mine: Any, user: str, role: Any) -> Any:
    return lambda: store.set_role(mine, user, role)
