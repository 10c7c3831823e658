"""Which source a row belongs to: rows of one source share conventions, so fitting and checking never share it."""

import re
from functools import lru_cache

from planner.validation.case import Row

_REPOSITORY = re.compile(r"(?:github:|github\.com/)?\b([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)")


def source_of(row: Row) -> str:
    """The repository that a row cites, else its title, else what its id begins with."""
    return _source(row.text("source_url_or_repo_path") or row.text("source"), row.text("source_title"), row.text("id"))


@lru_cache(maxsize=8192)
def _source(cited: str, title: str, id: str) -> str:
    found = _REPOSITORY.search(cited.removeprefix("https://"))
    if found and not found.group(1).endswith((".md", ".csv")):
        return found.group(1)
    begins = re.match(r"[A-Za-z]+", id)
    return title or cited[:80] or (begins.group() if begins else "unknown")
