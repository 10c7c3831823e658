"""`store`: everything that is saved on this computer (or in DATABASE_URL's database) as one file, and back."""

import argparse
import sys
from pathlib import Path
from typing import Any

from planner.result import InputError, Problem


def add_to(commands: Any) -> None:
    """Declare the subcommand."""
    about = "takes everything saved out as one JSON file, or adds such a file; tells where it is kept"
    parser = commands.add_parser("store", help=about, description=about)
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    out = actions.add_parser("export", help="write everything as JSON, to a file or to standard output")
    out.add_argument("file", nargs="?", type=Path)
    into = actions.add_parser("import", help="add what such a file holds; nothing is overwritten")
    into.add_argument("file", type=Path)
    actions.add_parser("path", help="print where it is kept")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Do it, for the local user: teams of those who sign in are taken out on their Saved page."""
    from planner.store.engine import database_url  # the database's library loads slowly

    if options.action == "path":
        from sqlalchemy.engine import make_url

        print(make_url(database_url()).render_as_string(hide_password=True))
        return 0
    from planner.store.archive import LARGEST_FILE, export_all, import_all
    from planner.store.store import open_store

    store = open_store()
    try:
        if options.action == "export":
            text = export_all(store.local_desk())
            if options.file is None:
                sys.stdout.write(text + "\n")
            else:
                options.file.write_text(text, "utf-8")
            return 0
        with options.file.open("rb") as file:
            added, known = import_all(store.local_desk(), file.read(LARGEST_FILE + 1))
        print(f"{added} added, {known} here already")
        return 0
    except OSError as error:
        raise InputError(
            [Problem("cannot-read-file", "file", str(options.file), {"reason": error.strerror})]
        ) from error
    finally:
        store.close()
