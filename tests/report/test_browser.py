"""The page in a browser: it renders, fetches nothing, runs nothing, and a name of ill will does nothing."""

import re

import numpy as np
import pyarrow as pa
import pytest

import microagg as ma
from tests.conftest import find_program

BAD = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def browser():
    chromium = find_program("chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def release():
    values = np.random.default_rng(0).normal(size=(200, 3))
    return ma.protect(
        pa.table({BAD: values[:, 0], "<img src=x onerror=alert(1)>": values[:, 1], "long" * 60: values[:, 2]}), k=5
    )


@pytest.mark.parametrize(
    ("public", "width", "scheme"), [(False, 1200, "light"), (False, 400, "dark"), (True, 400, "light")]
)
def test_the_page_renders_and_leaves_nothing(browser, release, tmp_path, public, width, scheme):
    path = release.report(tmp_path / "report.html", public=public)
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    asked, said, dialogs = [], [], []

    def stop(route):
        asked.append(route.request.url)
        if route.request.url == path.as_uri():
            route.continue_()
        else:
            route.abort()

    page.route(re.compile(".*"), stop)
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    page.wait_for_timeout(100)
    assert asked == [path.as_uri()]
    assert (said, dialogs) == ([], [])
    assert page.locator("script").count() == page.locator("img").count() == 0
    assert page.locator("h1").inner_text() == "Masked microdata"
    headings = page.locator("h2").all_inner_texts()
    assert headings[0].startswith("The promise holds")
    assert headings[-1] == "What is not claimed"
    assert page.get_by_text(BAD).count() > 0
    assert page.locator("svg").count() >= (0 if public else 4)
    assert all(box["width"] > 100 for box in (one.bounding_box() for one in page.locator("svg").all()))
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= width  # a long name scrolls its table, not the page
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 25, 30)")
    page.close()


def test_it_prints(browser, release, tmp_path):
    page = browser.new_page(color_scheme="dark")
    page.goto(release.report(tmp_path / "report.html").as_uri())
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 42, 58)"  # dark ink, whatever the screen
    page.close()
