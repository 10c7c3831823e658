"""Hardware: the plan's work on every GPU, in several numbers, from every offer; and the catalogue."""

from pages.ui import shell

text = shell.page_text()

import datetime  # noqa: E402
import json  # noqa: E402

import streamlit as st  # noqa: E402

from pages.ui import export, leave, state, words  # noqa: E402
from pages.ui.hardware import answer, cached, catalogue, frontier, places, wishes  # noqa: E402
from pages.ui.hardware import state as wished  # noqa: E402
from pages.ui.headline import actions  # noqa: E402
from planner.commands.recommend import as_json  # noqa: E402
from planner.hardware.custom import custom_gpu  # noqa: E402
from planner.plan.plan import CUSTOM, to_json  # noqa: E402

today = datetime.datetime.now(datetime.UTC).date()
wish, wish_problems = wished.read()
plan, problems = state.read()
leave.go()
if plan.values["gpu"] == CUSTOM:  # a link may bring a card that this session did not have
    wish = wished.with_card(wish, custom_gpu(plan.values["gpu_config"]))
with st.sidebar:
    wishes.draw(text, wish, wish_problems, plan.card.id)

result = cached.recommended(json.dumps(to_json(plan)), tuple(sorted(wished.raw().items())))
with actions(text, answer.crumb(text, plan)):
    st.page_link("pages/plan.py", label=text.t("Change the plan"))
    export.download_json(text, lambda: as_json(result, today), name="hardware", key="hardware-json")
for problem in problems:
    st.error(words.problem(text, problem), icon=":material/error:")
answer.headline(text, result)
if result.options:
    answer.draw_options(text, plan, result, today)
    frontier.draw(text, result)
    places.draw(text, result, wish)
    answer.draw_smallest(text, plan, result, today)
else:
    answer.draw_nothing(text, plan, result, today)
catalogue.draw(text, wish, plan.card.id, today)
wished.write()
state.write(plan)
