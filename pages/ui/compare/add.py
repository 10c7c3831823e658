"""Adding a plan: the one on the Plan page, a saved one, an example, or a link."""

from collections.abc import Sequence

import streamlit as st

from pages.ui import desk, state
from pages.ui.compare import kept, links, pasted
from pages.ui.compare.links import Entry
from pages.ui.plan.answer import crumb
from pages.ui.plan.form import preset_names
from pages.ui.saved import current
from pages.ui.saved.choose import choose
from pages.ui.text import Text, plain
from planner.plan.plan import resolve
from planner.plan.presets import PRESETS


def draw(text: Text, entries: Sequence[Entry]) -> None:
    """A button that opens the ways."""
    if not entries:
        st.info(
            text.t(
                "Two to six plans side by side. Add the one on the Plan page, saved ones, examples, or pasted links."
            ),
            icon=":material/compare_arrows:",
        )
    if len(entries) >= links.MOST:
        full = text.n("{count} plan is the most.", "{count} plans are the most.", links.MOST)
        st.html(f'<p class="gp-note">{full}</p>')
        kept.draw(text, entries)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(text.t("Add the plan of the Plan page"), key="compare.this", on_click=_add_this, args=(text,))
        more = st.popover(text.t("Add another"), key="compare.more", on_change="rerun")
        kept.draw(text, entries)
    if more.open:
        with more:
            _draw_ways(text)


def _draw_ways(text: Text) -> None:
    st.text_input(
        text.t("Link of a plan"),
        key="compare.link",
        max_chars=links.MOST * links.LONGEST,
        placeholder="http://…/?task=serve&model=…",
    )
    st.button(text.t("Add"), key="compare.add", on_click=_add_link, args=(text,))
    for sentence in st.session_state.pop(_FAILED, []):
        st.error(sentence, icon=":material/error:")
    names = preset_names(text)
    chosen = st.selectbox(
        text.t("Example"),
        list(PRESETS),
        index=None,
        format_func=names.__getitem__,
        key="compare.preset",
        placeholder=text.t("Not set"),
    )
    if chosen:
        st.button(
            text.t("Add this example"), key="compare.preset.add", on_click=_add_preset, args=(chosen, names[chosen])
        )
    _draw_saved(text)


def _draw_saved(text: Text) -> None:
    with desk.told(text):
        from planner.store.items import Kind

        items = desk.desk().items(Kind.PLAN)
        if items and (chosen := choose(text, text.t("Saved plan"), items, "compare.saved")):
            one = links.of(current.plan_of(chosen.content), chosen.name)
            st.button(text.t("Add this plan"), key="compare.saved.add", on_click=links.append, args=(one,))


def _add_this(text: Text) -> None:
    plan = state.kept()
    opened = current.current()
    links.append(links.of(plan, opened.name if opened else plain(crumb(text, plan))))


_FAILED = "compare.failed"


def _add_link(text: Text) -> None:
    try:
        found = pasted.entries(st.session_state["compare.link"])
    except (ValueError, LookupError, PermissionError, desk.SignedOut) as error:
        st.session_state[_FAILED] = desk.sentences(text, error)
        return
    if not found:
        st.session_state[_FAILED] = [text.t("That is no link of a plan. Copy one with “Copy link” on the Plan page.")]
        return
    for one in found:
        links.append(one)
    st.session_state["compare.link"] = ""


def _add_preset(id: str, name: str) -> None:
    links.append(links.of(resolve(PRESETS[id]), plain(name)))
