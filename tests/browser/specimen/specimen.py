"""Every drawing once. Labels are fixed words here: what is tested is how they are set, not what they say."""

import streamlit as st

from pages.ui import charts, headline, shell, tables
from pages.ui.memory_bar import memory_bar_html
from pages.ui.tables import Change, Column, Tile
from planner.units import GIB

text = shell.page_text()
word = "كلمة" if text.rtl else "word"

with st.sidebar:
    batch = st.slider("Batch", 1, 8, 4, key="batch")
    st.segmented_control("Precision", ["bf16", "fp32"], default="bf16", key="precision", required=True)

parts = [
    ("mem.weights", f"{word} 1", 15 * GIB),
    ("mem.logits", f"{word} 2", 2.9 * GIB * batch),
    ("mem.activations", f"{word} 3", 0.5 * GIB * batch),
    ("mem.optimizer", f"{word} 4", 0.5 * GIB),
    ("mem.context", f"{word} 5", 0.5 * GIB),
]
used = sum(size for _, _, size in parts)
with headline.actions(text, word):
    st.button("Save")
verdict, sentence = headline.fits_sentence(text, 24 * GIB - used)
st.html(headline.headline_html(verdict, sentence, word))
st.html(memory_bar_html(parts, 24 * GIB, text))
st.html(
    tables.tiles_html(
        [
            Tile(label=word, value=text.tokens_per_second(3480), note=text.plus_minus(0.09)),
            Tile(label=word, value=text.seconds(2.35), note=word),
            Tile(label=word, value=text.money(0.35), note=word),
            Tile(label=word, value=word, note=word),
        ]
    )
)
st.html(headline.section_html(word, word))
change = Change(
    id="a",
    sentence=f"{word} {word} {word}",
    result=text.bytes(19 * GIB),
    verdict=headline.Verdict.FITS,
    verdict_words=f"{word} {word}",
    speed=f"{word} {text.change(1.03)}",
)
tables.change_rows(text, [change], lambda id: st.session_state.update(applied=id))
st.html(f'<p id="applied">{st.session_state.get("applied", "-")}</p>')

dark = charts.is_dark()
memory = [20.2, 23.7, 30.6, 44.5]
columns = [Column(id="x", label=word, numeric=True), Column(id="y", label=word, unit="GiB", numeric=True)]
for key, figure in {
    "line": charts.line_chart(
        text,
        [1, 2, 4, 8],
        [charts.Series(label=word, values=memory)],
        x_label=word,
        unit="GiB",
        limit=charts.Limit(y=24.0, label=f"{word}: 2"),
        marks=[charts.Mark(x=4, y=30.6)],
        decimals=1,
        dark=dark,
    ),
    "bars": charts.stacked_bar_chart(
        text,
        [1, 2],
        [charts.Series(label=word, values=[15, 15], key="mem.weights")],
        x_label=word,
        unit="GiB",
        dark=dark,
    ),
}.items():
    charts.draw(
        text,
        figure,
        title=f"{word} {key}",
        alt=f"{word} {key}",
        columns=columns,
        rows=list(zip([1, 2, 4, 8], memory, strict=True)),
        key=key,
    )
