"""What a desk hands out: items, comments, lines of the audit, members; and the two ways in which a save can fail."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """What an item is."""

    PLAN = "plan"
    COMPARISON = "comparison"
    CAPACITY = "capacity"  # a scenario: inventory, workloads, growth
    INVENTORY = "inventory"
    GPU = "gpu"
    PRICE = "price"
    MEASUREMENT = "measurement"
    RECORDING = "recording"  # where a recording lies; the readings are in its file


class Role(StrEnum):
    """What a member may do; each may all that the ones before it may."""

    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"

    def allows(self, needed: "Role") -> bool:
        order = list(Role)
        return order.index(self) >= order.index(needed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One kept thing. Times are UTC without a zone. `id` is the short link."""

    id: str
    kind: Kind
    name: str
    tags: tuple[str, ...]
    notes: str
    schema: int
    content: Mapping[str, Any]
    version: int
    author: str
    created: datetime
    updated: datetime
    archived: bool
    deleted: datetime | None


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody said about an item."""

    id: str
    author: str
    time: datetime
    text: str


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One change: who, when, what, and the fields that changed, before and after."""

    item: str
    author: str
    time: datetime
    action: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody of a team. Invited: has not signed in yet."""

    user: str
    email: str
    name: str
    role: Role
    invited: bool


class Missing(LookupError):
    """No such item in this team. It says the same of one that exists in another."""


class Forbidden(PermissionError):
    """The role of the user does not allow this."""


class Conflict(RuntimeError):
    """Somebody saved meanwhile. Nothing was written: `mine` is what was to be saved, `theirs` what is kept."""

    def __init__(self, mine: Item, theirs: Item) -> None:
        super().__init__(f"version {theirs.version} is newer than {mine.version}")
        self.mine = mine
        self.theirs = theirs
