import pytest

from pages.ui.text import Text, grouped, plain, text_in
from planner.units import DAY, GIB, HOUR, MIB


@pytest.fixture
def en() -> Text:
    return text_in("en")


@pytest.fixture
def ar() -> Text:
    return text_in("ar")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0 B"), (512, "512 B"), (40 * MIB, "40 MiB"), (0.5 * GIB, "0.5 GiB"), (30.6 * GIB, "30.6 GiB")],
)
def test_memory_is_shown_in_the_unit_that_suits_it(en: Text, value: float, shown: str) -> None:
    assert plain(en.bytes(value)) == shown


def test_memory_can_share_one_unit(en: Text) -> None:
    assert plain(en.bytes(40 * MIB, unit="GiB")) == "0.0 GiB"
    assert plain(en.bytes(2000 * GIB, unit="GiB")) == "2,000.0 GiB"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (85e-6, "85 µs"),
        (0.0123, "12.3 ms"),
        (2.35, "2.35 s"),
        (48 * 60, "48 min"),
        (6.5 * HOUR, "6.5 h"),
        (3.2 * DAY, "3.2 days"),
        (1000 * DAY, "2.74 years"),
    ],
)
def test_durations_are_shown_in_the_unit_people_would_say(en: Text, value: float, shown: str) -> None:
    assert plain(en.seconds(value)) == shown


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [
        (15238.5, None, "15,238"),
        (3480, None, "3,480"),
        (0.04567, None, "0.0457"),
        (-6.0, None, "−6"),
        (-0.001, 1, "0.0"),
        (12.0, 1, "12.0"),
        (float("inf"), None, "∞"),
        (float("nan"), None, "–"),
    ],
)
def test_numbers_have_separators_and_three_digits(value: float, decimals: int | None, shown: str) -> None:
    assert grouped(value, decimals) == shown


def test_changes_margins_and_money_have_their_signs(en: Text) -> None:
    assert [str(en.change(ratio)) for ratio in (1.03, 0.86, 1.0)] == ["+3%", "−14%", "±0%"]
    assert str(en.plus_minus(0.09)) == "±9%"
    assert [plain(en.money(value)) for value in (0.35, 1240, 3.1e6, 0.0042)] == ["$0.35", "$1,240", "$3.1 M", "$0.0042"]


def test_large_counts_and_rates_are_short(en: Text) -> None:
    assert plain(en.count(8.03e9)) == "8.03 B"
    assert plain(en.count(999)) == "999"
    assert plain(en.scaled(4.2e14, "FLOP/s")) == "420 TFLOP/s"


def test_an_interval_says_a_shared_unit_once(en: Text) -> None:
    assert plain(en.span(en.seconds(2.1), en.seconds(2.6))) == "2.1–2.6 s"
    assert plain(en.span(en.seconds(90), en.seconds(180))) == "90 s – 3 min"


def test_a_quantity_keeps_number_and_unit_apart(en: Text) -> None:
    quantity = en.tokens_per_second(3480)
    assert (quantity.number, quantity.unit) == ("3,480", "tokens/s")


def test_english_carries_no_isolates(en: Text) -> None:
    assert "\u2066" not in en.bytes(GIB) + en.t("Does not fit: {size} short", size=en.bytes(GIB))


def test_arabic_isolates_latin_numbers_with_their_units(ar: Text) -> None:
    assert ar.bytes(30.6 * GIB) == "\u206630.6\u00a0GiB\u2069"
    assert ar.change(0.94) == "\u2066−6%\u2069"


def test_arabic_isolates_only_the_number_before_an_arabic_unit(ar: Text) -> None:
    assert ar.tokens_per_second(3480) == "\u20663,480\u2069\u00a0رمز/ث"


def test_arabic_isolates_latin_names_and_leaves_arabic_words(ar: Text) -> None:
    sentence = ar.t("Fine-tune {model} on one {gpu}", model="Llama-3.1-8B", gpu="RTX 4090")
    assert "\u2066Llama-3.1-8B\u2069" in sentence
    assert "\u2066RTX 4090\u2069" in sentence
    assert ar.isolate("الأوزان") == "الأوزان"


def test_numbers_inside_sentences_are_formatted(en: Text) -> None:
    assert en.t("{gpu} instead", gpu=12345) == "12,345 instead"


@pytest.mark.parametrize(
    ("count", "shown"),
    [(1, "وحدة GPU واحدة"), (2, "وحدتا GPU"), (3, "3 وحدات GPU"), (11, "11 وحدة GPU"), (100, "100 وحدة GPU")],
)
def test_arabic_has_its_plural_forms(ar: Text, count: int, shown: str) -> None:
    assert plain(ar.n("{count} GPU", "{count} GPUs", count)) == shown


def test_charts_keep_arabic_words_in_order(ar: Text, en: Text) -> None:
    assert ar.embed("متاحة 24") == "\u2067متاحة 24\u2069"
    assert ar.embed("GiB") == "GiB"
    assert en.embed("usable") == "usable"


def test_a_date_is_never_broken(ar: Text) -> None:
    assert ar.date("2026-10-01") == "\u20662026-\u206010-\u206001\u2069"
    assert plain(ar.date("2026-10-01")) == "2026-10-01"
