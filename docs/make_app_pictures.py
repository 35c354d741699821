"""Draw the pictures of the app: start it on the synthetic survey, do the work page by page, and photograph each."""

import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import expect

HERE = Path(__file__).parent
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 400, "height": 900}
PATIENT = 120_000  # milliseconds: twelve releases are made and judged, perhaps on a busy machine


@contextmanager
def started(folder):
    """Start the app in a folder, and give its address; end it as Ctrl-C does."""
    command = [sys.executable, "-m", "microagg", "app", "--no-browser"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=folder, text=True, **pipes) as process:
        try:
            yield re.search(r"http://\S+", process.stdout.readline())[0]
        finally:
            process.send_signal(signal.SIGINT)


def draw(browser, folder):
    """Go from the file to the release in a folder that holds survey.csv; give the pictures' paths."""
    with started(folder) as address:
        context = browser.new_context(viewport=WIDE, color_scheme="light")
        page = context.new_page()
        page.goto(address)
        made = []
        for name, step, last in STEPS:
            step(page)
            made.append(shoot(page, name, page.locator(last).last))
        page.set_viewport_size(NARROW)
        page.emulate_media(color_scheme="dark")
        go(page, "Try")
        judged(page)
        made.append(shoot(page, "dark", page.locator("#verdict .tiles")))
        context.close()
    return made


def shoot(page, name, last):
    """Photograph a page from its top to the end of its last part that matters."""
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")  # the header stays where the window is
    page.mouse.move(0, 0)  # off what it would light up
    end = last.evaluate("one => one.getBoundingClientRect().bottom + scrollY")
    clip = {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": end + 20}
    path = HERE / f"app_{name}.png"
    page.screenshot(path=path, full_page=True, clip=clip, animations="disabled")
    return path


def ready(found, words):
    """Wait until something says what it should."""
    expect(found).to_have_text(words, timeout=PATIENT)


def go(page, name):
    """Follow a step of the header."""
    page.locator("nav").get_by_role("link", name=name).click()


def opened(page):
    """Open: before a file is chosen."""
    ready(page.locator("h1"), "Open a file")


def columns(page):
    """Columns: the weight of the sample gets its role."""
    page.get_by_role("button", name="survey.csv", exact=True).click()
    page.get_by_label("role of weight", exact=True).select_option("weight")
    ready(page.locator("#g-weight summary .n"), "1")
    ready(page.locator("#alone"), re.compile(r"\d"))


def tried(page):
    """Try: groups of ten."""
    go(page, "Try")
    page.locator("#k").fill("10")
    page.locator("#k").press("Tab")
    ready(page.locator("#reached"), re.compile("^1[0-9]$"))
    judged(page)


def judged(page):
    """Wait for the verdict, and until no work goes on."""
    ready(page.locator("#linked"), re.compile(r"\d"))
    expect(page.locator("#bar")).to_have_count(0, timeout=PATIENT)


def compared(page):
    """Compare: four methods at three levels of k."""
    go(page, "Compare")
    page.locator("#go").click()
    ready(page.locator("#run"), re.compile("All 12 releases are there"))


def looked(page):
    """Look: the present recipe, before and after."""
    go(page, "Look")
    expect(page.locator("#columns figure").first).to_be_visible(timeout=PATIENT)


def released(page):
    """Release: the checklist, ticked."""
    go(page, "Release")
    expect(page.locator(".ticks")).to_be_visible(timeout=PATIENT)
    for box in page.locator(".ticks input[type=checkbox]").all():
        box.check()


STEPS = (
    ("open", opened, "main form"),
    ("columns", columns, "#g-quasi"),
    ("try", tried, "#verdict"),
    ("compare", compared, "#mapped"),
    ("look", looked, "#columns .many > :nth-child(8)"),
    ("release", released, "#checklist"),
)
"""The pages in the order of the work, and the last part of each that its picture shows."""
