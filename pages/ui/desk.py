"""The desk of whoever is looking: the one way for pages to what is kept. Nothing is opened before it is asked for.

Without sign-in there is one local user. With Streamlit's own sign-in configured ([auth] in its secrets) a desk belongs
to a team of the signed-in user.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui import words
from pages.ui.text import Text
from planner.result import InputError

if TYPE_CHECKING:  # the database's library takes a quarter of a second to load
    from planner.store.desk import Desk
    from planner.store.store import Identity, Store

TEAM = "desk.team"
"""Session key of the team that the user chose among theirs."""


class SignedOut(RuntimeError):
    """Sign-in is configured, and nobody is signed in."""


@st.cache_resource(show_spinner=False)
def store() -> "Store":
    """The store, opened once a process. Raises `InputError`."""
    from planner.store.store import open_store

    return open_store()


def sign_in_configured() -> bool:
    """Whether Streamlit's secrets hold an [auth] section."""
    return st.secrets.load_if_toml_exists() and "auth" in st.secrets


def identity() -> "Identity":
    """Who is signed in. Raises `SignedOut`."""
    from planner.store.store import Identity

    if not st.user.is_logged_in:
        raise SignedOut
    known = st.user.to_dict()
    return Identity(
        subject=f"{known.get('iss', '')}|{known['sub']}",
        email=str(known.get("email") or ""),
        name=str(known.get("name") or known.get("email") or known["sub"]),
        email_verified=known.get("email_verified") is True,
    )


def desk() -> "Desk":
    """The desk of the current user in their chosen team. Raises `SignedOut`, `InputError`."""
    if not sign_in_configured():
        return store().local_desk()
    who = identity()
    teams = [membership.team for membership in store().memberships(who)]
    chosen = st.session_state.get(TEAM)
    return store().desk(who, chosen if chosen in teams else teams[0])


@contextmanager
def told(text: Text) -> Iterator[None]:
    """Says in a sentence why the store could not do something; the rest of the page goes on."""
    try:
        yield
    except (InputError, SignedOut, LookupError, PermissionError) as error:
        for sentence in sentences(text, error):
            st.error(sentence, icon=":material/error:")


def sentences(text: Text, error: Exception) -> list[str]:
    """What went wrong, for the reader."""
    if isinstance(error, InputError):
        return [words.problem(text, problem) for problem in error.problems]
    if isinstance(error, SignedOut):
        return [text.t("Sign in to keep and open plans. Planning itself needs no account.")]
    if isinstance(error, PermissionError):
        return [text.t("Your role in this team does not allow that. Ask one of its admins.")]
    return [text.t("There is no such item in your team. It may have been deleted, or belong to another team.")]
