"""A whole run on a real survey by keyboard alone, from the file to the release."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.browsing import contains, see, watched
from tests.app.releases import names
from tests.app.running import running

MOST = 400  # presses of Tab around a page
NOW = """() => {
  const one = document.activeElement;
  return [one.id, one.getAttribute("aria-label") || one.textContent.trim()];
}"""
LONG = 600_000  # milliseconds: the machine may be busy with other tests


def at(page):
    """Give the id and the spoken name of what has focus."""
    return page.evaluate(NOW)


def tab_to(page, wanted, on_the_way=lambda _: None):
    """Press Tab until something has focus, by its id or, where it has none, its name."""
    for _ in range(MOST):
        page.keyboard.press("Tab")
        place, name = at(page)
        if wanted in (place, name) or (not isinstance(wanted, str) and wanted.search(name)):
            return
        on_the_way(place)
    raise AssertionError(f"no way to {wanted}")


def press(page, wanted, key="Enter"):
    tab_to(page, wanted)
    page.keyboard.press(key)


def step(page, name):
    press(page, name)
    see(page.get_by_role("heading", name=name, exact=True))


@pytest.mark.casc
@pytest.mark.campaign
def test_eu_silc_is_released_by_keyboard_alone_and_a_command_gives_its_bytes(browser, tmp_path):
    shutil.copy(Path(os.environ["MICROAGG_DATA"]) / "eusilc.csv", tmp_path)
    with running(tmp_path) as app:
        with watched(app, browser) as page:
            page.set_default_timeout(LONG)
            open_and_correct(page)
            try_and_compare(page)
            choose_and_release(page)
        assert app.end() == (130, "")
    out = tmp_path / "out"
    made = ["internal/recipe.toml", "internal/report.html", "internal/rows.parquet"]
    made += ["release/eusilc_masked.csv", "release/recipe.toml", "release/report_public.html"]
    assert names(out) == ["internal/again.py", "internal/again.sh", *made]
    words = ["mask", "eusilc.csv", "--recipe", "out/internal/recipe.toml", "-o", "second"]
    subprocess.run([sys.executable, "-m", "microagg", *words], cwd=tmp_path, check=True, capture_output=True)
    for name in made:
        assert (out / name).read_bytes() == (tmp_path / "second" / name).read_bytes(), name


def open_and_correct(page):
    see(page.get_by_role("heading", name="Open a file"))
    press(page, "eusilc.csv")
    see_long(page.get_by_role("heading", name="Columns", exact=True))
    see(page.get_by_text("Help", exact=True))  # though the page was turned by the script
    for column, letter, role in (("eqSS", "d", "drop"), ("rb050", "w", "weight")):
        press(page, f"role of {column}", letter)
        contains(page.locator("#undo"), f"role of {column}")
        assert page.get_by_label(f"role of {column}").input_value() == role
        assert at(page)[1] == f"role of {column}"  # where it was, though the row has moved


def try_and_compare(page):
    step(page, "Try")
    if not page.locator("#try-it.noscript").count():
        press(page, "try-it")
    see_long(page.locator("#verdict:not(.waiting)"))
    step(page, "Compare")
    for name in ("cbfs", "vmdav", "iamat", "emad", "ama"):
        tab_to(page, page.get_by_label(name, exact=True).get_attribute("id"))
        page.keyboard.press("Space")
    tab_to(page, "compare.ks")
    page.keyboard.press("Control+a")
    page.keyboard.type("5, 10")
    press(page, "go")
    page.get_by_text("All 2 releases are there.").wait_for(timeout=LONG)


def choose_and_release(page):
    press(page, re.compile(r"^mdav, k 10: loss"))
    page.wait_for_url(re.compile(r"/compare\?chosen=\d+#c-\d+$"))
    contains(page.locator("tr.chosen"), "mdav")
    page.keyboard.press("Tab")
    assert at(page)[1] == "Look at mdav, k 10"
    page.keyboard.press("Enter")
    see(page.get_by_role("heading", name="Look", exact=True))
    if page.locator("#draw").count():
        press(page, "draw")
    see_long(page.locator("#columns svg").first)
    press(page, "use")
    contains(page.locator("#line"), "k 10")
    step(page, "Release")
    page.locator(".ticks, [formaction$='/prepare']").first.wait_for()
    if not page.locator(".ticks").count():
        press(page, "Make the checklist")
    see_long(page.locator(".ticks"))
    tab_to(page, "output.public", lambda place: place.startswith("t-") and page.keyboard.press("Space"))
    page.keyboard.press("Space")
    see_long(page.get_by_role("link", name="See the public report"))
    press(page, "write")
    see_long(page.locator("#done"))


def see_long(locator):
    locator.wait_for(timeout=LONG)
