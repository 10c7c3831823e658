"""A store on each database: SQLite in a folder of the test, PostgreSQL on a socket of its own where Debian has it."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from planner.store.store import Store, open_store

DATABASES = ("sqlite", "postgresql")


def _binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else Path(path).parent if (path := shutil.which("initdb")) else None


def _user() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid():
        return None
    return next((name for name in ("postgres", "nobody") if name in {entry.pw_name for entry in pwd.getpwall()}), None)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a PostgreSQL server on a socket in a temporary folder."""
    binaries, user = _binaries(), _user()
    if binaries is None or (os.geteuid() == 0 and user is None):
        pytest.skip("PostgreSQL is not installed (Debian: apt install postgresql)")
    with tempfile.TemporaryDirectory(prefix="pg") as name:
        folder = Path(name)
        if user:
            shutil.chown(folder, user)

        def run(*command: str) -> None:
            done = subprocess.run(command, user=user, cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr

        run(
            str(binaries / "initdb"),
            "-D",
            f"{name}/data",
            "-U",
            "planner",
            "-A",
            "trust",
            "-N",
            "-E",
            "UTF8",
            "--locale=C",
        )
        options = f"-c listen_addresses='' -c unix_socket_directories='{name}' -c fsync=off"
        run(str(binaries / "pg_ctl"), "-D", f"{name}/data", "-o", options, "-l", f"{name}/log", "-w", "start")
        try:
            yield f"postgresql://planner@/postgres?host={name}"
        finally:
            run(str(binaries / "pg_ctl"), "-D", f"{name}/data", "-m", "immediate", "stop")


@pytest.fixture(params=DATABASES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database of each kind."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'planner.sqlite'}"
        return
    address = request.getfixturevalue("server").replace("postgresql://", "postgresql+psycopg://")
    import sqlalchemy

    admin = sqlalchemy.create_engine(address, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql("DROP DATABASE IF EXISTS planner WITH (FORCE)")
        connection.exec_driver_sql("CREATE DATABASE planner")
    admin.dispose()
    yield address.replace("/postgres?", "/planner?")


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    opened = open_store(url)
    yield opened
    opened.close()
