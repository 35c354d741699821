"""The page Release in a real browser: by keyboard alone, and with the written report in a tab."""

import pytest

from tests.app.browsing import contains, focused, has, see, watched
from tests.app.releases import names, sha256
from tests.app.running import running
from tests.cli import call

MOST = 120  # presses of Tab from one end of a page to the other

pytestmark = pytest.mark.campaign  # it needs a browser, and takes long


def tab_to(page, wanted):
    """Press Tab until something has focus, and tick every box on the way."""
    for _ in range(MOST):
        page.keyboard.press("Tab")
        now = focused(page)
        if now == wanted:
            return
        if now.startswith("t-") and not page.locator(f"#{now}").is_checked():
            page.keyboard.press("Space")
    raise AssertionError(f"no way to {wanted}")


def test_a_release_is_written_by_keyboard_and_its_report_opens_in_a_tab(tmp_path, browser):
    call("datasets", "make", "survey", "-n", 600, "-o", tmp_path / "survey.csv")
    with running(tmp_path, "survey.csv", "-o", "mine") as app:
        with watched(app, browser) as page:
            release(page, app, tmp_path)
        assert app.end() == (130, "")


def release(page, app, tmp_path):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{app.origin}/release")
    see(page.locator(".ticks"))
    page.locator("#write").focus()
    page.keyboard.press("Enter")
    contains(page.locator("#e-tick"), "not ticked")
    assert focused(page).startswith("t-")  # the first that is not ticked
    page.reload()
    see(page.locator(".ticks"))
    tab_to(page, "output.public")
    page.keyboard.press("Space")
    see(page.get_by_role("link", name="See the public report"))
    tab_to(page, "write")
    page.keyboard.press("Enter")
    see(page.locator("#done"))
    out = tmp_path / "mine"
    assert names(out) == [
        "again.py",
        "again.sh",
        "recipe.toml",
        "report.html",
        "report_public.html",
        "survey_masked.csv",
    ]
    has(page.locator("#sha-masked"), sha256(out / "survey_masked.csv"))
    has(page.locator("#sha-source"), sha256(tmp_path / "survey.csv"))
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open the report").click()
    contains(opened.value.locator("h1"), "survey.csv")
    contains(opened.value.locator(".over"), "internal")
    page.locator('[data-copy="a-recipe"]').click()
    has(page.locator('[data-copy="a-recipe"]'), "Copied")
    assert page.evaluate("navigator.clipboard.readText()") == (out / "recipe.toml").read_text()
    page.reload()
    see(page.locator("#done"))  # what was written stays told
