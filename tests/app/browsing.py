"""What tests in a real browser share."""

import re
from contextlib import contextmanager

RULES = "MAP evil.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
PATIENT = 30_000  # milliseconds, for what should take a moment and may meet a busy machine


@contextmanager
def watched(app, browser, *, enter=True, gone=False, **options):
    """Give a page of a context of its own, which may ask nobody else and say nothing on the console."""
    context = browser.new_context(viewport={"width": options.pop("width", 1280), "height": 900}, **options)
    context.set_default_timeout(PATIENT)
    asked, said = [], []
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
    assert [text for text in said if not (gone and "ERR_CONNECTION_REFUSED" in text)] == []
    # Chromium's own page for an empty tab is no request to anybody.
    assert [url for url in asked if not re.match(rf"{app.origin}/|data:|file:|http://evil\.example", url)] == []
    assert not any(re.search(r"survey|age|region|quasi", url) for url in asked if url.startswith(app.origin + "/"))


def _expect():
    from playwright.sync_api import expect

    return expect


def see(locator):
    return _expect()(locator).to_be_visible(timeout=PATIENT)


def has(locator, text):
    return _expect()(locator).to_have_text(text, timeout=PATIENT)


def contains(locator, text):
    return _expect()(locator).to_contain_text(text, timeout=PATIENT)


def focused(page):
    return page.evaluate("document.activeElement.id")


def ended(locator):
    return _expect()(locator).to_have_count(0, timeout=PATIENT)
