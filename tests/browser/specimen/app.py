"""The frame of the dashboard around one page that shows every drawing with fixed figures."""

import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[3]))

from pages.ui import shell

text = shell.open_run()
page = st.navigation([st.Page("specimen.py", default=True), st.Page("failing.py")], position="top")
shell.draw_frame(text)
with shell.running(text):
    page.run()
