"""The tables. One table holds every kind of item: they differ in what their content means, not in how they are kept."""

from sqlalchemy import JSON, Boolean, Column, DateTime, ForeignKey, Index, Integer, MetaData, String, Table, Text

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

USERS = Table(
    "users",
    METADATA,
    Column("id", String(24), primary_key=True),
    Column("subject", String(512), unique=True),  # issuer and subject of the sign-in; empty until an invited user comes
    Column("email", String(320), unique=True, nullable=False),
    Column("name", String(200), nullable=False),
)

TEAMS = Table(
    "teams", METADATA, Column("id", String(24), primary_key=True), Column("name", String(200), nullable=False)
)

MEMBERS = Table(
    "members",
    METADATA,
    Column("team", ForeignKey("teams.id", ondelete="CASCADE"), primary_key=True),
    Column("user", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("role", String(16), nullable=False),
)

ITEMS = Table(
    "items",
    METADATA,
    Column("id", String(24), primary_key=True),
    Column("team", ForeignKey("teams.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(24), nullable=False),
    Column("name", String(200), nullable=False),
    Column("tags", JSON, nullable=False),
    Column("notes", Text, nullable=False),
    Column("schema", Integer, nullable=False),  # of the content
    Column("content", JSON, nullable=False),
    Column("version", Integer, nullable=False),  # raised by each save: a save of an older one is a conflict
    Column("author", String(200), nullable=False),
    Column("created", DateTime, nullable=False),  # UTC, as all times here
    Column("updated", DateTime, nullable=False),
    Column("archived", Boolean, nullable=False),
    Column("deleted", DateTime),  # kept for undo
    Index("ix_items_team_kind", "team", "kind"),
)

COMMENTS = Table(
    "comments",
    METADATA,
    Column("id", String(24), primary_key=True),
    Column("team", ForeignKey("teams.id", ondelete="CASCADE"), nullable=False),
    Column("item", ForeignKey("items.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("author", String(200), nullable=False),
    Column("time", DateTime, nullable=False),
    Column("text", Text, nullable=False),
)

AUDIT = Table(
    "audit",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("team", ForeignKey("teams.id", ondelete="CASCADE"), nullable=False),
    Column("item", String(24), nullable=False, index=True),  # no key: the line outlives what it tells of
    Column("author", String(200), nullable=False),
    Column("time", DateTime, nullable=False),
    Column("action", String(24), nullable=False),
    Column("before", JSON(none_as_null=True)),
    Column("after", JSON(none_as_null=True)),
)
