"""From a plan to hardware and back to the plan, as a reader makes it."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import violations

pytestmark = pytest.mark.browser


def headline(page: Page, pattern: str) -> None:
    expect(page.locator(".gp-headline")).to_have_text(re.compile(pattern), timeout=30_000)


def test_from_a_plan_to_hardware_and_back(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?lang=en&task=serve&concurrency=4")
    headline(page, "Fits|Tight")
    page.get_by_role("link", name="Hardware").click()
    headline(page, "Cheapest")
    expect(page).to_have_url(re.compile("/hardware.*concurrency=4"))  # the plan came along

    page.get_by_text("Your hardware").click()
    page.get_by_role("spinbutton", name="Purchase price of one (USD)").fill("500")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page).to_have_url(re.compile(r"hw\.owned=rtx-4090%3A1%3A500"))
    page.get_by_role("button", name="Remove").click()
    expect(page).not_to_have_url(re.compile(r"hw\.owned"))

    budget = page.get_by_role("spinbutton", name="Budget (USD)")
    budget.fill("0.001")
    budget.press("Enter")
    headline(page, "No hardware meets all wishes")
    page.get_by_role("button", name="Allow").click()
    headline(page, "Cheapest")
    assert violations(page) == []

    first = page.locator(".gp-change").first.inner_text()
    page.get_by_role("button", name="Apply").first.click()
    headline(page, "Fits|Tight")
    expect(page).to_have_url(re.compile(r"/\?.*concurrency=4"))
    expect(page.locator(".gp-crumb")).to_contain_text(first.split("×")[1].split("\n")[0].strip())


def test_hardware_in_arabic_on_a_phone(browser: Browser, app_url: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    page.goto(f"{app_url}/hardware?lang=ar&task=serve")
    headline(page, "الأرخص")
    assert page.evaluate("document.documentElement.dir") == "rtl"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "the page scrolls sideways"
    assert violations(page) == []
    context.close()
