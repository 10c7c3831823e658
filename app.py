"""Entry point: `streamlit run app.py`. Language, navigation over pages/, and the frame around each page."""

import streamlit as st

from pages.ui import shell

text = shell.open_run()
page = st.navigation(shell.pages(text), position="top")
shell.draw_frame(text)
with shell.running(text):
    page.run()
