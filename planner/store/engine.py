"""The database: SQLite in the user's data folder, or the one that DATABASE_URL names; migrated when opened."""

import os
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from platformdirs import user_data_path
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from planner.result import InputError, Problem

BUSY_SECONDS = 15
"""How long a save waits for another process's before it gives up."""

FOLDER_VARIABLE = "GPU_PLANNER_DATA"
"""Environment variable that names another data folder."""


def data_folder() -> Path:
    """Where saved things are kept on this computer."""
    named = os.environ.get(FOLDER_VARIABLE)
    return Path(named) if named else user_data_path("gpu-planner", appauthor=False)


def database_url() -> str:
    """DATABASE_URL, else the SQLite file in the data folder. `postgres://` and `postgresql://` mean psycopg 3."""
    url = os.environ.get("DATABASE_URL", "")
    if not url:
        return f"sqlite:///{data_folder() / 'planner.sqlite'}"
    for prefix in ("postgres://", "postgresql://"):
        if url.startswith(prefix):
            return "postgresql+psycopg://" + url.removeprefix(prefix)
    return url


def open_engine(url: str) -> Engine:
    """An engine whose tables are up to date.

    Raises `InputError`: "store-unreachable" where the database cannot be opened, read or written, "store-from-future"
    where a newer version of this program made it.
    """
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite" and parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(parsed, pool_pre_ping=True)
        if parsed.get_backend_name() == "sqlite":
            _prepare_sqlite(engine)
        _migrate(engine)
    except (DBAPIError, OSError, ArgumentError, NoSuchModuleError) as error:
        raise InputError([unreachable(error)]) from error
    return engine


def unreachable(error: Exception) -> Problem:
    """The problem of a database that cannot be used. No address: it may hold a password."""
    return Problem("store-unreachable", "store", None, {"reason": type(getattr(error, "orig", error)).__name__})


def _prepare_sqlite(engine: Engine) -> None:
    """Writers queue up instead of overwriting each other, and what was acknowledged is on the disk."""

    @event.listens_for(engine, "connect")
    def connect(connection, record) -> None:  # type: ignore[no-untyped-def]  # of the driver
        connection.isolation_level = None  # the driver's own BEGIN comes too late to lock
        cursor = connection.cursor()
        for pragma in (
            f"busy_timeout={BUSY_SECONDS * 1000}",
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN" if connection.get_execution_options().get("reads") else "BEGIN IMMEDIATE")


def _migrate(engine: Engine) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":  # two servers may start at once; SQLite's BEGIN locks already
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(712046)")
        current = MigrationContext.configure(connection).get_current_revision()
        if current is not None and current not in known:
            raise InputError([Problem("store-from-future", "store", current)])
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
