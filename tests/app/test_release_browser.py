"""The page Release in a real browser: by keyboard alone, and with the written report in a tab."""

import pytest

import microagg as ma
from tests.app.browsing import contains, focused, has, idle, see, watched
from tests.app.releases import names, sha256
from tests.app.running import running

STORED = "JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }])"
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


def survey(path):
    """Write a survey with names that nothing holds by chance; give these and ten of its cells."""
    made = ma.datasets.survey(600, seed=1)
    made = made.rename_columns([f"{name}_of_them" for name in made.column_names])
    ma.write(made, path)
    rows = [line.split(",") for line in path.read_text().splitlines()[1:6]]
    return [*made.column_names, *(cell for row in rows for cell in (row[0], row[2]))]


def test_a_release_is_written_by_keyboard_and_nothing_is_told_of_the_file(tmp_path, browser):
    secret, asked, told = survey(tmp_path / "survey.csv"), [], []
    assert len(secret) == 23
    assert min(map(len, secret)) >= 5
    with running(tmp_path, "survey.csv", "-o", "mine") as app:
        with watched(app, browser, asked=asked) as page:
            release(page, app, tmp_path)
            for path in ("/open", "/", "/try", "/compare", "/look", "/look/1?column=4", "/release", "/quit"):
                page.goto(app.origin + path)
                see(page.locator("h1"))
                idle(page)
                told += [page.url, page.title(), page.evaluate(STORED)]
            told += [f"{one['name']} {one['value']}" for one in page.context.cookies()]
        assert app.end() == (130, "")
    assert not (tmp_path / "heard").exists()  # it has turned to nobody
    assert len(asked) > 30
    assert [(one, text) for one in secret for text in (*told, *asked, app.said) if one in text] == []


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
        "internal/again.py",
        "internal/again.sh",
        "internal/recipe.toml",
        "internal/report.html",
        "internal/rows.parquet",
        "release/recipe.toml",
        "release/report_public.html",
        "release/survey_masked.csv",
    ]
    has(page.locator("#sha-masked"), sha256(out / "release" / "survey_masked.csv"))
    has(page.locator("#sha-source"), sha256(tmp_path / "survey.csv"))
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open the report").click()
    contains(opened.value.locator("h1"), "survey.csv")
    contains(opened.value.locator(".over"), "internal")
    page.locator('[data-copy="a-recipe"]').click()
    has(page.locator('[data-copy="a-recipe"]'), "Copied")
    assert page.evaluate("navigator.clipboard.readText()") == (out / "internal" / "recipe.toml").read_text()
    page.reload()
    see(page.locator("#done"))  # what was written stays told
