"""Saved plans: the team's library; search, tags, copies, comments, history, everything out and in."""

from pages.ui import shell

text = shell.page_text()

import streamlit as st  # noqa: E402

from pages.ui import desk  # noqa: E402
from pages.ui.saved import account, archive, library  # noqa: E402

title = text.t("Saved plans")
st.html(f'<h1 class="gp-headline">{title}</h1>')
with desk.told(text):
    account.draw(text)
    mine = desk.desk()
    library.draw(text, mine)
    archive.draw(text, mine)
