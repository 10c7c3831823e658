"""From a plan to its layouts and back with the best of them, as a reader makes it."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import violations

pytestmark = pytest.mark.browser

PLAN = (
    "task=train&model=meta-llama/Llama-3.1-8B&gpu=h100-sxm5-80gb&gpus=16&precision=bf16-master"
    "&micro_batch_size=1&gradient_accumulation_steps=4"
)


def headline(page: Page, pattern: str) -> None:
    expect(page.locator(".gp-headline")).to_have_text(re.compile(pattern), timeout=30_000)


def test_from_a_plan_to_its_best_layout_and_back(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?lang=en&{PLAN}&sharding=none")
    headline(page, "Does not fit")
    page.get_by_role("link", name="Layouts").click()
    headline(page, "Best layout: DP")
    expect(page.get_by_text("It does not fit")).to_be_visible()  # the plan's own layout
    assert violations(page) == []

    batch = page.get_by_role("spinbutton", name="Global batch size")
    batch.fill("96")
    batch.press("Enter")
    expect(page).to_have_url(re.compile(r"ly\.batch=96"))
    headline(page, "Best layout: DP")

    page.get_by_role("button", name="Apply").first.click()
    headline(page, "Fits|Tight")
    expect(page).to_have_url(re.compile(r"/\?.*gpus=16"))


def test_a_long_search_tells_how_far_it_is_and_stops(page: Page, app_url: str) -> None:
    page.goto(
        f"{app_url}/layouts?lang=en&task=train&model=deepseek-ai/DeepSeek-V3&gpu=h100-sxm5-80gb&gpus=16384"
        "&precision=fp8&micro_batch_size=1&ly.fewer=true&ly.offload=true"
    )
    headline(page, "Searching")
    expect(page.get_by_text("layouts scored")).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Stop, and show").click()
    expect(page.get_by_text("The search was stopped at")).to_be_visible(timeout=30_000)
    headline(page, "Best layout|No layout")


def test_layouts_in_arabic_on_a_phone(browser: Browser, app_url: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark")
    page = context.new_page()
    page.goto(f"{app_url}/layouts?lang=ar&{PLAN}&ly.fewer=true")
    headline(page, "أفضل توزيع")
    assert page.evaluate("document.documentElement.dir") == "rtl"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "the page scrolls sideways"
    assert violations(page) == []
    context.close()
