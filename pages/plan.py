"""Plan: will it fit, how fast, what will it cost, what to change."""

from pages.ui import shell

text = shell.page_text()

import streamlit as st  # noqa: E402

from pages.ui import state  # noqa: E402
from pages.ui.launch import oom  # noqa: E402
from pages.ui.plan import advice, answer, curves, form, impossible, live, working  # noqa: E402
from pages.ui.saved import current  # noqa: E402
from planner.estimate import estimate  # noqa: E402
from planner.plan.checks import problems_of  # noqa: E402
from planner.plan.request import request_of  # noqa: E402

current.follow_link(text)
plan, problems = state.read()
problems = (*problems, *problems_of(plan))
with st.sidebar:
    form.draw(text, plan, problems)
    live.draw(text)

if problems_of(plan):
    impossible.draw(text, plan, problems)
else:
    request = request_of(plan)
    result = estimate(request)
    answer.draw(text, plan, request, result, problems)
    working.draw(text, request, result)
    advice.draw(text, plan)
    curves.draw(text, plan, request, result)
    oom.draw(text, plan, result)
state.write(plan)
