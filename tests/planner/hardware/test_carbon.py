"""The table of grids."""

import pytest

from planner.hardware.carbon import grid, grid_of_offer, grids
from planner.hardware.prices import offers
from planner.result import InputError


def test_every_grid_has_a_plausible_figure_and_says_where_it_is_from():
    assert len(grids()) > 300
    for one in grids().values():
        assert 0 <= one.grams_per_kwh < 2000, one.id
        assert one.source, one.id
        assert one.basis, one.id


def test_hydro_is_clean_and_coal_is_not():
    assert grid("NOR").grams_per_kwh < 50 < 500 < grid("POL").grams_per_kwh


def test_found_by_name():
    assert grid("germany").id == "DEU"


def test_an_unknown_place_is_named_with_the_nearest():
    with pytest.raises(InputError) as caught:
        grid("Germanny")
    assert caught.value.problems[0].code == "unknown-grid"
    assert "DEU" in caught.value.problems[0].parameters["nearest"]


def test_offers_draw_from_the_grid_of_their_region():
    assert grid_of_offer("AWS", "us-east-1").id == "US-VA"
    assert grid_of_offer("GCP", "europe-west4").id == "gcp:europe-west4"
    assert grid_of_offer("Vast.ai", "any") is None


def test_every_region_with_a_place_is_known():
    assert {(o.provider, o.region) for o in offers() if grid_of_offer(o.provider, o.region) is None} == {
        (o.provider, o.region) for o in offers() if o.region in ("any", "us")
    }
