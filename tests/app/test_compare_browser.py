"""Compare and Look in a real browser: points come by themselves, and the keyboard is enough."""

import re

import pytest

from tests.app.browsing import contains, focused, has, see, watched
from tests.app.running import running
from tests.cli import call

pytestmark = pytest.mark.campaign  # it needs a browser, and takes long


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mapped")
    call("datasets", "make", "survey", "-n", 300, "-o", folder / "survey.csv")
    with running(folder, "survey.csv") as started:
        yield started
        assert started.end() == (130, "")


def compare(page, app):
    """Compare two methods at two levels of k, without a script of the test."""
    page.goto(f"{app.origin}/compare")
    for name in ("mdav", "cbfs", "vmdav", "iamat", "emad", "ama"):
        page.get_by_label(name, exact=True).set_checked(name in ("mdav", "iamat"))
    page.get_by_label("Levels of k", exact=True).fill("3, 5")
    page.locator("#go").click()
    contains(page.locator("#run"), "All 4 releases are there.")


def tab_to(page, found):
    """Press Tab until something has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if found(page.evaluate("document.activeElement.getAttribute('aria-label') || ''")):
            return
    raise AssertionError("it cannot be reached by Tab")


def test_a_point_is_reached_by_tab_and_leads_to_its_row_and_from_there_to_look(app, browser):
    with watched(app, browser) as page:
        see(page.get_by_role("heading", name="Columns", exact=True))
        compare(page, app)
        points = page.locator("a.point")
        has(page.locator("#mapped figcaption").first, re.compile("Click a point to go to its row"))
        names = points.evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
        assert len(names) == 4
        assert all(re.match(r"(mdav|iamat), k (3|5): loss [\d.]+\s%, risk [\d.]+\s%", name) for name in names)
        assert page.get_by_role("link", name=re.compile(r"^iamat, k 5: loss")).count() == 1
        page.locator("#go").focus()
        tab_to(page, lambda name: name.startswith("iamat, k 5: loss"))
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"/compare\?chosen=\d+#c-\d+$"))
        row = page.locator("tr.chosen")
        see(row)
        contains(row, "iamat")
        assert focused(page) == row.get_attribute("id")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Look"
        page.keyboard.press("Enter")
        see(page.locator("#columns svg").first)
        contains(page.locator("#which"), "iamat, k 5")
        contains(page.locator("#which"), "Internal: do not publish this page.")
        tab_to(page, lambda _: focused(page) == "keep-it")
        page.keyboard.press("Enter")
        contains(page.locator("#which"), "Kept as a candidate.")


def test_what_is_typed_stays_while_points_come_and_nothing_is_wider_than_the_screen(app, browser):
    with watched(app, browser, width=320, color_scheme="dark") as page:
        see(page.get_by_role("heading", name="Columns", exact=True))
        page.goto(f"{app.origin}/compare")
        page.get_by_label("Levels of k", exact=True).fill("3, 6")
        page.locator("#go").click()
        see(page.locator("#mapped svg"))
        see(page.locator("html.scripted"))
        page.get_by_label("Levels of k", exact=True).fill("4, 8")
        page.locator("h1").click()  # the field has no focus any more
        contains(page.locator("#run"), "are there.")
        assert page.get_by_label("Levels of k", exact=True).input_value() == "4, 8"
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.locator("a[id^=look-]").first.click()
        see(page.locator("#columns svg").first)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
