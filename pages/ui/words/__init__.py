"""Names and sentences for the planner's stable ids: terms, phases, bounds, statuses, notices, problems, changes.

Each table is a function of the reader's `Text`, so that Babel finds every message and nothing is translated at import.
An id without words is shown as it is, where everyone sees it; tests ask that no known id lacks them.
"""

from pages.ui.words.changes import change
from pages.ui.words.notices import notice
from pages.ui.words.problems import problem
from pages.ui.words.results import bound, phase, status, term

__all__ = ["bound", "change", "notice", "phase", "problem", "status", "term"]
