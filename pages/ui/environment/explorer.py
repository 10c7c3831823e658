"""Which driver, CUDA, framework and GPU belong together: chosen, not found."""

from html import escape

import streamlit as st

from pages.ui.monitor.note import note, section
from pages.ui.text import Text
from pages.ui.words import environment as words
from planner.environment.compatibility import Row, judge, rows


def draw(text: Text) -> None:
    """Three choices, and how each link of the chain stands, with its source."""
    section(text.t("What belongs together"))
    branches, releases, cards = rows("branch"), _releases(), rows("capability")
    with st.container(horizontal=True, key="gp-explorer"):
        driver = st.selectbox(
            text.t("Driver"),
            branches,
            index=len(branches) - 3,
            format_func=lambda row: row.name,
            key="gp-explore-driver",
        )
        release = st.selectbox(
            text.t("Framework or CUDA"),
            releases,
            index=len(rows("pytorch")) - 1,
            format_func=lambda row: row.name,
            key="gp-explore-release",
        )
        card = st.selectbox(
            text.t("GPU"),
            cards,
            index=_usual(cards),
            format_func=lambda row: f"{row.name} · {row.capability}",
            key="gp-explore-card",
        )
    windows = st.toggle(text.t("Windows"), key="gp-explore-windows")
    number = driver.driver_linux  # a branch: its newest release is judged
    found = []
    for one in judge(driver=f"{number}.999", cuda=release.cuda, capability=card.capability, windows=windows):
        state = {True: "ok", None: "warning", False: "problem"}[one.good]
        what = number if "driver" in one.code else f"CUDA {one.found}"
        said = words.judgement(text, one.code, found=what, needed=one.needed)
        source = one.source.split("|")[-1]
        found.append(
            f'<li class="gp-check-{state}"><b class="gp-check-state">{escape(words.verdict_name(text, one.good))}</b>'
            f'<div><span>{escape(said)}</span><small dir="ltr">{escape(source)}</small></div></li>'
        )
    st.html(f'<ul class="gp-checks">{"".join(found)}</ul>')
    built = [f"CUDA {release.cuda}"]
    built += [f"cuDNN {release.cudnn}"] if release.cudnn else []
    built += [f"wheels {release.wheels.replace(',', ', ')}"] if release.wheels else []
    note(text.isolate(f"{release.name}: {', '.join(built)}"))


def _releases() -> tuple[Row, ...]:
    """Frameworks, then bare CUDA releases, each once."""
    toolkits = {row.cuda: row for row in rows("toolkit")}
    return (*rows("pytorch"), *rows("tensorflow"), *toolkits.values())


def _usual(cards: tuple[Row, ...]) -> int:
    return next(place for place, row in enumerate(cards) if row.capability == "9.0")
