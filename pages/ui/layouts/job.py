"""A search beside the page: it goes on while the page shows how far it is, and stops when told to or replaced."""

import json
import threading
from typing import Any

import streamlit as st

from planner.plan.plan import Plan, to_json
from planner.search.explain import Difference, Relaxation, differences, estimated, relaxations
from planner.search.search import Found, Layout, search
from planner.search.space import Space

SHOWN = 6
"""Layouts whose losses are worked out."""

_JOB = "ly.job"


class Job:
    """One search in a thread of its own. The thread knows nothing of the page."""

    def __init__(self, key: Any, plan: Plan, space: Space) -> None:
        self.key, self.plan, self.space = key, plan, space
        self.share, self.scored = 0.0, 0
        self.found: Found | None = None
        self.advice: tuple[Relaxation, ...] = ()
        self.leaders: tuple[Layout, ...] = ()
        self.losses: tuple[tuple[Difference, ...], ...] = ()  # of the leaders, against the first
        self.failure: Exception | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            found = search(self.plan, self.space, progress=self._hear, cancelled=self._stopped.is_set)
            self.advice = relaxations(self.plan, self.space, found)
            self.leaders = found.leaders(SHOWN)
            few = [estimated(self.plan, layout) for layout in self.leaders]
            self.losses = tuple(differences(few[0], other) for other in few)
            self.found = found
        except Exception as failure:  # told on the page, by whoever looks at the job
            self.failure = failure

    def _hear(self, share: float, scored: int) -> None:
        self.share, self.scored = share, scored

    def stop(self) -> None:
        """End the search; what it has found so far is kept."""
        self._stopped.set()

    def done_within(self, seconds: float) -> bool:
        """Whether the search is over, at the latest after `seconds`. Raises what went wrong in it."""
        self._thread.join(seconds)
        if self.failure is not None:
            raise self.failure
        return self.found is not None


def job_of(plan: Plan, space: Space) -> Job:
    """The session's search of this space; another one that is still going is stopped."""
    key = (json.dumps(to_json(plan), sort_keys=True), space)
    job: Job | None = st.session_state.get(_JOB)
    if job is not None and job.key == key:
        return job
    if job is not None:
        job.stop()
    job = Job(key, plan, space)
    st.session_state[_JOB] = job
    return job


def forget() -> None:
    """Search again from the start."""
    st.session_state.pop(_JOB, None)
