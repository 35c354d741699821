"""A topic of the test's own: one class, listed once, is said wherever a release is spoken of."""

import json
import math
import pickle
from collections.abc import Mapping
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

import microagg as ma
from microagg.app.session import Session
from microagg.base.frozen import ReadOnly, frozen
from microagg.cli import app
from microagg.jobs.facts import release_facts
from microagg.judge import judge
from microagg.judge.parts import Fact, Finding
from microagg.judge.topics import TOPICS
from microagg.judge.topics.topic import Topic
from microagg.report import build, render
from tests.app.client import Client, text_of


@frozen()
class Digits:
    """How many released cells end in the digit 7, and the original ones."""

    after: int
    before: int | None  # None in public


class Sevens(Topic[Digits]):
    """Cells that end in the digit 7."""

    name = "sevens"
    title = "Lucky digits"

    def find(self, release, run):
        original, masked = (both.matrix() for both in release.pair)
        return Digits(int((masked % 10 == 7).sum()), int((original % 10 == 7).sum()))

    def public(self, found):
        return Digits(found.after, None)

    def done(self, judgement):
        return [Fact("digits", "counted", "Sevens bring luck.")]

    def findings(self, judgement):
        return [Finding("look", "luck", f"{self.of(judgement).before} cells had luck before.", "luck was lost.")]

    def limits(self, judgement):
        return ["Luck is not promised."]

    def paragraphs(self, found):
        return [f"{found.after} cells end in 7."] + ([] if found.before is None else [f"Before, {found.before} did."])


class Silent(Sevens):
    """The same, with nothing of its own in public."""

    name, title = "silent", "Silent digits"

    def public(self, found):
        return Topic.public(self, found)


TABLE = ma.datasets.survey(200, seed=0).select(["age", "income"])


@pytest.fixture
def _listed():
    before = list(TOPICS)
    TOPICS.extend([Sevens(), Silent()])
    yield
    TOPICS[:] = before


class Pages(NamedTuple):
    """Both pages of a release, as text."""

    internal: str
    public: str


@pytest.fixture
def pages(_listed):
    release = ma.protect(TABLE, 5)
    return Pages(render(build(release)), render(build(release, public=True)))


def test_it_has_a_section_a_finding_a_fact_and_a_limit_on_the_page(pages):
    had = Sevens().find(ma.protect(TABLE, 5), None)
    for words in ('<section id="sevens">', f"<p>Before, {had.before} did.</p>", '<a href="#sevens">Lucky digits</a>'):
        assert words in pages.internal
    for words in (f"{had.before} cells had luck before.", "Sevens bring luck.", "Luck is not promised."):
        assert words in pages.internal


def test_in_public_it_shows_what_it_lets_everybody_see(pages):
    had = Sevens().find(ma.protect(TABLE, 5), None)
    assert f"<p>{had.after} cells end in 7.</p>" in pages.public
    assert "Luck is not promised." in pages.public
    assert "Before," not in pages.public
    assert "had luck" not in pages.public


def test_by_default_nothing_of_it_is_public(pages):
    assert "Silent digits" in pages.internal
    assert "Silent digits" not in pages.public
    public = judge(ma.protect(TABLE, 5), public=True)
    assert "silent" not in public.topics


def test_what_is_never_public_is_not_measured_for_the_public(monkeypatch):
    class Hidden(Sevens):
        name = "hidden"
        public = Topic.public

        def find(self, release, run):
            pytest.fail("measured")

    monkeypatch.setattr("microagg.judge.judgement.TOPICS", [*TOPICS, Hidden()])
    assert "hidden" not in judge(ma.protect(TABLE, 5), public=True).topics


def test_figures_are_json_whatever_they_hold():
    @frozen()
    class Odd(ReadOnly):
        by_column: Mapping[str, float]
        never: float

    found = Odd({"a\u202eb": 1.5}, math.nan)
    assert Sevens().as_json(found) == {"sevens": {"by_column": {"a\ufffdb": 1.5}, "never": None}}


def test_a_pair_of_tables_is_not_stored():
    with pytest.raises(TypeError, match="original values"):
        pickle.dumps(ma.protect(TABLE, 5).pair)


@pytest.mark.usefixtures("_listed")
def test_the_terminal_and_json_have_it(tmp_path):
    file = tmp_path / "survey.csv"
    ma.write(TABLE, file)
    words = ["mask", str(file), "-k", "5", "--yes", "-o", str(tmp_path / "out"), "--force"]
    said = CliRunner().invoke(app, words).output
    assert "Warning: luck was lost." in said
    found = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    had = Sevens().find(ma.protect(TABLE, 5), None)
    assert found["sevens"] == {"after": had.after, "before": had.before}
    assert "luck was lost." in found["warnings"]


@pytest.mark.usefixtures("_listed")
def test_the_app_has_it(tmp_path):
    file = tmp_path / "survey.csv"
    ma.write(TABLE, file)
    session = Session(tmp_path)
    client = Client(session)
    try:
        session.open(str(file))
        client.settle()
        client.get("/")
        client.settle()
        client.post("/try/apply", k="5", run="1")
        page = text_of(client.get("/try"))
        assert "cells had luck before." in page
        client.get("/look")
        client.settle()
        page = client.get("/look")
        assert ">More</a>" in page.text
    finally:
        session.worker.end()


def test_each_topic_that_is_listed_has_a_name_of_its_own():
    names = [one.name for one in TOPICS]
    assert len({*names}) == len(names) > 0
    others = {*release_facts(ma.protect(TABLE, 5))} | {"findings", "warnings", "recoded", "differences", "sha256"}
    assert not {*names} & others
