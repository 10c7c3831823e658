"""Accuracy: predictions against measurements, how wide the intervals are, and the reader's own measurements."""

from pages.ui import shell

text = shell.page_text()

import streamlit as st  # noqa: E402

from pages.ui.accuracy import charts, overview, own, rows  # noqa: E402
from pages.ui.headline import section_html  # noqa: E402

title = text.t("Accuracy: predicted against measured")
st.html(f'<h1 class="gp-headline">{title}</h1>')
st.html(f'<p class="gp-note">{overview.introduction(text)}</p>')
overview.draw(text)
chosen = overview.choose(text)
shown = rows.chosen(text, chosen)
if shown:
    charts.draw(text, chosen, shown)
    rows.draw(text, chosen, shown)
st.html(section_html(text.t("Your own measurements"), own.note(text)))
own.draw(text)
