"""How was this computed: every term with its formula, the numbers put in, and the source."""

from collections.abc import Iterable
from html import escape
from typing import Any

import streamlit as st

from pages.ui import words
from pages.ui.learn import glossary
from pages.ui.plan import evidence
from pages.ui.text import Text, grouped
from planner.result import Estimate, Term
from planner.workload import Request


def draw(text: Text, request: Request, result: Estimate) -> None:
    """The status of the estimate, and the working behind a button: drawn only when opened."""
    status = text.t("Status of the estimate: {status}", status=words.status(text, result.status))
    with st.container(key="gp-working", horizontal=True, vertical_alignment="center"):
        st.html(f'<p class="gp-note">{status}</p>')
        memory = _popover(text.t("How was the memory computed?"), "working-memory")
        time = _popover(text.t("How was the time computed?"), "working-time") if result.speed is not None else None
        accuracy = _popover(text.t("How accurate is this?"), "working-accuracy")
    if accuracy.open:
        with accuracy:
            evidence.draw(text, request, result)
    if memory.open:
        with memory:
            _draw_memory(text, result)
            glossary.draw_link(text)
    if time is not None and time.open:
        with time:
            _draw_time(text, result)
            glossary.draw_link(text)


def _popover(label: str, key: str) -> Any:
    return st.popover(label, key=key, type="tertiary", on_change="rerun")


def _draw_memory(text: Text, result: Estimate) -> None:
    memory = result.memory
    for line in (
        text.t("Allocated: tensors. Reserved: what PyTorch's allocator holds for them, its cached blocks included."),
        text.t(
            "Needed: what must be there for the run to succeed; cached blocks are given back when memory runs short."
        ),
        text.t("The peak is the largest of these moments; only its terms are added up."),
    ):
        st.markdown(line)
    for phase in memory.phases:
        mark = " ←" if phase is memory.peak else ""
        st.markdown(f"- {words.phase(text, phase.id)}: **{text.bytes(phase.total)}**{mark}")
    st.caption(_symbols(text))
    draw_terms(text, memory.parts)


def _draw_time(text: Text, result: Estimate) -> None:
    st.markdown(text.t("The parts add up to the time of one step; what hides behind other work is not in it."))
    st.caption(_symbols(text))
    draw_terms(text, [term for term in result.speed.parts if term.value > 0])
    if any(term.value > 0 for term in result.speed.hidden):
        hidden = text.t("Hidden behind other work")
        st.markdown(f"**{hidden}**")
        draw_terms(text, [term for term in result.speed.hidden if term.value > 0])


def _symbols(text: Text) -> str:
    """What the letters of the formulas stand for."""
    meanings = {
        "b": text.p("symbol", "micro-batch size"),
        "s": text.p("symbol", "sequence length"),
        "L": text.p("symbol", "layers"),
        "a": text.p("symbol", "attention heads"),
        "V": text.p("symbol", "vocabulary"),
        "P": text.p("symbol", "parameters, or peak FLOP/s in times"),
        "w": text.p("symbol", "bytes of a stored number"),
        "t": text.p("symbol", "tensor-parallel degree"),
        "m": text.p("symbol", "micro-batches in flight"),
        "r": text.p("symbol", "adapter rank"),
        "A": text.p("symbol", "bytes saved per token"),
        "B": text.p("symbol", "bandwidth"),
        "η, β": text.p("symbol", "attained shares of peak and bandwidth"),
    }
    return text.join([f"{text.isolate(letter)}: {meaning}" for letter, meaning in meanings.items()])


def draw_terms(text: Text, terms: Iterable[Term]) -> None:
    """Each term with its formula, the numbers put in, and the source; also what a lesson opens to."""
    for term in terms:
        with st.container(border=True):
            st.markdown(f"**{words.term(text, term.id)}** · {shown(text, term)}")
            st.latex(term.formula.latex)
            if term.inputs:
                st.html(_inputs_html(term))
            st.caption(text.t("Source: {source}", source=term.formula.source))


def shown(text: Text, term: Term) -> str:
    """A term's value in its unit."""
    if term.unit == "bytes":
        return text.bytes(term.value)
    if term.unit == "s":
        return text.seconds(term.value)
    return text.isolate(f"{grouped(float(term.value))} {term.unit}")


def _inputs_html(term: Term) -> str:
    pairs = (f"<code>{escape(name)} = {escape(_plain(value))}</code>" for name, value in term.inputs.items())
    return f'<p class="gp-inputs" dir="ltr">{" ".join(pairs)}</p>'


def _plain(value: Any) -> str:
    return grouped(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)
