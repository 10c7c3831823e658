"""Comparing plans: from the Plan page, kept under a short link, in Arabic on a phone; the sidebar's menu elsewhere."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations

SERVE = {"task": "serve", "model": "Qwen/Qwen3-8B"}
PLANS = {
    "c.1": urlencode({**SERVE, "gpu": "l40s", "name": "Small", "note": "Cheapest"}),
    "c.2": urlencode({**SERVE, "gpu": "h100-sxm5-80gb", "name": "Large"}),
}


def test_the_plan_goes_into_the_comparison_and_that_is_kept(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?{urlencode({**SERVE, 'lang': 'en'})}")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(page.get_by_role("textbox", name="Plan 1", exact=True)).to_be_visible(timeout=30_000)
    page.goto(f"{app_url}/compare?{urlencode({**PLANS, 'lang': 'en'})}")
    expect(page.locator(".gp-multiples")).to_contain_text("best", timeout=30_000)
    page.get_by_role("button", name="Saved comparisons").click()
    page.get_by_role("button", name="Save as new").click()
    expect(page.get_by_text("is saved.")).to_be_visible(timeout=30_000)
    assert violations(page) == []


@pytest.mark.parametrize("width", [1340, 390])
def test_arabic_at_both_widths(page: Page, app_url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{app_url}/compare?{urlencode({**PLANS, 'lang': 'ar'})}")
    expect(page.locator(".gp-multiples")).to_contain_text("الأفضل", timeout=30_000)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_current_plan_is_in_the_sidebar_of_other_pages(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/learn?lang=en")
    page.get_by_role("button", name="Current plan").click()
    expect(page.get_by_role("button", name="Open", exact=True)).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("dialog").get_by_text("Save this plan")).to_be_visible(timeout=30_000)
    assert violations(page) == []
