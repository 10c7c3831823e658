"""Compare: two to six plans side by side, what differs first, the best of each row marked."""

from pages.ui import shell

text = shell.page_text()

import streamlit as st  # noqa: E402

from pages.ui.compare import add, columns, kept, links, view  # noqa: E402

title = text.t("Compare plans")
st.html(f'<h1 class="gp-headline">{title}</h1>')
kept.follow_link(text)
entries = links.read(text)
add.draw(text, entries)
if entries:
    columns.draw(text, entries)
if len(entries) > 1:
    view.draw(text, entries)
links.write(entries)
