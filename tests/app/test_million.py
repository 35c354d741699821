"""A million records: pages answer meanwhile, progress shows, and cancel is heeded."""

import json
import time

import pytest

from tests.app.browsing import PATIENT, contains, see, watched
from tests.app.running import running
from tests.cli import call

LONG = 600_000  # milliseconds: the machine may be busy with other tests


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("million")
    call("datasets", "make", "survey", "-n", 1_000_000, "-o", made / "large.parquet")
    call("datasets", "make", "survey", "-n", 100_000, "-o", made / "small.parquet")
    return made


@pytest.fixture(scope="module")
def pace(folder):
    """Tell how long this machine takes now for a tenth of the work."""
    begun = time.monotonic()
    recipe = folder / "recipe.toml"
    call("inspect", folder / "small.parquet", "-o", recipe)
    result = call("mask", folder / "small.parquet", "--recipe", recipe, "-o", folder / "calibrated", "--json")
    assert json.loads(result.stdout)["k_reached"] >= 5
    return time.monotonic() - begun


def job(page):
    begun = time.monotonic()
    told = page.evaluate("fetch('/job').then((answer) => answer.json())")
    return told, time.monotonic() - begun


def state_of(page):
    return job(page)[0]["state"]


def wait_for_title(page, title, seconds):
    deadline = time.monotonic() + seconds
    while job(page)[0]["title"] != title:
        assert time.monotonic() < deadline, title
        time.sleep(0.05)


@pytest.mark.campaign
def test_progress_cancel_and_undo_on_a_million_records(browser, folder, pace):
    before = {path.name for path in folder.iterdir()}
    with running(folder, "large.parquet") as app, watched(app, browser, gone=True) as page:
        page.set_default_timeout(LONG)
        see_long(page.get_by_role("heading", name="Columns", exact=True))
        page.goto(f"{app.origin}/try")
        contains(page.locator("#run"), "a first guess")
        assert not page.locator("#verdict").count()  # nothing runs that was not asked for
        press(page, "Try it")
        wait_for_title(page, "masking", 5)
        see(page.locator("#bar"))
        values, slowest = watch(page, "masking")
        assert len(values) >= 10
        assert slowest <= max(0.3, 0.1 * pace)
        cancelled(page, max(3.0, 0.5 * pace))  # in linkage
        loss = page.locator("#loss").get_attribute("value")

        page.locator("#k").fill("6")
        contains(page.locator("#line"), "k 6")
        contains(page.locator("#verdict"), "Of an earlier choice")
        press(page, "Try it")
        wait_for_title(page, "masking", 5)
        time.sleep(0.2 * pace)
        cancelled(page, max(1.0, 0.2 * pace))  # in masking

        begun = time.monotonic()
        page.locator("#undo").click()
        page.locator(f"#loss[value='{loss}']").wait_for()
        assert time.monotonic() - begun < max(0.6, 0.1 * pace)
        press(page, "Try it")
        wait_for_title(page, "measuring linkage", LONG / 1000)
        page.locator("#job progress").wait_for()
        assert page.locator("#loss").get_attribute("value") == loss
        page.locator("#cancel").click()
        assert app.end() == (130, "")
    assert {path.name for path in folder.iterdir()} == before


def see_long(locator):
    locator.wait_for(timeout=LONG)


def press(page, name):
    page.get_by_role("button", name=name).click()


def watch(page, title):
    """Give the values that the bar had while this went on, and the longest time that a page took."""
    values, slowest = set(), 0.0
    while True:
        told, _ = job(page)
        if told["title"] != title:
            return values, slowest
        values.add(told["percent"])
        begun = time.monotonic()
        assert page.evaluate("fetch('/').then((answer) => answer.status)") == 200
        slowest = max(slowest, time.monotonic() - begun)


def cancelled(page, seconds):
    begun = time.monotonic()
    page.locator("#cancel").click(timeout=PATIENT)
    page.get_by_text("Cancelled. Nothing was changed.").wait_for()
    assert time.monotonic() - begun < seconds
    assert state_of(page) == "idle"
