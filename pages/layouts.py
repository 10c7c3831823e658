"""Layouts: every way to lay the plan's work out over its GPUs, the best of them, and why not another."""

from pages.ui import shell

text = shell.page_text()

import streamlit as st  # noqa: E402

from pages.ui import leave, state, words  # noqa: E402
from pages.ui.headline import Verdict, actions, headline_html  # noqa: E402
from pages.ui.layouts import answer, frontier, wishes  # noqa: E402
from pages.ui.layouts import state as wished  # noqa: E402
from pages.ui.layouts.job import job_of  # noqa: E402
from planner.search.space import base_of, impossible, space_of  # noqa: E402

wish = wished.read()
plan, problems = state.read()
leave.go()
with st.sidebar:
    wishes.draw(text, plan, wish, problems)

base = base_of(plan)
reasons = impossible(base)
with actions(text, answer.crumb(text, plan)):
    st.page_link("pages/plan.py", label=text.t("Change the plan"))
for problem in problems:
    st.error(words.problem(text, problem), icon=":material/error:")
if reasons:
    st.html(headline_html(Verdict.UNKNOWN, text.t("No layout can help this plan")))
    for problem in reasons:
        st.error(words.problem(text, problem), icon=":material/error:")
else:
    space = space_of(
        plan, global_batch_size=wish.batch, fewer_gpus=wish.fewer, offload=wish.offload, any_precision=wish.precision
    )
    job = job_of(base, space)
    if not job.done_within(2.0) or job.found is None:
        answer.wait(text, job)
    else:
        answer.headline(text, plan, job, job.found)
        if job.found.best:
            answer.draw_best(text, job, job.found)
            frontier.draw(text, job.plan, job.found)
        answer.draw_why_not(text, plan, job, job.found)
wished.write()
state.write(plan)
