"""Learn: ten lessons with live figures, a glossary, and a presenter's view of each lesson."""

from pages.ui import shell

text = shell.page_text()

import streamlit as st  # noqa: E402

from pages.ui.learn import frame, glossary, state, style  # noqa: E402

state.read()
lesson = state.lesson()
st.html(style.sheet())
with st.sidebar:
    frame.draw_list(text)
if lesson is not None:
    frame.draw_lesson(text, lesson)
elif state.place()["lesson"] == state.GLOSSARY:
    glossary.draw(text)
else:
    frame.draw_shelf(text)
state.write()
