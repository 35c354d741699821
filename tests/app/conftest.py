"""What the tests of the app share: a survey, a session on it, and a client that the guard lets in."""

import pytest

from microagg.app.session import Session
from tests.app.client import Client
from tests.cli import call


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
