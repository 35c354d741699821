"""The app in a real browser: nothing comes from outside, nothing is said on the console, the keyboard is enough."""

import re
from contextlib import ExitStack
from dataclasses import replace

import pytest

from microagg.app.edits import with_roles
from microagg.app.pages import PAGES
from microagg.jobs.inspecting import exposure_of
from microagg.jobs.opening import open_file
from microagg.judge.text import count
from tests.app.browsing import contains, focused, has, see, tab_to, watched
from tests.app.running import running, within
from tests.cli import call

pytestmark = pytest.mark.campaign  # it needs a browser, and takes long


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("browsed")
    call("datasets", "make", "survey", "-n", 2000, "-o", made / "survey.csv")
    return made


@pytest.fixture(scope="module")
def app(folder):
    """Give one process for all tests; at its end it has written nothing but addresses."""
    with ExitStack() as stack:
        with within(3):
            started = stack.enter_context(running(folder, "survey.csv"))
        yield started
        assert started.end() == (130, "")
    assert not (folder / "heard").exists()  # it has turned to nobody


@pytest.fixture
def page(app, browser):
    """Give a page on the columns, in the state in which the file was opened."""
    with watched(app, browser) as opened:
        see(opened.get_by_role("heading", name="Columns", exact=True))
        if opened.locator("#undo").is_enabled():
            back_to_start(opened)
        yield opened


def back_to_start(page):
    number = page.locator("input[name=number]").first.input_value()
    page.request.post(
        page.url.split("/", 3)[0] + "//" + page.url.split("/")[2] + "/history",
        form={"number": number, "to": "0"},
        headers={"origin": "/".join(page.url.split("/")[:3])},
    )
    page.reload()


def on_try(page, app):
    page.goto(f"{app.origin}/try")
    see(page.locator("#verdict"))


def test_the_printed_address_leads_to_the_columns_and_leaves_no_token(app, browser):
    with watched(app, browser, enter=False) as page:
        answer = page.goto(app.address)
        see(page.get_by_role("heading", name="Columns", exact=True))
        assert page.url == f"{app.origin}/"
        assert page.locator("table.columns tbody tr").count() == 13
        assert len(re.findall("http", app.said)) == 1
        policy = answer.headers["content-security-policy"]
        script = next(part for part in policy.split(";") if "script-src" in part)
        assert "unsafe" not in script
        assert page.evaluate("[document.cookie, localStorage.length, sessionStorage.length]") == ["", 0, 0]


@pytest.mark.parametrize(
    ("script", "seen"),
    [
        ("console.log('a word')", "a word"),
        ("setTimeout(() => { throw new Error('a fault') })", "a fault"),
        ("alert('a word')", "a word"),
        ("fetch('http://elsewhere.example/').catch(() => null)", "connect-src"),
        ("open('http://elsewhere.example/a') && null", "http://elsewhere.example/a"),
        ("open('http://127.0.0.1:1/a') && null", "http://127.0.0.1:1/a"),
    ],
)
def test_what_goes_outside_or_to_the_console_does_not_go_unseen(app, browser, script, seen):
    """Every test in a browser relies on it."""

    def do():
        with watched(app, browser) as page:
            page.evaluate(script)
            page.wait_for_timeout(200)

    with pytest.raises(AssertionError, match=re.escape(seen)):
        do()


def test_a_browser_that_is_led_here_by_a_file_gets_in(app, browser, tmp_path):
    place = tmp_path / "led.html"
    place.write_text(f'<meta http-equiv="refresh" content="0;url={app.fresh()}">')
    with watched(app, browser, enter=False, led_by_file=True) as page:
        page.goto(place.as_uri())
        see(page.get_by_role("heading", name="Columns", exact=True))
        assert page.url == f"{app.origin}/"


def test_another_name_for_this_machine_and_another_browser_are_refused(app, browser):
    context = browser.new_context()
    page = context.new_page()
    assert page.goto(app.origin).status == 403
    rebound = f"http://evil.example:{app.port}/"
    assert page.goto(rebound).status == 403
    for path in ("/job", "/static/app.js", *(one.path.replace("{number:int}", "1") for one in PAGES)):
        assert page.evaluate(f"fetch('{path}').then((answer) => answer.status)") == 403
        assert page.evaluate(f"fetch('{app.origin}{path}').then(() => 'read', () => 'refused')") == "refused"
    context.close()


def test_a_role_is_set_by_keyboard_and_the_exposure_follows(page, folder):
    file = open_file(str(folder / "survey.csv"))
    changed = with_roles(file.recipe, file.source.table.column_names, {"age": "keep"})
    place = page.get_by_label("role of age").get_attribute("id")
    tab_to(page, place)
    for _ in range(20):
        if page.locator(f"#{place}").input_value() == "keep":
            break
        words = page.locator("#undo").inner_text()
        page.keyboard.press("ArrowDown")
        page.wait_for_function("(words) => document.querySelector('#undo').innerText !== words", arg=words)
        assert focused(page) == place  # where it was, though the row has moved
    contains(page.locator("#line"), "9 masked")
    alone, before = (exposure_of(replace(file, recipe=one)).unique for one in (changed, file.recipe))
    assert alone != before
    has(page.locator("#alone"), count(alone))


