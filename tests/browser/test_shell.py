"""The frame and the drawings in a browser: direction, language, copying, phone width, themes, accessibility."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import violations

pytestmark = pytest.mark.browser

Open = Callable[..., Page]


@pytest.fixture
def open_page(browser: Browser, specimen_url: str) -> Iterator[Open]:
    """Opens the specimen in a language, theme, width and browser language."""
    contexts = []

    def opened(
        path: str = "", *, language: str = "en", theme: str = "light", width: int = 1280, locale: str = "en-US"
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 1000},
            color_scheme=theme,
            locale=locale,
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        page = context.new_page()
        page.goto(f"{specimen_url}/{path}?lang={language}")
        expect(page.get_by_test_id("stMain")).to_be_visible(timeout=30_000)
        page.wait_for_function("document.documentElement.dir !== ''", timeout=30_000)
        return page

    yield opened
    for context in contexts:
        context.close()


def drawn(page: Page) -> Page:
    expect(page.locator(".gp-headline")).to_be_visible(timeout=30_000)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=30_000)
    return page


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ar"])
def test_nothing_breaks_an_accessibility_rule(open_page: Open, language: str, theme: str) -> None:
    page = drawn(open_page(language=language, theme=theme))
    page.wait_for_timeout(500)  # widgets fade in, and a faded word fails its contrast
    assert violations(page) == []


def test_arabic_mirrors_the_page_and_english_puts_it_back(open_page: Open) -> None:
    page = drawn(open_page())
    assert page.evaluate("[document.documentElement.dir, document.documentElement.lang]") == ["ltr", "en"]
    page.get_by_role("button", name="عربي").click()
    page.wait_for_function("document.documentElement.dir === 'rtl' && document.documentElement.lang === 'ar'")
    assert "lang=ar" in page.url
    sidebar = page.get_by_test_id("stSidebar").bounding_box()
    assert sidebar is not None
    assert sidebar["x"] > 640
    page.get_by_role("button", name="EN", exact=True).click()
    page.wait_for_function("document.documentElement.dir === 'ltr'")


@pytest.mark.parametrize(("language", "first_is_left"), [("en", True), ("ar", False)])
def test_the_memory_bar_follows_the_direction(open_page: Open, language: str, first_is_left: bool) -> None:
    page = drawn(open_page(language=language))
    first, last = (page.locator(".gp-part").nth(place).bounding_box() for place in (0, -1))
    assert first is not None
    assert last is not None
    assert (first["x"] < last["x"]) is first_is_left


@pytest.mark.parametrize("locale", ["en-US", "ar-EG"])
@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_sliders_thumb_stands_where_its_track_ends(open_page: Open, language: str, locale: str) -> None:
    """Whatever the browser's language: thumb, filled track and arrow keys follow the page's."""
    page = drawn(open_page(language=language, locale=locale))
    place = "el => { const t = el.querySelector('[data-rac][style*=left]'); return parseFloat(t.style.left); }"
    share = page.get_by_test_id("stSlider").evaluate(place)
    assert share == pytest.approx(100 * 3 / 7 if language == "en" else 100 * 4 / 7, abs=0.1)
    flips = page.get_by_test_id("stSlider").evaluate(
        "el => getComputedStyle(el.querySelector('[data-orientation] > div:not([data-rac], [data-testid])')).scale"
    )
    assert flips == ("none" if language == "en" else "-1 1")


@pytest.mark.parametrize("language", ["en", "ar"])
def test_a_phone_shows_everything_without_scrolling_sideways(open_page: Open, language: str) -> None:
    page = drawn(open_page(language=language, width=390))
    wide = page.get_by_test_id("stMain").evaluate("el => el.scrollWidth - el.clientWidth")
    assert wide <= 1
    headline = page.locator(".gp-headline").bounding_box()
    assert headline is not None
    assert headline["x"] >= 0
    assert headline["x"] + headline["width"] <= 390


def test_copy_link_copies_the_address(open_page: Open) -> None:
    page = drawn(open_page())
    button = page.locator("[data-gp-copy]").first
    button.click()
    expect(button).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    expect(button).to_have_text("Copy link", timeout=5_000)


def test_a_change_is_applied_by_its_button(open_page: Open) -> None:
    page = drawn(open_page())
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("#applied")).to_have_text("a")


def test_a_charts_data_is_a_table_and_a_file(open_page: Open) -> None:
    page = drawn(open_page())
    page.get_by_role("button", name="Data").first.click()
    expect(page.locator(".gp-table td").first).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    assert download.value.suggested_filename == "line.csv"
    assert download.value.path().read_text("utf-8-sig").splitlines()[:2] == ["word,word (GiB)", "1,20.2"]


def test_a_failing_page_shows_a_sentence_and_no_traceback(open_page: Open) -> None:
    page = open_page("failing")
    expect(page.get_by_text("Something went wrong on our side")).to_be_visible(timeout=30_000)
    assert "secret" not in page.content()
    assert "Traceback" not in page.content()
