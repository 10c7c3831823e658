"""The lessons in a browser: presented by keyboard, tried, and carried to the Plan page; accessible on every screen."""

import re
from importlib import import_module

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import violations

pytestmark = pytest.mark.browser
LESSONS = [lesson.id for lesson in import_module("pages.ui.learn.lessons").LESSONS]


def test_a_lesson_is_presented_by_keyboard(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/learn?lang=en&lesson=memory")
    page.get_by_role("button", name="Present").click()
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
    expect(page.get_by_text("0 of ")).to_be_visible()
    page.keyboard.press("PageDown")
    expect(page.get_by_text("The guests and the luggage")).to_be_visible()
    page.keyboard.press("PageDown")
    expect(page.get_by_text("What training adds")).to_be_visible()
    expect(page.get_by_text("The guests and the luggage")).to_be_hidden()
    expect(page).to_have_url(re.compile("step=2"))
    page.keyboard.press("PageUp")
    expect(page.get_by_text("The guests and the luggage")).to_be_visible()
    page.keyboard.press("Home")
    expect(page.get_by_text("0 of ")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Present")).to_be_visible()


def test_a_task_is_tried_in_arabic(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/learn?lang=ar&lesson=memory")
    field = page.get_by_role("textbox")
    field.fill("٢٦")
    field.press("Enter")
    expect(page.get_by_text("أصغر من الصحيح.")).to_be_visible()
    field.fill("١٠٤٫٧")
    field.press("Enter")
    expect(page.get_by_text("صحيح.", exact=True)).to_be_visible()


def test_the_state_goes_to_the_plan_page(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/learn?lang=en&lesson=memory&micro_batch_size=32")
    expect(page.locator(".gp-verdict")).to_have_text(re.compile("Does not fit"))
    page.get_by_text("Continue with this on the Plan page").click()
    expect(page.locator(".gp-headline")).to_have_text(re.compile("Does not fit"))
    expect(page).to_have_url(re.compile("micro_batch_size=32"))
    page.go_back()
    expect(page.locator(".gp-title")).to_have_text("What fills GPU memory")


@pytest.mark.parametrize(
    ("language", "scheme", "width"), [("en", "light", 1340), ("ar", "dark", 390)], ids=["desk", "phone"]
)
def test_every_lesson_is_accessible_and_never_scrolls_sideways(
    browser: Browser, app_url: str, language: str, scheme: str, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    for lesson in ["", *LESSONS, "glossary"]:
        page.goto(f"{app_url}/learn?lang={language}&lesson={lesson}")
        expect(page.locator(".gp-title")).to_be_visible(timeout=20_000)
        if lesson in LESSONS:
            expect(page.locator(".st-key-gp-part-0-text")).to_be_visible()
            expect(page.get_by_role("textbox")).to_be_visible()
        assert violations(page) == [], lesson
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), lesson
    context.close()


@pytest.mark.parametrize(("language", "scheme"), [("en", "dark"), ("ar", "light")])
def test_what_opens_is_accessible_too(browser: Browser, app_url: str, language: str, scheme: str) -> None:
    context = browser.new_context(viewport={"width": 1340, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{app_url}/learn?lang={language}&lesson=sharding")
    page.locator(".st-key-learn-formula summary").click()
    expect(page.locator(".katex").first).to_be_visible(timeout=20_000)
    page.get_by_role("textbox").fill("12")
    page.get_by_role("textbox").press("Enter")
    expect(page.get_by_test_id("stAlert")).to_be_visible()
    assert violations(page) == []
    page.locator(".st-key-learn-terms button").click()
    expect(page.locator(".gp-glossary")).to_be_visible()
    assert violations(page) == []
    context.close()
