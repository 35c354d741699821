"""axe finds nothing on any page that WCAG 2.0 to 2.2 would call wrong, at A and AA."""

import pytest

from tests.app.browsing import compare_two, contains, idle, see, watched
from tests.app.running import running
from tests.cli import call

LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
OPTIONS = {"runOnly": {"type": "tag", "values": LEVELS}, "resultTypes": ["violations"]}
STEPS = ("/open", "/", "/try", "/compare", "/look", "/release")
PARTS = 9  # of the page Look

pytestmark = pytest.mark.campaign  # it needs a browser, and takes long


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged")
    call("datasets", "make", "survey", "-n", 200, "-o", folder / "survey.csv")
    with running(folder, "survey.csv") as started:
        yield started
        assert started.end() == (130, "")


def violations(page):
    """Unfold everything that can be unfolded, and give what axe finds, in a line each."""
    from axe_playwright_python.sync_playwright import Axe

    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.evaluate(Axe().axe_script)
    found = page.evaluate("(options) => axe.run(options).then((told) => told.violations)", OPTIONS)
    return [f"{page.url} {one['id']}: {node['target']} {node['html'][:200]}" for one in found for node in one["nodes"]]


def filled(page, app):
    """Let every page have something to show: a comparison, a release that was drawn, and a checklist."""
    compare_two(page, app)
    page.goto(f"{app.origin}/look")
    see(page.locator("#columns svg").first)
    page.goto(f"{app.origin}/release")
    see(page.locator(".ticks"))


def on(page, app, path):
    page.goto(app.origin + path)
    see(page.locator("h1"))
    idle(page)
    return violations(page)


def test_the_six_pages_have_nothing_that_axe_calls_wrong(app, browser):
    with watched(app, browser) as page:
        see(page.get_by_role("heading", name="Columns", exact=True))
        filled(page, app)
        assert [one for path in STEPS for one in on(page, app, path)] == []


@pytest.mark.campaign
@pytest.mark.parametrize("width", [1280, 320])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_anything_that_axe_calls_wrong(app, browser, scheme, width):
    with watched(app, browser, width=width, color_scheme=scheme) as page:
        see(page.get_by_role("heading", name="Columns", exact=True))
        filled(page, app)
        looks = [f"/look?part={part}" for part in range(PARTS)]
        found = [one for path in (*STEPS, *looks, "/compare?sort=1&chosen=1") for one in on(page, app, path)]
        found += refused(page, app) + beside(page, app)
        assert found == []


def refused(page, app):
    """Look at pages on which something is refused."""
    page.goto(f"{app.origin}/release")
    see(page.locator(".ticks"))
    page.locator("#write").click()
    contains(page.locator("#e-tick"), "not ticked")
    found = violations(page)
    page.goto(f"{app.origin}/try")
    page.locator("#k").fill("1")
    contains(page.locator("[id='e-k']"), "k=1 protects nobody")
    found += violations(page)
    page.locator("#k").fill("300")
    contains(page.locator("main"), "k=300")
    found += violations(page)
    page.locator("#k").fill("6")
    contains(page.locator("#line"), "k 6")
    found += on(page, app, "/quit")
    page.goto(f"{app.origin}/try")
    page.locator("#k").fill("5")
    see(page.locator("#verdict:not(.former)"))
    return found


def beside(page, app):
    """Look at two releases beside each other, and at masked rows."""
    page.goto(f"{app.origin}/look")
    see(page.locator("#columns svg").first)
    page.locator("#with").select_option(index=1)
    page.get_by_role("button", name="Show", exact=True).click()
    see(page.locator(".both svg").first)
    found = violations(page)
    page.locator("#peek-it").click()
    see(page.locator(".peeked"))
    return found + violations(page)


# What Tab should reach; `at` tells which of these has focus, or "" for a part that scrolls, and what is wrong with how
# that is seen: no line around it, nothing of it on the screen, or something over it.
REACHING = """() => {
  const wanted = "a[href], button, input, select, textarea, summary";
  window.wanted = [...document.querySelectorAll(wanted)].filter((one) => !one.disabled && one.checkVisibility());
  window.named = (one) => one.id || `${one.localName} ${one.textContent.trim().slice(0, 40)}`;
  window.at = () => {
    const one = document.activeElement;
    const place = window.wanted.indexOf(one);
    const mark = one.matches(".point") ? getComputedStyle(one.querySelector(".target")).strokeWidth
      : getComputedStyle(one).outlineStyle !== "none" && getComputedStyle(one).outlineWidth;
    const box = one.getClientRects()[0];
    const [left, right] = [Math.max(box.left, 0), Math.min(box.right, innerWidth)];
    const [top, bottom] = [Math.max(box.top, 0), Math.min(box.bottom, innerHeight)];
    const over = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    const seen = over && (one.contains(over) || over.contains(one));
    const wrong = one === document.body ? "" : parseFloat(mark) >= 2 ? seen ? "" : "hidden" : "no mark";
    return [place, wrong && `${window.named(one)}: ${wrong}`];
  };
  return window.wanted.length;
}"""


@pytest.mark.parametrize(("width", "keys"), [(1280, ("Tab", "Shift+Tab")), (320, ("Tab",))])
def test_tab_reaches_everything_on_every_page_and_is_seen_wherever_it_is(app, browser, width, keys):
    with watched(app, browser, width=width) as page:
        see(page.get_by_role("heading", name="Columns", exact=True))
        filled(page, app)
        for path in (*STEPS, "/compare?chosen=1", "/quit"):
            page.goto(app.origin + path)
            see(page.locator("html.scripted h1"))
            idle(page)
            # The history folds by itself when it is left.
            page.evaluate("for (const one of document.querySelectorAll('details')) one.open = one.id !== 'steps'")
            count = page.evaluate(REACHING)
            assert count > 5
            for key in keys:  # upwards too, where the header stays
                left, wrong = walked(page, count, key)
                assert (path, key, left, wrong) == (path, key, [], [])


def walked(page, count, key):
    """Press a key until it has been everywhere; give what it has left out, and where it was not seen."""
    page.evaluate("document.activeElement.blur()")
    reached, wrong = set(), []
    for _ in range(2 * count + 20):
        page.keyboard.press(key)
        place, problem = page.evaluate("window.at()")
        reached.add(place)
        wrong += [problem] if problem else []
        if len(reached - {-1}) == count:
            break
    left = {*range(count)} - reached
    return [page.evaluate("(place) => window.named(window.wanted[place])", one) for one in left], wrong
