"""A team's desk: the only place where the store's rows are selected or changed, always within one team and role."""

import dataclasses
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Engine, and_, insert, select, update
from sqlalchemy.exc import DBAPIError

from planner.plan.plan import SCHEMA
from planner.result import InputError
from planner.store.engine import unreachable
from planner.store.items import AuditLine, Comment, Conflict, Forbidden, Item, Kind, Missing, Role
from planner.store.names import checked_content, clean_name, clean_notes, clean_tags
from planner.store.tables import AUDIT, COMMENTS, ITEMS, MEMBERS

_FIELDS = ("name", "tags", "notes", "content", "archived", "deleted")
"""What a save may change."""


def new_id() -> str:
    """An id that cannot be guessed: 96 random bits as 16 url-safe characters."""
    return secrets.token_urlsafe(12)


def now() -> datetime:
    """The time in UTC, as the tables hold it."""
    return datetime.now(UTC).replace(tzinfo=None, microsecond=0)


class Desk:
    """Everything one user may do in one team.

    Raises, where they apply: `Forbidden` (the role), `Missing` (no such item here), `Conflict` (a stale save),
    `InputError` (bad names or content; "store-unreachable" where the database fails).
    """

    def __init__(self, engine: Engine, team: str, user: str, role: Role, member: str = "") -> None:
        """`member`: id of the user among the team's members; empty where nobody signs in."""
        self._engine = engine
        self._member = member
        self.team = team
        self.user = user
        self.role = role

    def require(self, connection: Connection, needed: Role) -> None:
        """Raises `Forbidden` where the role does not allow this, or was taken away since the desk was made."""
        role: Role | None = self.role
        if self._member:
            mine = and_(MEMBERS.c.team == self.team, MEMBERS.c.user == self._member)
            held = connection.execute(select(MEMBERS.c.role).where(mine)).scalar_one_or_none()
            role = None if held is None else Role(held)
        if role is None or not role.allows(needed):
            raise Forbidden(role)

    # Reading

    def items(self, kind: Kind, *, search: str = "", archived: bool = False, deleted: bool = False) -> tuple[Item, ...]:
        """The team's items of a kind, latest first. `search` looks in names, tags, notes and content's texts."""
        wanted = [ITEMS.c.team == self.team, ITEMS.c.kind == kind]
        wanted.append(ITEMS.c.deleted.is_not(None) if deleted else ITEMS.c.deleted.is_(None))
        if not deleted:
            wanted.append(ITEMS.c.archived == archived)
        with self._reading() as connection:
            rows = connection.execute(select(ITEMS).where(*wanted).order_by(ITEMS.c.updated.desc(), ITEMS.c.id)).all()
        found = (_item(row._mapping) for row in rows)
        return tuple(item for item in found if _matches(item, search))

    def item(self, id: str) -> Item:
        """One item of the team, archived ones too; a deleted one is missing."""
        with self._reading() as connection:
            return self._find(connection, id)

    def comments(self, id: str) -> tuple[Comment, ...]:
        """What was said about an item, oldest first."""
        with self._reading() as connection:
            self._find(connection, id)
            query = select(COMMENTS).where(COMMENTS.c.team == self.team, COMMENTS.c.item == id)
            rows = connection.execute(query.order_by(COMMENTS.c.time, COMMENTS.c.id)).all()
        return tuple(Comment(row.id, row.author, row.time, row.text) for row in rows)

    def audit(self, id: str = "") -> tuple[AuditLine, ...]:
        """Every change of an item, or of the team; latest first."""
        query = select(AUDIT).where(AUDIT.c.team == self.team)
        if id:
            query = query.where(AUDIT.c.item == id)
        with self._reading() as connection:
            rows = connection.execute(query.order_by(AUDIT.c.id.desc()).limit(1000)).all()
        return tuple(AuditLine(row.item, row.author, row.time, row.action, row.before, row.after) for row in rows)

    # Writing

    def create(
        self,
        kind: Kind,
        name: str,
        content: Mapping[str, Any],
        *,
        tags: Iterable[str] = (),
        notes: str = "",
        schema: int = SCHEMA,
    ) -> Item:
        """A new item."""
        time = now()
        item = Item(
            id=new_id(),
            kind=kind,
            name=clean_name(name),
            tags=tuple(clean_tags(tags)),
            notes=clean_notes(notes),
            schema=schema,
            content=checked_content(dict(content)),
            version=1,
            author=self.user,
            created=time,
            updated=time,
            archived=False,
            deleted=None,
        )
        with self._writing() as connection:
            self._add(connection, item)
        return item

    def save(self, id: str, version: int, **changes: Any) -> Item:
        """Change an item's name, tags, notes, content or archived, if nobody did since `version`; else `Conflict`."""
        return self._save(id, version, "save", _checked(changes))

    def duplicate(self, id: str, name: str) -> Item:
        """A copy under another name."""
        item = self.item(id)
        return self.create(item.kind, name, item.content, tags=item.tags, notes=item.notes, schema=item.schema)

    def delete(self, id: str, version: int) -> Item:
        """Put an item away; `restore` undoes it."""
        return self._save(id, version, "delete", {"deleted": now()})

    def restore(self, id: str) -> Item:
        """Undo of `delete`."""
        with self._writing() as connection:
            item = self._find(connection, id, deleted=True)
            return self._write(connection, item, "restore", {"deleted": None})

    def comment(self, id: str, text: str) -> Comment:
        """Say something about an item."""
        said = Comment(new_id(), self.user, now(), clean_notes(text, "comment", needed=True))
        with self._writing() as connection:
            self._find(connection, id)
            self._say(connection, id, said)
            self._note(connection, id, "comment", None, {"text": said.text})
        return said

    def add_all(self, items: Iterable[tuple[Item, Iterable[Comment]]]) -> None:
        """Several new items with their comments at once, or none of them: what an import does."""
        with self._writing() as connection:
            for item, comments in items:
                self._add(connection, item)
                for said in comments:
                    self._say(connection, item.id, said)

    # Within one transaction

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        try:
            with self._engine.connect().execution_options(reads=True) as connection:
                yield connection
        except DBAPIError as error:
            raise InputError([unreachable(error)]) from error

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                self.require(connection, Role.EDITOR)
                yield connection
        except DBAPIError as error:
            raise InputError([unreachable(error)]) from error

    def _find(self, connection: Connection, id: str, *, deleted: bool = False) -> Item:
        gone = ITEMS.c.deleted.is_not(None) if deleted else ITEMS.c.deleted.is_(None)
        row = connection.execute(select(ITEMS).where(ITEMS.c.id == id, ITEMS.c.team == self.team, gone)).one_or_none()
        if row is None:
            raise Missing(id)
        return _item(row._mapping)

    def _add(self, connection: Connection, item: Item) -> None:
        row = dataclasses.asdict(item)
        connection.execute(insert(ITEMS).values(**{**row, "tags": list(item.tags), "team": self.team}))
        self._note(connection, item.id, "create", None, {"name": item.name})

    def _say(self, connection: Connection, item: str, said: Comment) -> None:
        connection.execute(insert(COMMENTS).values(**dataclasses.asdict(said), team=self.team, item=item))

    def _save(self, id: str, version: int, action: str, changes: Mapping[str, Any]) -> Item:
        with self._writing() as connection:
            item = self._find(connection, id)
            if item.version != version:
                raise Conflict(dataclasses.replace(item, version=version, **changes), item)
            return self._write(connection, item, action, changes)

    def _write(self, connection: Connection, item: Item, action: str, changes: Mapping[str, Any]) -> Item:
        """The item as changed. The version is asked for once more: a server's transactions see each other's commits."""
        changed = dataclasses.replace(item, **changes, version=item.version + 1, updated=now())
        row = {name: getattr(changed, name) for name in (*_FIELDS, "version", "updated")}
        mine = and_(ITEMS.c.id == item.id, ITEMS.c.team == self.team, ITEMS.c.version == item.version)
        done = connection.execute(update(ITEMS).where(mine).values(**{**row, "tags": list(changed.tags)}))
        if done.rowcount != 1:
            raise Conflict(changed, self._find(connection, item.id))
        different = [name for name in _FIELDS if getattr(item, name) != getattr(changed, name)]
        self._note(connection, item.id, action, _plain(item, different), _plain(changed, different))
        return changed

    def _note(self, connection: Connection, id: str, action: str, before: Any, after: Any) -> None:
        line = {"team": self.team, "item": id, "author": self.user, "time": now(), "action": action}
        connection.execute(insert(AUDIT).values(**line, before=before, after=after))


