"""The app in a real browser: nothing comes from outside, nothing is said on the console, the keyboard is enough."""

import json
import re

import pyarrow as pa
import pyarrow.csv
import pytest

from tests.app.browsing import contains, focused, has, see, watched
from tests.app.running import running
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
    with running(folder, "survey.csv") as started:
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
        policy = answer.headers["content-security-policy"]
        script = next(part for part in policy.split(";") if "script-src" in part)
        assert "unsafe" not in script
        assert page.evaluate("[document.cookie, localStorage.length, sessionStorage.length]") == ["", 0, 0]


def test_a_browser_that_is_led_here_by_a_file_gets_in(app, browser, tmp_path):
    place = tmp_path / "led.html"
    place.write_text(f'<meta http-equiv="refresh" content="0;url={app.fresh()}">')
    with watched(app, browser, enter=False) as page:
        page.goto(place.as_uri())
        see(page.get_by_role("heading", name="Columns", exact=True))
        assert page.url == f"{app.origin}/"


def test_another_name_for_this_machine_and_another_browser_are_refused(app, browser):
    context = browser.new_context()
    page = context.new_page()
    assert page.goto(app.origin).status == 403
    rebound = f"http://evil.example:{app.port}/"
    assert page.goto(rebound).status == 403
    read = page.evaluate("fetch('/job').then((answer) => answer.status)")
    assert read == 403
    other = page.evaluate(f"fetch('{app.origin}/job').then(() => 'read', () => 'refused')")
    assert other == "refused"
    context.close()


def test_a_role_is_set_by_keyboard_and_the_exposure_follows(page, folder):
    alone = page.locator("#alone").get_attribute("data-value")
    role = page.get_by_label("role of age")
    place = role.get_attribute("id")
    page.locator("#filter").focus()
    for _ in range(200):
        page.keyboard.press("Tab")
        if focused(page) == place:
            break
    assert focused(page) == place
    page.keyboard.press("k")  # the only role that begins so
    contains(page.locator("#line"), "9 masked")
    assert focused(page) == place
    page.reload()
    changed = call("inspect", folder / "survey.csv", "--json", "-o", folder / "r.toml", "--force").stdout
    assert json.loads(changed)["unique"] == int(alone)
    see(page.locator("#alone"))
    assert int(page.locator("#alone").get_attribute("data-value")) <= int(alone)


def test_without_a_column_to_mask_the_focus_goes_to_the_first_row(page):
    for box in page.locator("#g-quasi input[name=row]").all():
        box.check()
    page.locator("#role").select_option("drop")
    page.get_by_role("button", name="Change ticked").click()
    contains(page.get_by_role("alert").first, "No column is left to mask")
    assert focused(page) == "role-0"
    page.get_by_role("link", name="Try", exact=True).click()
    contains(page.get_by_role("alert").last, "No column is left to mask")


def test_k_is_tried_as_it_is_typed_and_the_focus_stays(page, app, folder, tmp_path):
    on_try(page, app)
    page.locator("#k").fill("7")
    has(page.locator("#reached"), "7")
    assert focused(page) == "k"
    recipe = tmp_path / "recipe.toml"
    call("inspect", folder / "survey.csv", "-o", recipe)
    words = ["mask", folder / "survey.csv", "--recipe", recipe, "-k", 7, "-o", tmp_path / "out", "--json"]
    told = json.loads(call(*words).stdout)
    assert float(page.locator("#loss").get_attribute("value")) == told["information_loss_percent"]
    contains(page.locator("#verdict h2"), "The promise holds")
    contains(page.locator("#undo"), "k 5 → 7")


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
    for k in (7, 8):
        page.locator("#k").fill(str(k))
        has(page.locator("#reached"), str(k))
    page.reload()
    assert page.locator("#k").input_value() == "8"
    page.goto(f"{app.origin}/")
    page.go_back()
    see(page.locator("#verdict"))
    assert page.locator("#k").input_value() == "8"
    page.go_forward()
    see(page.get_by_role("heading", name="Columns", exact=True))
    contains(page.locator("#line"), "k 8")
    stale.locator("#k").fill("9")
    see(stale.get_by_role("heading", name="Something else was changed meanwhile"))
    contains(stale.locator("main [role=alert]"), "k 7 → 8")
    stale.get_by_role("button", name="Apply mine on top").click()
    see(stale.locator("#k"))
    assert stale.locator("#k").input_value() == "9"
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


BAD = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "../../etc/passwd",
    "long" * 60,
    "\u202eabc",
    "end ",
]


def test_names_of_ill_will_do_nothing_and_fit_a_narrow_screen(browser, tmp_path):
    values = {name: [(i * 7 + j * j) % 97 for i in range(120)] for j, name in enumerate(BAD)}
    pa.csv.write_csv(pa.table(values), tmp_path / "bad.csv")
    with running(tmp_path, "bad.csv") as app, watched(app, browser, width=320, gone=True) as page:
        see(page.get_by_role("heading", name="Columns", exact=True))
        for path in ("/", "/try"):
            page.goto(app.origin + path)
            see(page.locator("h1"))
            assert page.locator("img").count() == 0
            assert page.locator("script").count() == 1
            assert page.evaluate("document.documentElement.scrollWidth") <= 320
        page.goto(app.origin)
        page.locator("#role-1").select_option("keep")
        contains(page.locator("#undo"), "onerror")
        # The page tells when the process is gone.
        app.end()
        see(page.get_by_text("microagg was stopped."))