def test_without_a_column_to_mask_the_focus_goes_to_the_first_row(page):
    quasi = [box.get_attribute("id") for box in page.locator("#g-quasi input[name=row]").all()]
    assert len(quasi) == 10
    for box in quasi:
        tab_to(page, box)
        page.keyboard.press("Space")
    tab_to(page, "role", back=True)
    page.keyboard.press("d")
    tab_to(page, "bulk")
    page.keyboard.press("Enter")
    contains(page.get_by_role("alert").first, "No column is left to mask")
    assert focused(page) == "role-0"
    assert page.locator("table.columns tr").nth(1).locator("#role-0").count() == 1
    page.get_by_role("link", name="Try", exact=True).click()
    contains(page.get_by_role("alert").last, "No column is left to mask")
    assert page.locator("#k, #try-it").count() == 0


def test_an_error_stands_at_its_field_and_a_small_stratum_offers_its_size(page, app):
    on_try(page, app)
    page.locator("#k").fill("1")
    contains(page.locator("[id='e-k']"), "k=1 protects nobody")
    assert focused(page) == "k"
    page.locator("#k").fill("300")
    contains(page.locator("#failure"), "strata by 'region' have fewer than k=300 records")
    button = page.get_by_role("button", name=re.compile("Set k to"))
    size = button.inner_text().split()[-1]
    button.click()
    has(page.locator("#reached"), re.compile(r"\d+"))
    assert page.locator("#k").input_value() == size
    page.locator("#k").fill("300")
    page.get_by_role("button", name=re.compile("Drop .region.")).click()
    has(page.locator("#reached"), re.compile(r"3\d\d"))
    contains(page.locator("#undo"), "role of region: strata → drop")


def test_reload_back_and_a_second_tab_show_the_state_and_lose_nothing(page, app):
    on_try(page, app)
    stale = page.context.new_page()
    stale.goto(f"{app.origin}/try")
    stale.route("**/job", lambda _: None)  # it does not hear of changes
    stale.wait_for_timeout(300)
    for k in (4, 6, 7, 9, 8):
        page.locator("#k").fill(str(k))
        has(page.locator("#reached"), str(k))
    page.reload()
    assert page.locator("#k").input_value() == "8"
    page.goto(f"{app.origin}/")
    page.goto(f"{app.origin}/release")
    for go, heading in ((page.go_back, "Columns"), (page.go_back, "Try"), (page.go_forward, "Columns")):
        go()
        see(page.get_by_role("heading", name=heading, exact=True))
        contains(page.locator("#line"), "k 8")
        if heading == "Try":
            assert page.locator("#k").input_value() == "8"
            has(page.locator("#reached"), "8")
    second = page.context.new_page()
    second.goto(f"{app.origin}/try")
    has(second.locator("#reached"), "8")
    second.close()
    stale.locator("#k").fill("3")
    see(stale.get_by_role("heading", name="Something else was changed in the meantime"))
    contains(stale.locator("main [role=alert]"), "k 9 → 8")
    assert stale.locator("#helping").is_hidden()  # that of the former page
    page.reload()
    contains(page.locator("#line"), "k 8")
    stale.get_by_role("button", name="Apply my choices as well").click()
    see(stale.locator("#k"))
    assert stale.locator("#k").input_value() == "3"
    stale.close()


def test_undo_and_redo_by_keyboard(page, app):
    on_try(page, app)
    for k in range(6, 9):
        page.locator("#k").fill(str(k))
        contains(page.locator("#line"), f"k {k} ")
    page.locator("h1").click()
    for k in range(7, 4, -1):
        page.keyboard.press("Control+z")
        contains(page.locator("#line"), f"k {k} ")
    for k in range(6, 9):
        page.keyboard.press("Control+Shift+Z")
        contains(page.locator("#line"), f"k {k} ")
    has(page.locator("#reached"), "8")


def test_without_a_script_columns_and_try_work_by_posts(app, browser):
    with watched(app, browser, java_script_enabled=False) as page:
        see(page.get_by_role("heading", name="Columns", exact=True))
        page.get_by_label("role of tax").select_option("drop")
        page.get_by_role("button", name="Apply").click()
        contains(page.locator("#undo"), "role of tax")
        page.get_by_role("link", name="Try", exact=True).click()
        page.locator("#k").fill("4")
        page.get_by_role("button", name="Try it").click()
        for _ in range(100):
            if page.locator("#reached").count() and page.locator("#reached").inner_text() == "4":
                break
            page.reload()
        has(page.locator("#reached"), "4")
        page.get_by_role("button", name="Keep as candidate").click()
        see(page.get_by_role("heading", name="Candidates"))
