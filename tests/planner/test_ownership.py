"""What an owned GPU costs, energy and carbon, by values worked out by hand."""

import numpy as np
import pytest

from planner.cost import Ownership, carbon_grams, facility_joules, owned_hour_price


def test_owned_hour_is_purchase_over_working_hours_plus_power():
    # 1753.20 USD over 4 years of 8766 h, half of them at work: 17532 h, 0.10 USD each.
    # 500 W at PUE 1.2 draw 0.6 kWh an hour; at 0.20 USD per kWh 0.12 USD.
    owned = Ownership(purchase_price=1753.20, years=4, utilisation=0.5, power_price=0.20, pue=1.2)
    assert owned_hour_price(owned, 500) == pytest.approx(0.22)


def test_owned_hour_without_known_power_is_the_purchase_alone():
    owned = Ownership(purchase_price=876.6, years=1, utilisation=1)
    assert owned_hour_price(owned, None) == pytest.approx(0.10)


def test_owned_hour_takes_arrays():
    owned = Ownership(purchase_price=0, power_price=0.10, pue=1)
    assert owned_hour_price(owned, np.array([100.0, 1000.0])) == pytest.approx([0.01, 0.10])


def test_carbon_of_energy():
    # 1 kWh = 3.6 MJ at the GPUs, 1.5 kWh from the grid at PUE 1.5, 600 g at 400 g/kWh.
    joules = facility_joules(3.6e6, 1.5)
    assert joules == pytest.approx(5.4e6)
    assert carbon_grams(joules, 400) == pytest.approx(600)
