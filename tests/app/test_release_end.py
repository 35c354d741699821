"""Ctrl-C while a release is written, and the whole way without a script."""

import re
import signal
import time
from http.client import HTTPConnection
from urllib.parse import urlencode

import pytest

from tests.app.browsing import contains, see, watched
from tests.app.releases import boxes, names
from tests.app.running import running, within
from tests.cli import call
from tests.lengths import first_few

# Writing takes long, and hears nothing meanwhile.
SLOWLY = """
import time
from microagg.jobs import writing
real = writing.write_report

def slow(*given, **more):
    real(*given, **more)
    open("begun", "w").close()
    time.sleep({})

writing.write_report = slow
"""


class Raw:
    """A browser without a script: it follows where it is led, and posts the forms that it sees."""

    def __init__(self, app):
        self.app, self.cookie, self.text = app, "", ""
        answer = self._ask("GET", app.fresh().removeprefix(app.origin))
        self.cookie = answer.getheader("set-cookie").partition(";")[0]

    def _ask(self, method, path, body=None):
        made = HTTPConnection("127.0.0.1", self.app.port, timeout=60)
        made.request(method, path.partition("#")[0], body, {"cookie": self.cookie, "origin": self.app.origin})
        answer = made.getresponse()
        self.text = answer.read().decode()
        made.close()
        return answer

    def get(self, path):
        answer = self._ask("GET", path)
        while answer.status == 303:
            answer = self._ask("GET", answer.getheader("location"))
        return answer.status

    def until(self, path, words):
        """Ask again, as a page does that refreshes itself, until something is there."""
        for _ in range(600):
            self.get(path)
            if words in self.text:
                return
            time.sleep(0.1)
        raise AssertionError(words)

    def post(self, path, **fields):
        number = re.search(r'name="number" value="(\d+)"', self.text)[1]
        given = {"number": number} | {name.replace("__", "."): value for name, value in fields.items()}
        answer = self._ask("POST", path, urlencode(given, doseq=True))
        return self.get(answer.getheader("location")) if answer.status == 303 else answer.status


@pytest.fixture
def survey(tmp_path):
    call("datasets", "make", "survey", "-n", 600, "-o", tmp_path / "survey.csv")
    return tmp_path


def write(page, folder):
    page.until("/release", 'name="tick"')
    ticks = boxes(page)
    return page.post("/release/write", folder=folder, shown=ticks, tick=ticks)


def test_without_a_script_columns_try_and_release_give_the_folder_of_the_command_line(survey):
    with running(survey, "survey.csv") as app:
        page = Raw(app)
        page.until("/", 'id="row-0"')
        row = re.search(r'id="n-(\d+)"><bdi>age<', page.text)[1]
        assert page.post("/columns/apply", **{f"role-{row}": "keep"}) == 200
        page.get("/try")
        assert page.post("/try/apply", k="6", run="1") == 200
        page.until("/try", 'id="linked"')
        assert write(page, "mine") == 200
        page.until("/release", "Written to")
        assert app.end() == (130, "")
    made = {name: (survey / "mine" / name).read_bytes() for name in names(survey / "mine")}
    internal = ("again.py", "again.sh", "recipe.toml", "report.html", "rows.parquet")
    released = ("recipe.toml", "survey_masked.csv")
    assert [*made] == [*(f"internal/{name}" for name in internal), *(f"release/{name}" for name in released)]
    call(
        "mask", survey / "survey.csv", "--recipe", survey / "mine" / "internal" / "recipe.toml", "-o", survey / "other"
    )
    for name in names(survey / "other"):
        assert (survey / "other" / name).read_bytes() == made[name]
    assert b"k = 6" in made["internal/recipe.toml"]


def begin_to_write(app, folder):
    """Write, and come back when a part of it is in a private folder."""
    write(Raw(app), "out")
    for _ in range(600):
        if (folder / "begun").exists():
            break
        time.sleep(0.05)
    assert any(path.name.startswith(".microagg-") for path in folder.iterdir())


@pytest.mark.parametrize("number", first_few(1, [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
def test_a_signal_while_a_release_is_written_leaves_no_folder(survey, number):
    with running(survey, "survey.csv", hook=SLOWLY.format(0.5)) as app:
        begin_to_write(app, survey)
        assert app.end(number) == (128 + number, "")
    assert names(survey) == ["begun", "survey.csv"]


@pytest.mark.campaign
def test_ctrl_c_ends_what_does_not_heed_it_and_the_page_says_so(survey, browser):
    with running(survey, "survey.csv", hook=SLOWLY.format(20)) as app, watched(app, browser, gone=True) as page:
        page.goto(f"{app.origin}/release")
        begin_to_write(app, survey)
        contains(page.locator("#job"), "Writing")
        with within(5):
            assert app.end() == (130, "")
        see(page.get_by_text("microagg was stopped."))
    assert names(survey) == ["begun", "survey.csv"]
