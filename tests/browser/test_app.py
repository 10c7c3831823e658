"""The dashboard itself in a browser."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from tests.browser.axe import violations

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]


def test_the_first_visitor_of_a_fresh_server_may_follow_a_deep_link(page: Page, serve: Callable[[Path], str]) -> None:
    """Streamlit runs the files of pages/ by themselves until some run has declared the navigation."""
    page.goto(f"{serve(ROOT / 'app.py')}/plan?lang=ar")
    page.wait_for_function("document.documentElement.dir === 'rtl'", timeout=30_000)
    expect(page.get_by_role("button", name="EN", exact=True)).to_be_attached()


def test_fonts_of_both_scripts_come_from_this_server(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?lang=ar")
    page.wait_for_function("document.documentElement.dir === 'rtl'", timeout=30_000)
    page.wait_for_function(
        "[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family.replaceAll('\"', ''))"
        ".filter(f => ['IBM Plex Sans', 'IBM Plex Sans Arabic'].includes(f)).length >= 2",
        timeout=30_000,
    )


def test_nothing_is_fetched_from_elsewhere(page: Page, app_url: str) -> None:
    foreign: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((app_url, "data:", "blob:")):
            foreign.append(request.url)

    page.on("request", note)
    page.goto(f"{app_url}/?lang=en")
    page.wait_for_function("document.documentElement.dir === 'ltr'", timeout=30_000)
    page.wait_for_timeout(1500)
    assert foreign == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_plan_page_breaks_no_accessibility_rule(browser: Browser, app_url: str, language: str, theme: str) -> None:
    context = browser.new_context(color_scheme=theme, viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.goto(f"{app_url}/?lang={language}")
    expect(page.locator(".gp-headline")).to_be_visible(timeout=60_000)
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible(timeout=60_000)
    page.wait_for_timeout(1000)  # widgets fade in, and a faded word fails its contrast
    assert violations(page) == []
    context.close()
