"""The Monitor and Environment pages in a browser: live without flicker, replay, files, keyboard, accessibility."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import violations

pytestmark = pytest.mark.browser

LOG = "timestamp, index, utilization.gpu [%], power.draw [W], power.limit [W]\n" + "".join(
    f"{1e9 + second:.0f}, {gpu}, 100 %, 390.0 W, 700.0 W\n" for second in range(90) for gpu in (0, 1)
)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize(
    ("address", "ready"), [("monitor", ".js-plotly-plot .main-svg"), ("environment", ".gp-checks")]
)
def test_no_accessibility_rule_is_broken(
    browser: Browser, app_url: str, address: str, ready: str, language: str, theme: str
) -> None:
    context = browser.new_context(color_scheme=theme, viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.goto(f"{app_url}/{address}?lang={language}&monitor.source=demo")
    expect(page.locator(ready).first).to_be_visible(timeout=60_000)
    page.wait_for_timeout(1000)
    assert violations(page) == []
    context.close()


@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("address", ["monitor", "environment"])
def test_nothing_is_wider_than_a_phone(browser: Browser, app_url: str, address: str, language: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{app_url}/{address}?lang={language}&monitor.source=demo")
    expect(page.locator(".gp-page-title")).to_be_visible(timeout=60_000)
    page.wait_for_timeout(1500)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()


def test_a_replay_plays_by_keyboard_and_leaves_the_page_where_it_is(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/monitor?lang=en&monitor.source=demo")
    expect(page.locator(".gp-gpu")).to_have_count(8, timeout=60_000)
    play = page.get_by_role("button", name="Play", exact=True)
    play.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible(timeout=20_000)
    page.wait_for_timeout(1500)
    main = page.locator("[data-testid=stMain]")
    main.evaluate("element => element.scrollTo(0, 300)")
    page.wait_for_timeout(300)
    before = main.evaluate("element => element.scrollTop")
    first = page.locator(".gp-gpu").first.inner_text()
    page.wait_for_function("text => document.querySelector('.gp-gpu').innerText !== text", arg=first, timeout=20_000)
    page.wait_for_timeout(2500)
    assert main.evaluate("element => element.scrollTop") == before
    expect(page.locator(".gp-gpu")).to_have_count(8)


def test_an_uploaded_log_is_judged(page: Page, app_url: str, tmp_path: Path) -> None:
    log = tmp_path / "gpus.csv"
    log.write_text(LOG)
    page.goto(f"{app_url}/monitor?lang=en&monitor.source=file")
    page.locator("input[type=file]").set_input_files(log, timeout=60_000)
    expect(page.locator(".gp-finding")).to_contain_text("Busy all the time, yet at low power", timeout=30_000)
    expect(page.locator(".gp-finding")).to_contain_text("Undecided between")
    expect(page.locator(".gp-gpu")).to_have_count(2)


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_example_of_code_is_checked_without_a_broken_rule(browser: Browser, app_url: str, language: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{app_url}/code?lang={language}")
    page.locator(".st-key-gp-code-example button").click(timeout=60_000)
    expect(page.locator(".gp-listing .gp-found").first).to_be_attached(timeout=30_000)
    page.wait_for_timeout(1000)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert violations(page) == []
    context.close()
