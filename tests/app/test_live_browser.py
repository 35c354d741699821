"""Figures come as k is typed, are those of the command line, and are never those of another recipe."""

import json

import pytest

from tests.app.browsing import contains, focused, has, idle, see, watched
from tests.app.running import running, within
from tests.cli import call

pytestmark = pytest.mark.campaign  # it needs a browser, and takes long

# Masking and linkage wait while a file is there, and note that they were called.
HELD = """
import pathlib, time
from microagg.jobs import masking

def held(name):
    real = getattr(masking, name)

    def slow(given, progress=None):
        with open("called", "a") as file:
            file.write(name + chr(10))
        while pathlib.Path("hold-" + name).exists():
            progress(0, 1)
            time.sleep(0.01)
        return real(given, progress)

    setattr(masking, name, slow)

held("mask")
held("judge")
"""

# Notes whatever the page shows: k of the recipe, k of the figures, and whether these are greyed and labelled.
NOTING = """() => {
  window.noted = [];
  const note = () => {
    const shown = document.querySelector("#verdict");
    if (!shown) return;
    const label = shown.querySelector(".note b");
    const now = JSON.stringify([
      Number(/k (\\d+)/.exec(document.querySelector("#line").textContent)[1]),
      Number(shown.querySelector("#reached").textContent),
      getComputedStyle(shown.querySelector("#reached")).color !== getComputedStyle(document.body).color,
      label !== null && label.textContent === "Of an earlier choice:",
    ]);
    if (window.noted.at(-1) !== now) window.noted.push(now);
  };
  new MutationObserver(note).observe(document.body, { subtree: true, childList: true, attributes: true });
  note();
}"""


def test_k_is_tried_as_it_is_typed_and_no_figure_of_a_former_k_comes_after_those_of_a_newer_one(browser, tmp_path):
    call("datasets", "make", "survey", "-n", 20_000, "-o", tmp_path / "survey.csv")
    with running(tmp_path, "survey.csv", hook=HELD) as app:
        with watched(app, browser) as page:
            page.goto(f"{app.origin}/try")
            has(page.locator("#reached"), "5")
            see(page.locator("#verdict.good, #verdict.look, #verdict.bad"))
            with within(2):
                page.locator("#k").fill("7")
                has(page.locator("#reached"), "7")
            assert focused(page) == "k"
            figures_of_the_command_line(page, tmp_path)
            enter_measures_nothing_again(page, tmp_path)
            no_stale_figure(page, tmp_path)
            what_is_refused_stays(page, tmp_path)
        assert app.end() == (130, "")


def figures_of_the_command_line(page, folder):
    see(page.locator("#verdict:not(.waiting)"))
    words = ["mask", folder / "survey.csv", "--yes", "-k", 7, "-o", folder / "out", "--json"]
    told = json.loads(call(*words).stdout)
    assert told["k_reached"] == 7
    assert page.locator("#loss").get_attribute("value") == repr(told["information_loss_percent"])
    contains(page.locator("#verdict h2"), "The promise holds")
    contains(page.locator("#undo"), "k 5 → 7")


def enter_measures_nothing_again(page, folder):
    """Enter in a field presses the button of those who have no script."""
    called = (folder / "called").read_text()
    with page.expect_response("**/try/apply"):
        page.locator("#k").press("Enter")
    page.wait_for_timeout(300)  # in which it would have begun
    assert (folder / "called").read_text() == called
    assert focused(page) == "k"


def no_stale_figure(page, folder):
    page.evaluate(NOTING)
    (folder / "hold-judge").touch()
    page.locator("#k").fill("6")
    has(page.locator("#verdict:not(.former) #reached"), "6")
    has(page.locator("#linked"), "…")
    (folder / "hold-mask").touch()
    page.locator("#k").fill("8")
    contains(page.locator("#verdict.former"), "Of an earlier choice: k 6 ·")
    contains(page.locator("#line"), "k 8 ·")
    (folder / "hold-mask").unlink()
    has(page.locator("#verdict:not(.former) #reached"), "8")
    has(page.locator("#linked"), "…")
    (folder / "hold-judge").unlink()
    see(page.locator("#verdict:not(.former):not(.waiting)"))
    page.wait_for_timeout(500)  # in which something late would come
    noted = [json.loads(one) for one in page.evaluate("window.noted")]
    assert {now for now, *_ in noted} == {6, 7, 8}
    assert any(greyed for *_, greyed, _ in noted)
    for now, of, greyed, labelled in noted:
        assert greyed == labelled == (now != of), noted
    figures = [of for _, of, _, _ in noted]
    assert figures == sorted(figures, key=[7, 6, 8].index), noted


def what_is_refused_stays(page, folder):
    """Figures that come after an error do not take its place."""
    (folder / "hold-judge").touch()
    page.locator("#k").fill("9")
    has(page.locator("#verdict:not(.former) #reached"), "9")
    page.locator("#k").fill("1")
    contains(page.locator("#e-k"), "k=1 protects nobody")
    (folder / "hold-judge").unlink()
    idle(page)
    page.wait_for_timeout(300)
    contains(page.locator("#e-k"), "k=1 protects nobody")
    contains(page.locator("#verdict.former"), "Of an earlier choice: k 9 ·")
    page.locator("#k").fill("9")
    see(page.locator("#verdict:not(.former):not(.waiting)"))
    assert page.locator("#e-k").count() == 0
