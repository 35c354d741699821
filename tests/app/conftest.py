"""What the tests of the app share: a survey, a session on it, and a client that the guard lets in."""

import pytest

from microagg.app.session import Session
from tests.app.browsing import RULES
from tests.app.client import Client
from tests.cli import call
from tests.conftest import find_program


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("app")
    call("datasets", "make", "survey", "-n", 600, "-o", made / "survey.csv")
    return made


@pytest.fixture
def empty(folder):
    session = Session(folder)
    yield Client(session)
    session.worker.end()


@pytest.fixture
def client(empty, folder):
    empty.session.open(str(folder / "survey.csv"))
    empty.settle()
    empty.get("/")
    empty.settle()
    return empty


@pytest.fixture(scope="module")
def browser():
    chromium = find_program("chromium")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=chromium, args=["--no-sandbox", f"--host-resolver-rules={RULES}"])
        yield opened
        opened.close()