def _checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes of a save, cleaned; a name that is no field is a mistake of the caller."""
    cleaned: dict[str, Any] = {}
    for field, value in changes.items():
        match field:
            case "name":
                cleaned[field] = clean_name(value)
            case "notes":
                cleaned[field] = clean_notes(value)
            case "tags":
                cleaned[field] = tuple(clean_tags(value))
            case "content":
                cleaned[field] = checked_content(dict(value))
            case "archived":
                cleaned[field] = bool(value)
            case _:
                raise TypeError(f"an item has no field {field!r} to save")
    return cleaned


def _plain(item: Item, fields: Iterable[str]) -> dict[str, Any]:
    """Fields of an item as JSON."""
    values = {field: getattr(item, field) for field in fields}
    return {
        k: v.isoformat() if isinstance(v, datetime) else list(v) if isinstance(v, tuple) else v
        for k, v in values.items()
    }


def _item(row: Mapping[Any, Any]) -> Item:
    fields = {field.name: row[field.name] for field in dataclasses.fields(Item)}
    return Item(**{**fields, "kind": Kind(fields["kind"]), "tags": tuple(fields["tags"])})


def _matches(item: Item, search: str) -> bool:
    texts = [item.name, *item.tags, item.notes, item.author, *(v for v in item.content.values() if isinstance(v, str))]
    whole = " ".join(texts).casefold()
    return all(word in whole for word in search.casefold().split())
