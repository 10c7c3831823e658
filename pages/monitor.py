"""Monitor: GPUs as they are, here or elsewhere, now or recorded; why they are slow; alerts."""

from pages.ui import shell

text = shell.page_text()

import streamlit as st  # noqa: E402

from pages.ui.monitor import source, view  # noqa: E402

st.html(shell.ROOT / "assets" / "css" / "monitor.css")
st.html(f'<h1 class="gp-page-title">{text.t("Monitor: GPUs as they are")}</h1>')
chosen = source.choose(text)
if chosen is not None:
    view.draw(text, chosen)
