"""Plan: will it fit, how fast, what cost, what to change."""

import streamlit as st

from pages.ui import charts, headline, shell, tables
from pages.ui.memory_bar import memory_bar_html
from pages.ui.tables import Change, Column, Tile

text = shell.page_text()

GIB = 2**30
weights = {"bf16": 2.0, "fp32": 4.0, "int8": 1.0}
with st.sidebar:
    billions = st.slider(text.t("Parameters (billions)"), 1, 70, 8, key="billions")
    precision = st.segmented_control(text.t("Precision"), list(weights), default="bf16", key="precision", required=True)
    batch = st.number_input(text.t("Batch size"), 1, 64, 4, key="batch")

parts = [
    ("mem.weights", text.t("Weights"), billions * 1e9 * weights[precision]),
    ("mem.logits", text.t("Logits and loss"), 2.925 * GIB * batch),
    ("mem.activations", text.t("Activations"), 0.52 * GIB * batch),
    ("mem.optimizer", text.t("Optimizer"), 0.3 * GIB),
    ("mem.gradients", text.t("Gradients"), 0.2 * GIB),
    ("mem.context", text.t("CUDA context"), 0.5 * GIB),
    ("mem.reserve", text.t("Allocator reserve"), 0.7 * GIB),
]
capacity = 24.0 * GIB
used = sum(part[2] for part in parts)
with headline.actions(text, text.t("Fine-tune {model} on one {gpu}", model="Llama-3.1-8B", gpu="RTX 4090")):
    st.button(text.t("Save"))
verdict, sentence = headline.fits_sentence(text, capacity - used)
st.html(
    headline.headline_html(
        verdict,
        sentence,
        text.t("Peak {used} on a {capacity} card.", used=text.bytes(used), capacity=text.bytes(capacity)),
    )
)
st.html(memory_bar_html(parts, capacity, text))
st.html(
    tables.tiles_html(
        [
            Tile(label=text.t("Throughput"), value=text.tokens_per_second(3480), note=text.plus_minus(0.09)),
            Tile(label=text.t("Step time"), value=text.seconds(2.35)),
            Tile(
                label=text.t("Time for {count} tokens", count=text.count(10e6)),
                value=text.seconds(2880),
                note=text.t("{cost} at {price}/h", cost=text.money(0.35), price=text.money(0.44)),
            ),
            Tile(
                label=text.t("Bound by"),
                value=text.p("bound", "compute"),
                note=text.t("{share} MFU", share=text.percent(0.54)),
            ),
        ]
    )
)
st.html(headline.section_html(text.t("What to change")))
tables.change_rows(
    text,
    [
        Change(
            id="a",
            sentence=text.t("Use a fused cross-entropy loss"),
            result=text.bytes(19.1 * GIB),
            verdict=headline.Verdict.FITS,
            verdict_words=text.t("fits, {size} to spare", size=text.bytes(4.9 * GIB)),
            speed=text.t("{change} speed", change=text.change(1.03)),
        ),
        Change(
            id="b",
            sentence=text.t("Micro-batch {size} with {steps} accumulation steps", size=1, steps=4),
            result=text.bytes(20.2 * GIB),
            verdict=headline.Verdict.FITS,
            verdict_words=text.t("fits, {size} to spare", size=text.bytes(3.8 * GIB)),
            speed=text.t("{change} speed", change=text.change(0.94)),
        ),
    ],
    lambda id: None,
)
left, right = st.columns(2)
x = [1, 2, 4, 8]
memory = [20.2, 23.7, 30.6, 44.5]
dark = charts.is_dark()
with left:
    charts.draw(
        text,
        charts.line_chart(
            text,
            x,
            [charts.Series(label=text.t("Memory"), values=memory)],
            x_label=text.t("micro-batch size"),
            unit="GiB",
            limit=charts.Limit(y=24.0, label=text.t("{limit}: largest that fits {best}", limit="24.0", best=2)),
            marks=[charts.Mark(x=4, y=30.6)],
            decimals=1,
            dark=dark,
        ),
        title=text.t("Memory against micro-batch size"),
        alt=text.t("Memory against micro-batch size"),
        columns=[
            Column(id="x", label=text.t("micro-batch size"), numeric=True),
            Column(id="y", label=text.t("Memory"), unit="GiB", numeric=True),
        ],
        rows=list(zip(x, memory, strict=True)),
        key="memory",
    )
with right:
    charts.draw(
        text,
        charts.stacked_bar_chart(
            text,
            x,
            [
                charts.Series(label=text.t("Weights"), values=[15.1] * 4, key="mem.weights"),
                charts.Series(label=text.t("Logits and loss"), values=[2.9, 5.8, 11.7, 23.4], key="mem.logits"),
            ],
            x_label=text.t("micro-batch size"),
            unit="GiB",
            limit=charts.Limit(y=24.0, label=text.t("{size} usable", size=text.bytes(24 * GIB))),
            dark=dark,
        ),
        title=text.t("Parts of memory"),
        alt=text.t("Parts of memory"),
        columns=[Column(id="x", label=text.t("micro-batch size"), numeric=True)],
        rows=[(v,) for v in x],
        key="parts",
    )
