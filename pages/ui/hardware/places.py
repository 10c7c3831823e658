"""The same work on other grids: what one option draws, and what that emits where."""

import streamlit as st

from pages.ui.hardware import names
from pages.ui.headline import section_html
from pages.ui.tables import Column, table_html
from pages.ui.text import Text
from planner.cost import carbon_grams
from planner.hardware.carbon import Grid, grids
from planner.recommend.options import Option
from planner.recommend.recommend import Recommendation
from planner.recommend.wishes import Wishes
from planner.units import KILO, KILOWATT_HOUR

_COMPARED = ("SWE", "FRA", "BRA", "CAN", "GBR", "DEU", "USA", "JPN", "CHN", "SAU", "IND", "ZAF")


def draw(text: Text, result: Recommendation, wishes: Wishes) -> None:
    """A table of grids for the cheapest option whose power is known."""
    one = next((option for option in result.options if option.joules is not None), None)
    if one is None or one.joules is None:
        return
    note = text.t(
        "{option}: {energy} kWh from the grid, at a PUE of {pue}; the hosts' own share is not counted.",
        option=names.option(one),
        energy=text.number(one.joules / KILOWATT_HOUR),
        pue=wishes.values["pue"],
    )
    st.html(section_html(text.t("Carbon by grid"), note))
    columns = (
        Column(id="grid", label=text.t("Grid")),
        Column(id="intensity", label=text.t("Intensity"), unit="g CO₂/kWh", numeric=True),
        Column(id="carbon", label=text.t("CO₂"), unit="kg", numeric=True),
        Column(id="year", label=text.t("Year"), numeric=False),
    )
    rows = [_row(text, grid, one) for grid in _compared(one, wishes)]
    st.html(table_html(text, columns, rows, caption=text.t("Yearly averages of whole grids")))


def _compared(one: Option, wishes: Wishes) -> list[Grid]:
    ids = dict.fromkeys([*([one.grid.id] if one.grid else []), *_COMPARED])
    return sorted((grids()[id] for id in ids), key=lambda grid: grid.grams_per_kwh)


def _row(text: Text, grid: Grid, one: Option) -> tuple[object, ...]:
    mass = carbon_grams(one.joules, grid.grams_per_kwh) / KILO
    year = str(grid.year) if grid.year else text.t("undated")
    return (grid.name, grid.grams_per_kwh, float(f"{mass:.3g}"), year)
