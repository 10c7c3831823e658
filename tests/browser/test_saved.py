"""Saving a plan, finding it in the library, and a second window that saved meanwhile."""

import re

from playwright.sync_api import Page, expect

from tests.browser.axe import violations

PLAN = "/?task=finetune&model=Qwen/Qwen3-8B&method=lora&gpu=l40s&micro_batch_size=3&lang=en"


def _save(page: Page) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Save this plan")).to_be_visible(timeout=30_000)
    dialog.get_by_role("button", name="Save", exact=True).click()


def test_a_plan_is_kept_found_and_shared(page: Page, app_url: str) -> None:
    page.goto(app_url + PLAN)
    _save(page)
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("is saved.")).to_be_visible(timeout=30_000)
    link = dialog.locator("code").inner_text()
    assert violations(page) == []
    page.goto(f"{app_url}/{link}&lang=ar")
    expect(page.locator(".gp-crumb")).to_contain_text("Qwen3-8B", timeout=30_000)
    expect(page).to_have_url(re.compile("micro_batch_size=3"))
    page.goto(f"{app_url}/saved?lang=en")
    line = page.locator(".gp-saved").first
    expect(line).to_contain_text("Qwen3-8B", timeout=30_000)
    assert violations(page) == []
    page.get_by_role("button", name="⋯").first.click()
    page.get_by_role("tab", name="Comments").click()
    page.get_by_role("textbox", name="Comment").fill("Looks right @anna")
    page.get_by_role("button", name="Comment", exact=True).click()
    expect(page.get_by_text("Looks right @anna").first).to_be_visible(timeout=30_000)
    page.get_by_role("tab", name="Details").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.locator(".gp-saved").first).to_contain_text("Qwen3-8B", timeout=30_000)


def test_a_save_that_came_too_late_loses_nothing(page: Page, app_url: str) -> None:
    page.goto(app_url + PLAN)
    _save(page)
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("is saved.")).to_be_visible(timeout=30_000)
    link = dialog.locator("code").inner_text()
    other = page.context.new_page()
    other.goto(f"{app_url}/{link}&lang=en")
    expect(other.locator(".gp-crumb")).to_contain_text("Qwen3-8B", timeout=30_000)
    other.locator(".st-key-in-micro_batch_size input").fill("5")
    other.keyboard.press("Enter")
    expect(other).to_have_url(re.compile("micro_batch_size=5"), timeout=30_000)
    _save(other)
    expect(other.get_by_role("dialog").get_by_text("is saved.")).to_be_visible(timeout=30_000)
    page.keyboard.press("Escape")
    page.locator(".st-key-in-micro_batch_size input").fill("7")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("micro_batch_size=7"), timeout=30_000)
    _save(page)
    expect(dialog.get_by_text("Nothing is lost")).to_be_visible(timeout=30_000)
    expect(dialog.locator("table")).to_contain_text("Micro-batch size")
    assert violations(page) == []
    dialog.get_by_role("button", name="Keep mine as a copy").click()
    expect(dialog.get_by_text("is saved.")).to_be_visible(timeout=30_000)
