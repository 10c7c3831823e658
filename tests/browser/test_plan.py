"""The main journey of the Plan page, as a newcomer makes it."""

import re

import pytest
from playwright.sync_api import Browser, Page, expect

pytestmark = pytest.mark.browser


def headline(page: Page, pattern: str) -> None:
    expect(page.locator(".gp-headline")).to_have_text(re.compile(pattern), timeout=30_000)


def test_plan_does_not_fit_change_undo_and_share(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?lang=en&model=meta-llama/Llama-3.1-8B&method=lora&gpu=rtx-4090")
    headline(page, r"Does not fit: 7\.\d\sGiB short")

    batch = page.get_by_role("spinbutton", name="Micro-batch size")
    batch.fill("8")
    batch.press("Enter")
    headline(page, r"Does not fit: 2\d\.\d\sGiB short")
    expect(page).to_have_url(re.compile("micro_batch_size=8"))

    page.get_by_role("button", name="Apply").first.click()
    headline(page, "Fits|Tight")
    expect(page).to_have_url(re.compile("gradient_accumulation_steps=4"))

    page.go_back()
    headline(page, r"Does not fit: 2\d\.\d\sGiB short")
    expect(batch).to_have_value("8")
    page.go_forward()
    headline(page, "Fits|Tight")


def test_a_link_opens_in_arabic_on_a_phone(browser: Browser, app_url: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto(f"{app_url}/?lang=ar&micro_batch_size=8")
    headline(page, "لا يتّسع")
    assert page.evaluate("document.documentElement.dir") == "rtl"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "the page scrolls sideways"
    expect(page.locator(".gp-bar")).to_be_visible()
    context.close()


def test_the_language_toggle_keeps_the_plan(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?lang=en&gpus=8&micro_batch_size=2")
    headline(page, "Fits|Tight")
    page.get_by_role("button", name="عربي").click()
    headline(page, "يتّسع")
    expect(page).to_have_url(re.compile("micro_batch_size=2"))
    expect(page).to_have_url(re.compile("gpus=8"))


def test_figures_open_to_their_working(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?lang=en")
    headline(page, "Does not fit")
    page.get_by_text("How was the memory computed?").click()
    expect(page.locator(".katex").first).to_be_visible(timeout=20_000)
    expect(page.get_by_text("Source:").first).to_be_visible()


def test_a_bad_link_is_explained_and_the_rest_kept(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?lang=en&gpus=99999999&micro_batch_size=2&nonsense=1")
    headline(page, "Fits|Tight|Does not fit")
    expect(page.get_by_text("nonsense").first).to_be_visible()
    expect(page.get_by_text("65,536").first).to_be_visible()
    expect(page.get_by_role("spinbutton", name="Micro-batch size")).to_have_value("2")


def test_own_configuration(page: Page, app_url: str) -> None:
    config = (
        '{"model_type": "qwen2", "hidden_size": 896, "num_hidden_layers": 24, "num_attention_heads": 14,'
        ' "num_key_value_heads": 2, "intermediate_size": 4864, "vocab_size": 151936, "tie_word_embeddings": true}'
    )
    page.goto(f"{app_url}/?lang=en")
    headline(page, "Does not fit")
    page.get_by_text("Another model").click()
    page.get_by_label("The text of a config.json").fill(config)
    page.get_by_role("button", name="Use this model").click()
    headline(page, "Fits")
    expect(page).to_have_url(re.compile("model_config="))
    page.reload()
    headline(page, "Fits")
