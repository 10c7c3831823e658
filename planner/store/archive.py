"""Everything a team keeps as one JSON file, and back."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from planner.models.readers.json_text import parse_json
from planner.plan.plan import SCHEMA
from planner.result import InputError, Problem
from planner.store.desk import Desk, new_id, now
from planner.store.items import Comment, Item, Kind
from planner.store.names import checked_content, clean_name, clean_notes, clean_tags

FORMAT = "gpu-planner-store"
VERSION = 1
"""Of the file. Raise it, and read the older ones too, when its form changes."""

LARGEST_FILE = 50 * 1024 * 1024
"""Bytes of a file that is read."""

MOST_ITEMS = 50_000
MOST_COMMENTS = 1000


def export_all(desk: Desk) -> str:
    """The team's items as JSON text, archived ones too; deleted ones and other teams' not."""
    items = [item for kind in Kind for archived in (False, True) for item in desk.items(kind, archived=archived)]
    head = {"format": FORMAT, "version": VERSION, "exported": datetime.now(UTC).isoformat(timespec="seconds")}
    return json.dumps({**head, "items": [_as_json(desk, item) for item in items]}, ensure_ascii=False, indent=1)


def import_all(desk: Desk, data: bytes) -> tuple[int, int]:
    """Add the items of such a file to the desk's team: how many were added, and how many it had already.

    All or nothing. Comments come along, their authors named together with the importer. Every item gets a new id, so
    nothing of anybody is overwritten; one with the same kind, name and content as one here is left out. Raises
    `InputError`: "too-large", "not-an-archive", "archive-from-future", what `parse_json` finds, and what is wrong with
    an item, its field as "items[3].name".
    """
    if len(data) > LARGEST_FILE:
        raise InputError([Problem("too-large", "file", None, {"limit": LARGEST_FILE})])
    file = parse_json(data, limit=LARGEST_FILE)
    if file.get("format") != FORMAT or not isinstance(file.get("items"), list):
        raise InputError([Problem("not-an-archive", "file")])
    if file.get("version") != VERSION:
        raise InputError([Problem("archive-from-future", "file", str(file.get("version"))[:20], {"known": VERSION})])
    if len(file["items"]) > MOST_ITEMS:
        raise InputError([Problem("not-a-list", "items", len(file["items"]), {"longest": MOST_ITEMS})])
    read = [_read(desk, raw, f"items[{place}]") for place, raw in enumerate(file["items"])]
    here = {_sameness(item) for kind in Kind for old in (False, True) for item in desk.items(kind, archived=old)}
    fresh = {_sameness(item): (item, said) for item, said in read if _sameness(item) not in here}
    desk.add_all(fresh.values())
    return len(fresh), len(read) - len(fresh)


def _as_json(desk: Desk, item: Item) -> dict[str, Any]:
    said = [{"author": c.author, "time": c.time.isoformat(), "text": c.text} for c in desk.comments(item.id)]
    return {
        "kind": item.kind.value,
        "name": item.name,
        "tags": list(item.tags),
        "notes": item.notes,
        "schema": item.schema,
        "content": dict(item.content),
        "author": item.author,
        "created": item.created.isoformat(),
        "updated": item.updated.isoformat(),
        "archived": item.archived,
        "comments": said,
    }


def _read(desk: Desk, raw: Any, where: str) -> tuple[Item, list[Comment]]:
    if not isinstance(raw, Mapping):
        raise InputError([Problem("not-an-object", where, type(raw).__name__)])
    try:
        kind = Kind(str(raw.get("kind")))
    except ValueError as error:
        known = [kind.value for kind in Kind]
        raise InputError(
            [Problem("not-a-choice", f"{where}.kind", str(raw.get("kind"))[:40], {"choices": known})]
        ) from error
    schema = raw.get("schema", SCHEMA)
    if not isinstance(schema, int) or not 0 < schema <= SCHEMA:
        raise InputError([Problem("unknown-schema", f"{where}.schema", str(schema)[:20], {"known": SCHEMA})])
    tags = raw.get("tags", [])
    if not isinstance(tags, list):
        raise InputError([Problem("not-a-list", f"{where}.tags", type(tags).__name__, {"longest": 20})])
    said = raw.get("comments", [])
    if not isinstance(said, list) or len(said) > MOST_COMMENTS:
        raise InputError([Problem("not-a-list", f"{where}.comments", None, {"longest": MOST_COMMENTS})])
    try:
        item = Item(
            id=new_id(),
            kind=kind,
            name=clean_name(raw.get("name")),
            tags=tuple(clean_tags(tags)),
            notes=clean_notes(raw.get("notes", "")),
            schema=schema,
            content=checked_content(raw.get("content")),
            version=1,
            author=desk.user,
            created=now(),
            updated=now(),
            archived=raw.get("archived") is True,
            deleted=None,
        )
        return item, [_read_comment(desk, one) for one in said]
    except InputError as error:
        raise InputError(
            [Problem(p.code, f"{where}.{p.field}", p.value, p.parameters) for p in error.problems]
        ) from error


def _read_comment(desk: Desk, raw: Any) -> Comment:
    if not isinstance(raw, Mapping):
        raise InputError([Problem("not-an-object", "comments", type(raw).__name__)])
    try:
        time = datetime.fromisoformat(str(raw.get("time"))).replace(tzinfo=None, microsecond=0)
    except ValueError:
        time = now()
    author = clean_name(raw.get("author"), "comments.author", 90)
    return Comment(
        new_id(), f"{author} · {desk.user}"[:200], time, clean_notes(raw.get("text"), "comments.text", needed=True)
    )


def _sameness(item: Item) -> tuple[str, str, str]:
    return item.kind, item.name, json.dumps(item.content, sort_keys=True)
