"""Opens tables of measurements that the user names, in whatever encoding they come."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from planner.result import InputError, Problem
from planner.validation.run import Outcome, table_outcomes
from planner.validation.tables import Table, read_table

ENCODINGS = ("utf-8-sig", "cp1252")


def outcomes(path: Path) -> Iterator[Outcome]:
    """Outcomes of a file's rows in order, lines that could not be read last. Raises `InputError` for a bad file."""
    table, stream = open_table(path)
    with stream:
        yield from table_outcomes(table)


def open_table(path: Path) -> tuple[Table, IO[str]]:
    """The table of a file, to be read row by row, and the open file to close afterwards.

    UTF-8 with or without a mark, UTF-16 with one, else Windows-1252. Raises `InputError` where the file is missing,
    empty, no text, or lacks columns (which are named).
    """
    try:
        start = path.open("rb").read(4)
    except OSError as error:
        raise InputError([Problem("unreadable-file", "file", str(path), {"reason": error.strerror})]) from error
    encoding = "utf-16" if start[:2] in (b"\xff\xfe", b"\xfe\xff") else _encoding(path)
    stream = path.open(encoding=encoding, errors="replace", newline="")
    try:
        return read_table(stream), stream
    except InputError:
        stream.close()
        raise


def _encoding(path: Path) -> str:
    decoder = io.TextIOWrapper(path.open("rb"), encoding=ENCODINGS[0])
    try:
        while decoder.read(1 << 20):
            pass
    except UnicodeDecodeError:
        return ENCODINGS[1]
    finally:
        decoder.close()
    return ENCODINGS[0]
