"""What the tests of the commands share."""

import pytest

from tests.cli import call


@pytest.fixture
def survey(tmp_path, monkeypatch):
    """Give a survey in a folder to work in."""
    monkeypatch.chdir(tmp_path)
    call("datasets", "make", "survey", "-n", 600, "-o", "survey.csv")
    return tmp_path / "survey.csv"
