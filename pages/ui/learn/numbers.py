"""Numbers that are very large or very small, as lessons on formats need them."""

import math

from pages.ui.text import Text, grouped

_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def scientific(text: Text, value: float, digits: int = 2) -> str:
    """ "3.4 × 10³⁸"; plain between a thousandth and a million."""
    if value == 0 or not math.isfinite(value):
        return text.isolate(grouped(value))
    exponent = math.floor(math.log10(abs(value)))
    if -3 <= exponent < 6:
        return text.number(value, 0) if value == int(value) else text.number(value)
    mantissa = round(value / 10.0**exponent, digits)
    if abs(mantissa) >= 10:
        mantissa, exponent = mantissa / 10, exponent + 1
    raised = str(exponent).translate(_RAISED)
    return text.isolate(f"{_factor(mantissa)}10{raised}")


def _factor(mantissa: float) -> str:
    """What stands before the power of ten; a factor of one is not said."""
    return "" if mantissa == 1 else f"{grouped(mantissa)}\u00a0×\u00a0"
