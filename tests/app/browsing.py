"""What tests in a real browser share."""

import re
from contextlib import contextmanager

RULES = "MAP evil.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
PATIENT = 30_000  # milliseconds, for what should take a moment and may meet a busy machine


@contextmanager
def watched(app, browser, *, enter=True, gone=False, led_by_file=False, asked=None, **options):
    """Give a page of a context of its own, which may ask nobody else and say nothing on the console.

    Every address that was asked for is added to `asked`.
    """
    context = browser.new_context(viewport={"width": options.pop("width", 1280), "height": 900}, **options)
    context.set_default_timeout(PATIENT)
    asked, said = [] if asked is None else asked, []
    context.on("request", lambda request: asked.append(request.url))
    context.on("console", lambda message: said.append(message.text))
    context.on("weberror", lambda error: said.append(str(error.error)))
    context.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page = context.new_page()
    if enter:
        page.goto(app.fresh())
    try:
        yield page
    finally:
        context.close()
    ours = (f"{app.origin}/", "data:", *(["file:"] if led_by_file else []))
    outside = [url for url in asked if not url.startswith(ours)]
    assert outside == [], outside
    said = [text for text in said if not (gone and "ERR_CONNECTION_REFUSED" in text)]
    assert said == [], said
    assert not any(re.search(r"survey|age|region|quasi", url) for url in asked if url.startswith(app.origin + "/"))


def _expect():
    from playwright.sync_api import expect

    return expect


def see(locator):
    return _expect()(locator).to_be_visible(timeout=PATIENT)


def idle(page):
    """Wait until nothing is being worked on."""
    return _expect()(page.locator("#bar")).to_have_count(0, timeout=PATIENT)


def has(locator, text):
    return _expect()(locator).to_have_text(text, timeout=PATIENT)


def contains(locator, text):
    return _expect()(locator).to_contain_text(text, timeout=PATIENT)


def focused(page):
    return page.evaluate("document.activeElement.id")


def tab_to(page, wanted, *, back=False):
    """Press Tab until something has focus, by its id."""
    for _ in range(400):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        if focused(page) == wanted:
            return
    raise AssertionError(f"no way to {wanted}")


def compare_two(page, app):
    """Compare one method at two levels of k."""
    page.goto(f"{app.origin}/compare")
    for name in ("cbfs", "vmdav", "iamat", "emad", "ama"):
        page.get_by_label(name, exact=True).uncheck()
    page.get_by_label("Levels of k", exact=True).fill("3, 5")
    page.locator("#go").click()
    contains(page.locator("#run"), "All 2 releases are there.")
