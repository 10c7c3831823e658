"""Words and numbers in the reader's language: gettext messages, units, plurals, and isolates for right-to-left text.

A `Text` is one language; ask `text_in` for it, once a run. The message is the English sentence with named
placeholders; catalogues are in assets/locale. Babel finds messages by the method names `t`, `n` and `p`.
Every number and every Latin name inside an Arabic sentence is wrapped in Unicode isolates, or it would be reordered.
"""

import gettext
import math
import re
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from planner.units import DAY, HOUR, KIB

LANGUAGES = {"en": "English", "ar": "العربية"}
"""Each language the interface speaks, by code, in its own name."""

LOCALE_FOLDER = Path(__file__).parents[2] / "assets" / "locale"

_LEFT_TO_RIGHT_ISOLATE, _RIGHT_TO_LEFT_ISOLATE, _POP_ISOLATE = "\u2066", "\u2067", "\u2069"
_INVISIBLE = re.compile("[\u2060\u2066-\u2069]")
_ARABIC = re.compile("[\u0600-\u06ff]")
_NO_BREAK_SPACE = "\u00a0"
_WORD_JOINER = "\u2060"
_BINARY_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_DECIMAL_PREFIXES = ("", "k", "M", "G", "T", "P", "E")


class Quantity(str):
    """A number with its unit, as text; `number` and `unit` apart for where they are set in different type."""

    __slots__ = ("number", "unit")

    number: str
    unit: str


