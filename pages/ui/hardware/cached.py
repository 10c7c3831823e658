"""The recommendation of a plan and its wishes, computed once: a language, a tab or an order changes nothing of it."""

import json
from functools import lru_cache

from planner.plan.plan import from_json
from planner.recommend.recommend import Recommendation, recommend
from planner.recommend.wishes import parse_wishes


@lru_cache(maxsize=32)
def recommended(plan: str, wishes: tuple[tuple[str, str], ...]) -> Recommendation:
    """For a plan as JSON, and wishes as pairs of text."""
    return recommend(from_json(json.loads(plan))[0], parse_wishes(dict(wishes))[0])
