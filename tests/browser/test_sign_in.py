"""Sign-in against a provider of the test's own: two people, two teams, and one cannot open the other's plan."""

from collections.abc import Callable, Iterator
from pathlib import Path

import oidc_provider_mock
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import violations

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore")]  # of the provider's own libraries

ROOT = Path(__file__).parents[2]
PLAN = "/?task=finetune&model=Qwen/Qwen3-8B&method=lora&gpu=l40s&micro_batch_size=3&lang=en"
PATIENCE = 30_000

SECRETS = """[auth]
redirect_uri = "http://127.0.0.1:{{port}}/oauth2callback"
cookie_secret = "only for this test, and long enough to sign with"
client_id = "planner"
client_secret = "secret"
server_metadata_url = "http://localhost:{provider}/.well-known/openid-configuration"
"""


@pytest.fixture(scope="module")
def guarded_url(serve: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The dashboard with sign-in configured, and its provider with two people."""
    people = [
        oidc_provider_mock.User(
            sub=name, claims={"email": f"{name}@example.org", "name": name.title(), "email_verified": True}
        )
        for name in ("anna", "boris")
    ]
    with oidc_provider_mock.run_server_in_thread(user_claims=people) as provider:
        secrets = tmp_path_factory.mktemp("secrets") / "secrets.toml"
        secrets.write_text(SECRETS.format(provider=provider.server_port), "utf-8")
        yield serve(ROOT / "app.py", "--secrets.files", str(secrets))


def signed_in(browser: Browser, url: str, name: str) -> Page:
    page = browser.new_context().new_page()
    page.goto(f"{url}/saved?lang=en")
    page.get_by_role("button", name="Sign in").click(timeout=PATIENCE)
    page.get_by_role("button", name=name, exact=True).click(timeout=PATIENCE)
    page.wait_for_url(f"{url}/**", timeout=PATIENCE)
    page.goto(f"{url}/saved?lang=en")
    expect(page.get_by_text(f"Signed in as {name.title()}")).to_be_visible(timeout=PATIENCE)
    return page


def test_nobody_opens_another_teams_plan(browser: Browser, guarded_url: str) -> None:
    anna = signed_in(browser, guarded_url, "anna")
    assert violations(anna) == []
    anna.goto(guarded_url + PLAN)
    anna.get_by_role("button", name="Save", exact=True).click(timeout=PATIENCE)
    dialog = anna.get_by_role("dialog")
    dialog.get_by_role("button", name="Save", exact=True).click(timeout=PATIENCE)
    expect(dialog.get_by_text("is saved.")).to_be_visible(timeout=PATIENCE)
    link = f"{guarded_url}/{dialog.locator('code').inner_text()}&lang=en"

    boris = signed_in(browser, guarded_url, "boris")
    expect(boris.locator(".gp-saved")).to_have_count(0)
    boris.goto(link)
    expect(boris.get_by_text("There is no such item in your team").first).to_be_visible(timeout=PATIENCE)
    assert "micro_batch_size=3" not in boris.url

    anna.goto(f"{guarded_url}/saved?lang=en")
    anna.get_by_role("button", name="Members").click(timeout=PATIENCE)
    anna.get_by_role("textbox", name="E-mail address").fill("boris@example.org", timeout=PATIENCE)
    anna.keyboard.press("Enter")
    anna.get_by_role("button", name="Invite").click(timeout=PATIENCE)
    expect(anna.get_by_text("boris@example.org")).to_be_visible(timeout=PATIENCE)
    assert violations(anna) == []
    boris.goto(f"{guarded_url}/saved?lang=en")
    boris.get_by_role("combobox", name="Team").click(timeout=PATIENCE)
    boris.get_by_role("option", name="Anna").click(timeout=PATIENCE)
    expect(boris.locator(".gp-saved")).to_contain_text("Qwen3-8B", timeout=PATIENCE)

    anna.goto(link)
    expect(anna.locator(".gp-crumb")).to_contain_text("Qwen3-8B", timeout=PATIENCE)
    anna.goto(f"{guarded_url}/saved?lang=en")
    anna.get_by_role("button", name="Sign out").click(timeout=PATIENCE)
    anna.wait_for_url("**/oauth2/end_session**", timeout=PATIENCE)  # the provider asks once more; here it is all over
    anna.goto(f"{guarded_url}/saved?lang=en")
    expect(anna.get_by_role("button", name="Sign in")).to_be_visible(timeout=PATIENCE)


def test_without_signing_in_one_plans_but_keeps_nothing(browser: Browser, guarded_url: str) -> None:
    page = browser.new_context().new_page()
    page.goto(guarded_url + PLAN)
    expect(page.locator(".gp-crumb")).to_contain_text("Qwen3-8B", timeout=PATIENCE)
    page.get_by_role("button", name="Save", exact=True).click(timeout=PATIENCE)
    expect(page.get_by_text("Sign in to keep and open plans").first).to_be_visible(timeout=PATIENCE)
