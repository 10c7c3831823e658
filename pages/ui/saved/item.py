"""Everything one can do with a saved item: open, change, copy, put away; comments; history."""

from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.ui import desk
from pages.ui.saved import current
from pages.ui.tables import Column, table_html
from pages.ui.text import Text

if TYPE_CHECKING:
    from planner.store.desk import Desk
    from planner.store.items import AuditLine, Item

DELETED = "saved.deleted"
_FAILED = "saved.item.failed"


def draw(text: Text, mine: "Desk", one: "Item") -> None:
    """The parts, as tabs: details, comments, history."""
    st.code(short_link(one), language=None)
    details, comments, history = st.tabs(
        [text.t("Details"), text.t("Comments"), text.t("History")], key=f"tabs-{one.id}", on_change="rerun"
    )
    if details.open:
        with details:
            _draw_details(text, mine, one)
    if comments.open:
        with comments:
            draw_comments(text, mine, one.id)
    if history.open:
        with history:
            draw_history(text, mine, one.id)
    for sentence in st.session_state.pop(_FAILED, []):
        st.error(sentence, icon=":material/error:")


def short_link(one: "Item") -> str:
    """What stands behind the planner's address."""
    page = "compare" if one.kind == "comparison" else ""
    return f"{page}?{current.LINK}={one.id}"


def attempt(text: Text, action: Callable[[], Any]) -> bool:
    """A callback's work; a failure is told where the item is drawn. Returns whether it was done."""
    from planner.store.items import Conflict

    try:
        action()
    except Conflict as conflict:
        theirs = conflict.theirs
        st.session_state[_FAILED] = [
            text.t(
                "{author} changed “{name}” meanwhile. What you see now is theirs; change it again.",
                author=theirs.author,
                name=theirs.name,
            )
        ]
    except (ValueError, LookupError, PermissionError) as error:
        st.session_state[_FAILED] = desk.sentences(text, error)
    else:
        return True
    return False


def _draw_details(text: Text, mine: "Desk", one: "Item") -> None:
    name = st.text_input(text.t("Name"), value=one.name, max_chars=120, key=f"name-{one.id}")
    tags = st.text_input(text.t("Tags, separated by commas"), value=", ".join(one.tags), key=f"tags-{one.id}")
    notes = st.text_area(text.t("Notes"), value=one.notes, key=f"notes-{one.id}", height=90)
    wanted = {"name": name, "tags": [tag for tag in tags.split(",") if tag.strip()], "notes": notes}
    archive = text.t("Bring back") if one.archived else text.t("Archive")
    with st.container(horizontal=True):
        _button(text, text.t("Save changes"), f"keep-{one.id}", lambda: mine.save(one.id, one.version, **wanted))
        copy = text.t("{name} (copy)", name=one.name)[:120]
        _button(text, text.t("Duplicate"), f"copy-{one.id}", lambda: mine.duplicate(one.id, copy))
        _button(text, archive, f"archive-{one.id}", lambda: mine.save(one.id, one.version, archived=not one.archived))
        _button(text, text.t("Delete"), f"delete-{one.id}", lambda: _delete(mine, one))


def _button(text: Text, label: str, key: str, action: Callable[[], Any]) -> None:
    st.button(label, key=key, on_click=attempt, args=(text, action))


def _delete(mine: "Desk", one: "Item") -> None:
    mine.delete(one.id, one.version)
    st.session_state[DELETED] = one
    opened = current.current()
    if opened is not None and opened.id == one.id:
        current.set_current(None)


def draw_comments(text: Text, mine: "Desk", id: str) -> None:
    """What was said, and a field to say more."""
    said = mine.comments(id)
    if not said:
        none = text.t("Nobody has said anything yet.")
        st.html(f'<p class="gp-note">{none}</p>')
    for one in said:
        head = escape(text.join([one.author, text.moment(one.time)]))
        body = escape(one.text).replace("\n", "<br>")
        st.html(f'<p class="gp-note">{head}</p><p dir="auto">{body}</p>')
    key = f"comment-{id}"
    st.text_area(text.t("Comment"), key=key, height=80, max_chars=20_000, placeholder=text.t("Name somebody with @"))
    st.button(text.t("Comment"), key=f"say-{id}", on_click=_say, args=(text, mine, id, key))


def _say(text: Text, mine: "Desk", id: str, key: str) -> None:
    if attempt(text, lambda: mine.comment(id, st.session_state[key])):
        st.session_state[key] = ""


def draw_history(text: Text, mine: "Desk", id: str) -> None:
    """Every change: who, when, what."""
    columns = [
        Column(id="time", label=text.t("Time (UTC)")),
        Column(id="author", label=text.t("Author")),
        Column(id="action", label=text.t("Change")),
    ]
    rows = [[text.moment(line.time), line.author, _change(text, line)] for line in mine.audit(id)]
    st.html(table_html(text, columns, rows, caption=text.t("Every change, the latest first"), row_heads=False))


def _change(text: Text, line: "AuditLine") -> str:
    names = {
        "create": text.t("created"),
        "save": text.t("changed"),
        "delete": text.t("deleted"),
        "restore": text.t("brought back"),
        "comment": text.t("commented"),
    }
    fields = {
        "name": text.t("Name"),
        "tags": text.t("Tags"),
        "notes": text.t("Notes"),
        "content": text.t("Inputs"),
        "archived": text.t("Archived"),
    }
    what = names.get(line.action, line.action)
    changed = [fields[name] for name in (line.before or {}) if name in fields]
    return f"{what}: {text.join(changed)}" if changed else what
