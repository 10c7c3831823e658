"""Capacity: a team's GPUs against its workloads; who runs when, what is missing, what uncertain demand does."""

from pages.ui import shell

text = shell.page_text()

import streamlit as st  # noqa: E402

from pages.ui.capacity import demand, files, result, tables  # noqa: E402

title = text.t("Capacity: who runs where and when")
st.html(f'<h1 class="gp-headline">{title}</h1>')
files.draw(text)
scenario, problems = tables.draw(text)
tables.draw_problems(text, problems)
if scenario.pools and scenario.workloads:
    result.draw(text, scenario)
    demand.draw(text, scenario)
else:
    tables.draw_empty(text)