@dataclass(frozen=True, slots=True)
class Text:
    """One language of the interface."""

    language: str
    _catalogue: gettext.NullTranslations = field(repr=False, compare=False, hash=False)

    @property
    def rtl(self) -> bool:
        return self.language == "ar"

    @property
    def direction(self) -> str:
        return "rtl" if self.rtl else "ltr"

    # Messages

    def t(self, message: str, **parameters: Any) -> str:
        """The message in this language, its placeholders filled."""
        return self._fill(self._catalogue.gettext(message), parameters)

    def p(self, context: str, message: str, **parameters: Any) -> str:
        """As `t`, for a short word that means different things in different places: `context` tells which."""
        return self._fill(self._catalogue.pgettext(context, message), parameters)

    def n(self, singular: str, plural: str, count: int, **parameters: Any) -> str:
        """As `t`, in the plural form that `count` asks for; the placeholder {count} is the count."""
        return self._fill(self._catalogue.ngettext(singular, plural, count), {"count": count, **parameters})

    def join(self, parts: list[str]) -> str:
        """A list inside a sentence: "a, b, c"."""
        return ("، " if self.rtl else ", ").join(parts)

    def isolate(self, value: str) -> str:
        """`value` guarded against reordering, where this language runs right to left and the value does not."""
        if not self.rtl or not value or _ARABIC.search(value) or value.startswith(_LEFT_TO_RIGHT_ISOLATE):
            return value
        return f"{_LEFT_TO_RIGHT_ISOLATE}{value}{_POP_ISOLATE}"

    def embed(self, value: str) -> str:
        """`value` with this language's direction kept where the surroundings run left to right, as in a chart."""
        return f"{_RIGHT_TO_LEFT_ISOLATE}{value}{_POP_ISOLATE}" if self.rtl and _ARABIC.search(value) else value

    def _fill(self, message: str, parameters: dict[str, Any]) -> str:
        if not parameters:
            return message
        return message.format(**{name: self._shown(value) for name, value in parameters.items()})

    def _shown(self, value: Any) -> str:
        if isinstance(value, str):
            return value if isinstance(value, Quantity) else self.isolate(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return self.isolate(str(value))
        return self.number(value)

    # Numbers and units

    def number(self, value: float, decimals: int | None = None) -> Quantity:
        """A plain number with separators; as many decimals as three digits need, unless told."""
        return self._quantity(grouped(value, decimals), "")

    def bytes(self, value: float, unit: str | None = None) -> Quantity:
        """Memory: "30.6 GiB", "512 MiB". `unit` fixes the unit, so that figures beside each other share it."""
        if unit is None:
            exponent = _exponent(value, KIB, len(_BINARY_UNITS))
            if exponent == 2 and abs(value) >= 0.1 * KIB**3:
                exponent = 3
            unit = _BINARY_UNITS[exponent]
        size = value / KIB ** _BINARY_UNITS.index(unit)
        return self._quantity(grouped(size, 1 if unit in ("GiB", "TiB", "PiB") else 0), unit)

    def seconds(self, value: float) -> Quantity:
        """A duration in the unit people would say: "850 µs", "2.35 s", "48 min", "6.5 h", "3.2 days"."""
        size = abs(value)
        for limit, scale, unit in (
            (1e-3, 1e-6, self.p("unit", "µs")),
            (1.0, 1e-3, self.p("unit", "ms")),
            (120.0, 1.0, self.p("unit", "s")),
            (2 * HOUR, 60.0, self.p("unit", "min")),
            (2 * DAY, HOUR, self.p("unit", "h")),
            (730 * DAY, DAY, self.p("unit", "days")),
        ):
            if size < limit:
                return self._quantity(grouped(value / scale), unit)
        return self._quantity(grouped(value / (365.25 * DAY)), self.p("unit", "years"))

    def percent(self, fraction: float, decimals: int = 0) -> Quantity:
        """A share: 0.54 is "54%"."""
        return self._quantity(f"{grouped(100 * fraction, decimals)}%", "")

    def change(self, ratio: float) -> Quantity:
        """A relative change with its sign: 1.03 is "+3%", 0.86 is "−14%", 1 is "±0%"."""
        change = round(100 * (ratio - 1))
        sign = "+" if change > 0 else "−" if change < 0 else "±"
        return self._quantity(f"{sign}{grouped(abs(change), 0)}%", "")

    def plus_minus(self, fraction: float) -> Quantity:
        """A margin around a figure: "±9%"."""
        return self._quantity(f"±{grouped(100 * fraction, 0)}%", "")

    def money(self, dollars: float) -> Quantity:
        """US dollars: "$0.35", "$1,240", "$3.1 M"."""
        if abs(dollars) >= 1e6:
            return self._quantity(f"${grouped(dollars / 1e6)}{_NO_BREAK_SPACE}M", "")
        decimals = 4 if 0 < abs(dollars) < 0.01 else 2 if abs(dollars) < 100 else 0
        return self._quantity(f"${grouped(dollars, decimals)}", "")

    def tokens_per_second(self, value: float) -> Quantity:
        return self._quantity(grouped(value), self.p("unit", "tokens/s"))

    def samples_per_second(self, value: float) -> Quantity:
        return self._quantity(grouped(value), self.p("unit", "samples/s"))

    def scaled(self, value: float, unit: str) -> Quantity:
        """A value with a decimal prefix: 4.2e14 "FLOP/s" is "420 TFLOP/s"."""
        exponent = _exponent(value, 1000, len(_DECIMAL_PREFIXES))
        return self._quantity(grouped(value / 1000**exponent), f"{_DECIMAL_PREFIXES[exponent]}{unit}")

    def count(self, value: float) -> Quantity:
        """A large count, short: "8.03 B" parameters, "10 M" tokens."""
        for scale, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M")):
            if abs(value) >= scale:
                return self._quantity(f"{grouped(value / scale)}{_NO_BREAK_SPACE}{letter}", "")
        return self.number(value)

    def span(self, low: str, high: str) -> Quantity:
        """An interval of two formatted figures: "2.1 – 2.6 s". The unit is said once where both share it."""
        if isinstance(low, Quantity) and isinstance(high, Quantity) and low.unit == high.unit:
            return self._quantity(f"{plain(low.number)}–{plain(high.number)}", low.unit)
        return self._quantity(f"{plain(low)} – {plain(high)}", "")

    def date(self, iso: str) -> Quantity:
        """A date as 2026-10-01, never broken over two lines."""
        return self._quantity(iso.replace("-", f"-{_WORD_JOINER}"), "")

    def moment(self, time: datetime) -> Quantity:
        """A time of day as 2026-10-01 14:05."""
        return self._quantity(f"{self.date(time.date().isoformat()).number} {time:%H:%M}", "")

    def _quantity(self, number: str, unit: str) -> Quantity:
        """Number and unit as one run of text that no line breaks and no right-to-left sentence reorders."""
        if _ARABIC.search(unit):  # an Arabic unit follows its number in the Arabic direction
            shown = f"{self.isolate(number)}{_NO_BREAK_SPACE}{unit}"
        else:
            shown = self.isolate(f"{number}{_NO_BREAK_SPACE}{unit}" if unit else number)
        quantity = Quantity(shown)
        quantity.number, quantity.unit = self.isolate(number), unit
        return quantity


@lru_cache
def text_in(language: str) -> Text:
    """The interface in one language (a key of `LANGUAGES`)."""
    return Text(language, gettext.translation("messages", LOCALE_FOLDER, [language]))


def plain(text: str) -> str:
    """`text` without invisible characters: for files, and for comparing."""
    return _INVISIBLE.sub("", text).replace(_NO_BREAK_SPACE, " ")


def grouped(value: float, decimals: int | None = None) -> str:
    """A number with thousands separators and a true minus sign; three significant digits unless `decimals` is given."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "–"
    if decimals is None:
        decimals = 0 if isinstance(value, int) else _decimals(value)
        shown = f"{value:,.{decimals}f}"
        shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    else:
        shown = f"{value:,.{decimals}f}"
    if not shown.strip("-0.,"):
        shown = shown.lstrip("-")
    return shown.replace("-", "−")


def _decimals(value: float) -> int:
    """Decimals that show three significant digits."""
    if value == 0:
        return 0
    return max(0, 2 - math.floor(math.log10(abs(value))))


def _exponent(value: float, base: int, steps: int) -> int:
    size, exponent = abs(value), 0
    while size >= base and exponent < steps - 1:
        size, exponent = size / base, exponent + 1
    return exponent
