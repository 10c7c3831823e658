"""The first tables: users, teams, items, comments, audit."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def _id(name: str = "id") -> sa.Column[str]:
    return sa.Column(name, sa.String(24), nullable=False)


def _to(name: str, target: str, table: str) -> sa.Column[str]:
    key = sa.ForeignKey(f"{target}.id", ondelete="CASCADE", name=f"fk_{table}_{name}")
    return sa.Column(name, sa.String(24), key, nullable=False)


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "users",
        _id(),
        sa.Column("subject", sa.String(512)),
        sa.Column("email", sa.String(320), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
        sa.UniqueConstraint("subject", name="uq_users_subject"),
        sa.UniqueConstraint("email", name="uq_users_email"),
    )
    op.create_table(
        "teams",
        _id(),
        sa.Column("name", sa.String(200), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_teams"),
    )
    op.create_table(
        "members",
        _to("team", "teams", "members"),
        _to("user", "users", "members"),
        sa.Column("role", sa.String(16), nullable=False),
        sa.PrimaryKeyConstraint("team", "user", name="pk_members"),
    )
    op.create_table(
        "items",
        _id(),
        _to("team", "teams", "items"),
        sa.Column("kind", sa.String(24), nullable=False),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("tags", sa.JSON, nullable=False),
        sa.Column("notes", sa.Text, nullable=False),
        sa.Column("schema", sa.Integer, nullable=False),
        sa.Column("content", sa.JSON, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("author", sa.String(200), nullable=False),
        sa.Column("created", sa.DateTime, nullable=False),
        sa.Column("updated", sa.DateTime, nullable=False),
        sa.Column("archived", sa.Boolean, nullable=False),
        sa.Column("deleted", sa.DateTime),
        sa.PrimaryKeyConstraint("id", name="pk_items"),
    )
    op.create_index("ix_items_team_kind", "items", ["team", "kind"])
    op.create_table(
        "comments",
        _id(),
        _to("team", "teams", "comments"),
        _to("item", "items", "comments"),
        sa.Column("author", sa.String(200), nullable=False),
        sa.Column("time", sa.DateTime, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_comments"),
    )
    op.create_index("ix_comments_item", "comments", ["item"])
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer),
        _to("team", "teams", "audit"),
        _id("item"),
        sa.Column("author", sa.String(200), nullable=False),
        sa.Column("time", sa.DateTime, nullable=False),
        sa.Column("action", sa.String(24), nullable=False),
        sa.Column("before", sa.JSON(none_as_null=True)),
        sa.Column("after", sa.JSON(none_as_null=True)),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )
    op.create_index("ix_audit_item", "audit", ["item"])
