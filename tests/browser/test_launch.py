"""Launch, import and the out-of-memory helper, as a user meets them."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import violations

pytestmark = pytest.mark.browser

LOG = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 496.00 MiB. GPU 0 has a total capacity of "
    "23.64 GiB of "
    "which 235.00 MiB is free. Including non-PyTorch memory, this process has 23.00 GiB memory in use. Of the "
    "allocated "
    "memory 15.00 GiB is allocated by PyTorch, and 4.50 GiB is reserved by PyTorch but unallocated."
)


def paste(page: Page, label: str, text: str) -> None:
    area = page.get_by_label(label)
    area.fill(text)
    area.press("Control+Enter")


def test_a_plan_is_launched(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?lang=en&gpus=8&gpu=h100-sxm5-80gb")
    page.get_by_role("button", name="Launch").locator("visible=true").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("torchrun --nproc-per-node 8 train.py")).to_be_visible(timeout=30_000)
    assert violations(page) == []
    dialog.get_by_role("button", name="Copy").first.click()
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()


def test_a_command_becomes_the_plan(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?lang=en&gpu=h100-sxm5-80gb")
    page.get_by_role("button", name="Import").locator("visible=true").click()
    paste(
        page,
        "Paste a configuration, a script or a command",
        "vllm serve Qwen/Qwen3-32B -tp 2 --max-num-seqs 32 --zzz 1",
    )
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Read as vLLM")).to_be_visible(timeout=30_000)
    expect(dialog.get_by_role("listitem").filter(has_text="zzz")).to_be_visible()
    assert violations(page) == []
    dialog.get_by_role("button", name="Use as the plan").click()
    expect(dialog).to_be_hidden()
    expect(page).to_have_url(re.compile("concurrency=32"))
    expect(page.locator(".gp-crumb")).to_contain_text("Qwen3-32B")


def test_a_log_says_what_to_change(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?lang=en&gpu=rtx-4090")
    page.get_by_text("Ran out of memory?").click()
    paste(page, "Paste the error or the engine's log", LOG)
    section = page.locator(".st-key-oom")
    expect(section.get_by_text("it lay in pieces")).to_be_visible(timeout=30_000)
    section.get_by_role("button", name="Apply").first.click()
    expect(page).to_have_url(re.compile(r"(micro_batch_size|sequence_length|loss|method|recompute|optimizer)="))
