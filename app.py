"""Entry point: `streamlit run app.py`. Language, navigation over pages/, and the frame around each page."""

import streamlit as st

from pages.ui import shell, state
from pages.ui.saved import menu

text = shell.open_run()
page = st.navigation(shell.pages(text), position="top")
state.visit(page.url_path)
shell.draw_frame(text)
if page.url_path:  # the Plan page has all of it in its own first row
    menu.draw(text)
with shell.running(text):
    page.run()
