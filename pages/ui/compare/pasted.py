"""The plans of a pasted link: a plan's own, a short one, or that of a whole comparison."""

from urllib.parse import parse_qsl

from pages.ui import desk
from pages.ui.compare import kept, links
from pages.ui.compare.links import Entry
from pages.ui.saved import current
from planner.plan.table import BY_ID


def entries(link: str) -> list[Entry]:
    """What the link names; nothing where it is no link. Raises what a desk raises for a short one."""
    query = link.strip()[: links.MOST * links.LONGEST].rpartition("?")[2].partition("#")[0]
    pairs = dict(parse_qsl(query, keep_blank_values=True))
    if id := pairs.get(current.LINK):
        return kept.entries_of(desk.desk().item(id))
    several = sorted(key for key in pairs if key.startswith("c."))
    if several:
        return [links.entry(pairs[key]) for key in several[: links.MOST]]
    return [links.entry(query)] if set(pairs) & set(BY_ID) else []
