"""Units. Inside the planner everything is SI base units: bytes, FLOP, seconds, watts, US dollars.

Memory is shown in GiB (2**30 bytes); GB (10**9) is only for marketed sizes and for bandwidth, as vendors quote it.
"""

KIB = 2**10
MIB = 2**20
GIB = 2**30

KILO = 10**3
MEGA = 10**6
GIGA = 10**9
TERA = 10**12
PETA = 10**15

HOUR = 3600.0
DAY = 24 * HOUR
YEAR = 365.25 * DAY
KILOWATT_HOUR = 1000 * HOUR
"""Joules."""
