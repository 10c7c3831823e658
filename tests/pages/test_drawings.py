"""The memory bar, headline, tables and files: pure functions that return HTML or text."""

import csv
import io
import json
import re
import tomllib
from pathlib import Path

import pytest

from pages.ui import export, headline, tables
from pages.ui.headline import Verdict
from pages.ui.memory_bar import describe, memory_bar_html
from pages.ui.tables import Column, Tile
from pages.ui.text import plain, text_in
from pages.ui.theme import COLOURS, PART_KINDS, SERIES, part_kind, style_sheet
from planner.units import GIB

EN, AR = text_in("en"), text_in("ar")
PARTS = [("mem.weights", "Weights", 15 * GIB), ("mem.logits", "Logits", 12 * GIB), ("mem.context", "Context", GIB)]
CONFIG = tomllib.loads((Path(__file__).parents[2] / ".streamlit" / "config.toml").read_text("utf-8"))


def shares(html: str) -> list[float]:
    return [float(share) for share in re.findall(r"flex-basis:([\d.]+)%", html)]


def test_the_bar_is_as_long_as_what_is_used_and_cut_at_the_capacity() -> None:
    html = memory_bar_html(PARTS, 20 * GIB, EN)
    assert shares(html) == pytest.approx([100 * size / 28 for size in (15, 5, 7, 1)], abs=1e-3)
    assert html.count("gp-hatched") == 2
    assert "inset-inline-start:71.429%" in html


def test_a_part_cut_in_two_is_named_once() -> None:
    html = memory_bar_html(PARTS, 20 * GIB, EN)
    assert html.count("<b>Logits</b>") == 1


def test_a_bar_that_fits_shows_what_is_free() -> None:
    html = memory_bar_html(PARTS, 40 * GIB, EN)
    assert "gp-hatched" not in html
    assert sum(shares(html)) == pytest.approx(70)
    assert "Free <b>12.0\u00a0GiB</b>" in html


def test_the_bar_is_described_in_words() -> None:
    said = plain(describe(PARTS, 20 * GIB, EN))
    assert said.startswith("Memory of one GPU: 28.0 GiB of 20.0 GiB usable. Weights 15.0 GiB, Logits 12.0 GiB")
    assert said.endswith("8.0 GiB are missing.")
    assert "يبقى متاحًا 12.0 GiB" in plain(describe(PARTS, 40 * GIB, AR))


def test_the_bar_mirrors_in_arabic_and_escapes_its_labels() -> None:
    html = memory_bar_html([("mem.weights", '<script>"', GIB)], GIB, AR)
    assert 'dir="rtl"' in html
    assert "<script>" not in html


def test_an_empty_bar_is_a_bar() -> None:
    assert shares(memory_bar_html([], 0, EN)) == []


def test_kinds_of_memory_keep_their_colour() -> None:
    assert part_kind("mem.serving.kv_cache") == "kv_cache"
    assert part_kind("mem.optimizer.temporary") == "optimizer"
    assert part_kind("mem.serving.reserve") == "reserve"
    assert part_kind("mem.something.new") in PART_KINDS


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("role", ["accent", "mark", "text", "muted", "bad", "good", "tight"])
def test_colours_of_words_read_well_in_both_themes(role: str) -> None:
    assert contrast(COLOURS[role].light, COLOURS["surface"].light) >= 4.5
    assert contrast(COLOURS[role].dark, COLOURS["surface"].dark) >= 4.5


@pytest.mark.parametrize("kind", PART_KINDS)
def test_white_words_read_on_every_part(kind: str) -> None:
    assert contrast(PART_KINDS[kind][0], "#ffffff") >= 4.5


def test_curves_are_seen_in_both_themes() -> None:
    for colour in SERIES:
        assert contrast(colour.light, COLOURS["surface"].light) >= 3
        assert contrast(colour.dark, COLOURS["surface"].dark) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_our_colours_are_those_of_streamlits_theme(theme: str) -> None:
    settings = CONFIG["theme"][theme]
    ours = {name: getattr(colour, theme) for name, colour in COLOURS.items()}
    assert settings["primaryColor"] == ours["accent"]
    assert settings["backgroundColor"] == ours["surface"]
    assert settings["textColor"] == ours["text"]
    assert settings["chartCategoricalColors"] == [getattr(colour, theme) for colour in SERIES]


def test_fonts_of_the_theme_exist_with_their_licences() -> None:
    root = Path(__file__).parents[2]
    for face in CONFIG["theme"]["fontFaces"]:
        assert (root / face["url"].removeprefix("app/")).is_file(), face["url"]
    assert len(list((root / "assets" / "fonts").glob("OFL-*.txt"))) == 2


def test_the_style_sheet_names_every_part() -> None:
    sheet = style_sheet()
    for kind, (_, texture) in PART_KINDS.items():
        assert f".gp-{kind.replace('_', '-')} {{" in sheet
        assert texture == "plain" or f".gp-{texture} {{" in sheet


def test_the_headline_says_the_verdict_in_words() -> None:
    assert headline.fits_sentence(EN, -6.6 * GIB)[1] == "Does not fit: 6.6\u00a0GiB short"
    assert headline.fits_sentence(EN, 4.9 * GIB) == (Verdict.FITS, "Fits, 4.9\u00a0GiB to spare")
    assert headline.fits_sentence(EN, 0.3 * GIB, tight=True)[0] is Verdict.TIGHT
    assert "<h1" in headline.headline_html(Verdict.FITS, "a < b")
    assert "a &lt; b" in headline.headline_html(Verdict.FITS, "a < b")


def test_tiles_set_the_unit_apart() -> None:
    html = tables.tiles_html([Tile(label="Throughput", value=EN.tokens_per_second(3480), note="±9%")])
    assert "3,480 <small>tokens/s</small>" in html


COLUMNS = [Column(id="gpu", label="GPU"), Column(id="memory", label="Memory", unit="GiB", numeric=True)]


def test_a_table_is_named_and_its_rows_have_heads() -> None:
    html = tables.table_html(EN, COLUMNS, [("A100", 79.3), ("<b>", None)], caption="Memory by GPU")
    assert "<caption>Memory by GPU</caption>" in html
    assert '<th scope="row">A100</th><td class="gp-numeric">79.3</td>' in html
    assert "&lt;b&gt;" in html
    assert "–" in html


def test_csv_is_safe_in_spreadsheets_and_keeps_numbers_bare() -> None:
    text = export.csv_text(COLUMNS, [("=HYPERLINK(1)", -6.5), ("+1", None), ("\u2066الأوزان\u2069", 12_000)])
    assert text.startswith("\ufeff")
    rows = list(csv.reader(io.StringIO(text.removeprefix("\ufeff"))))
    assert rows == [["GPU", "Memory (GiB)"], ["'=HYPERLINK(1)", "-6.5"], ["'+1", ""], ["الأوزان", "12000"]]


def test_json_keeps_arabic_readable() -> None:
    text = export.json_text({"model": "نموذج", "bytes": 3})
    assert "نموذج" in text
    assert json.loads(text) == {"model": "نموذج", "bytes": 3}
