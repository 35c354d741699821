"""Quitting: at once where nothing would be lost, else after a question; what is saved goes on by one command."""

import re
import shlex
import signal

import pytest

from microagg.app.pages.quitting import last_words
from microagg.app.session import Session
from microagg.recipe import Recipe
from microagg.recipe._file import read_candidates
from tests.app.browsing import contains, see, watched
from tests.app.running import running
from tests.cli import call


@pytest.fixture
def ended(client):
    """Give how often the session was ended."""
    found = []
    client.session.end = lambda: found.append(1)
    return found


def test_without_choices_quit_ends_at_once(client, ended):
    assert 'action="/quit/end"' in client.get("/try").text
    assert "microagg has ended" in client.post("/quit/end").text
    assert ended == [1]
    assert last_words(client.session) == ""


def test_another_site_cannot_quit(client, ended):
    for origin in ("http://evil.example", "null", None):
        assert client.ask("POST", "/quit/end", b"how=leave", origin=origin).status == 403
    assert ended == []


def test_with_choices_that_are_not_written_it_asks_and_saves_them(client, ended, folder):
    client.post("/try/apply", k="7")
    asked = client.post("/quit/end")
    assert "choices that are not written" in asked.text
    assert "Internal: it may hold counts" in asked.text
    assert "no figures" not in asked.text
    assert ended == []
    refused = client.post("/quit/end", how="save", place="survey.csv")
    assert refused.status == 422
    assert 'id="e-place" role="alert"><bdi>A file of this name exists. Give another name.</bdi>' in refused.text
    assert ended == []
    done = client.post("/quit/end", how="save", place="mine.toml")
    assert ended == [1]
    saved = folder / "mine.toml"
    assert Recipe.read(saved).digest == client.session.recipe.digest
    assert "different values" in saved.read_text()  # why something was guessed
    assert client.session.opened.source.sha256 not in saved.read_text()
    command = last_words(client.session)
    assert f"<code>{command.partition('To continue: ')[2]}</code>" in done.text
    assert shlex.split(command.partition("To continue: ")[2])[-2:] == ["--recipe", str(saved)]
    saved.unlink()


def test_candidates_are_saved_and_gone_on_with(client, ended, folder, tmp_path):
    client.get("/try")
    client.settle()
    client.get("/try")
    client.post("/try/keep", note='for the "committee"')
    client.post("/try/apply", k="7", method__name="vmdav")
    client.post("/try/apply", method__gamma="1.1")
    client.settle()
    client.get("/try")
    client.post("/try/keep")
    client.post("/try/apply", k="9")
    assert "candidates: 2" in client.get("/quit").text
    client.session.folder = tmp_path
    page = client.post("/quit/end", how="stay")
    assert "saved as <bdi>session.toml</bdi>" in page.text
    assert ended == []
    saved, kept = tmp_path / "session.toml", client.session.candidates
    assert client.session.opened.source.sha256 not in saved.read_text()
    assert not client.session.dirty
    assert Recipe.read(saved) == client.session.recipe  # as `microagg mask` reads it
    first, *again = [client.session.recipe, *kept]
    other = Session(tmp_path)
    other.open(str(folder / "survey.csv"), *read_candidates(saved))
    assert other.worker.settle(120)
    assert other.recipe == first
    assert [(one.name, one.note, one.recipe) for one in other.candidates] == [
        (one.name, one.note, one.recipe) for one in again
    ]
    assert len({one.number for one in other.candidates}) == 2
    assert not other.dirty
    other.worker.end()
    client.post("/history", to=0)
    client.post("/columns/load", path="session.toml")
    client.post("/columns/load", path="session.toml")
    assert [one.recipe for one in client.session.candidates] == [one.recipe for one in kept]


def test_candidates_that_a_release_leaves_out_are_asked_for(client, ended, tmp_path):
    client.get("/try")
    client.settle()
    client.post("/try/keep")
    session = client.session
    session.written = (session.recipe, session.candidates)  # as after a release
    assert (session.dirty, session.unsaved) == (False, True)
    assert "The candidates and their notes are in no file: 1." in client.post("/quit/end").text
    session.folder = tmp_path
    assert "microagg has ended" in client.post("/quit/end", how="save").text
    assert [one.recipe for one in read_candidates(tmp_path / "session.toml")[1]] == [session.recipe]
    assert (session.unsaved, len(ended)) == (False, 1)


def test_saving_twice_to_go_on_does_not_end(client, ended, folder):
    client.post("/try/apply", k="7")
    for _ in range(2):
        page = client.post("/quit/end", how="stay", place="stay.toml")
        assert "None of your choices would be lost" in page.text
    assert ended == []
    (folder / "stay.toml").unlink()


def test_what_is_left_on_purpose_is_not_saved(client, ended, folder):
    before = {path.name for path in folder.iterdir()}
    client.post("/try/apply", k="7")
    client.post("/quit/end", how="leave")
    assert ended == [1]
    assert last_words(client.session) == ""
    assert {path.name for path in folder.iterdir()} == before


@pytest.mark.campaign
def test_a_session_goes_on_where_quit_or_ctrl_c_has_ended_it(browser, tmp_path):
    call("datasets", "make", "survey", "-n", 200, "-o", tmp_path / "survey.csv")
    with running(tmp_path, "survey.csv") as app, watched(app, browser) as page:
        page.goto(f"{app.origin}/try")
        page.locator("#k").fill("7")
        contains(page.locator("#line"), "k 7")
        page.locator("#quit").click()
        see(page.get_by_role("heading", name="Quit", exact=True))
        page.locator("#save").click()
        see(page.get_by_role("heading", name="microagg has ended"))
        said, err = app.process.communicate(timeout=20)
        assert (app.process.returncode, err) == (0, "")
    first = words_in(said)
    assert first[:3] == ["microagg", "app", "survey.csv"]
    with running(tmp_path, *first[2:]) as app, watched(app, browser, gone=True) as page:
        contains(page.locator("#line"), "k 7")
        page.goto(f"{app.origin}/try")
        page.locator("#k").fill("8")
        contains(page.locator("#line"), "k 8")
        app.process.send_signal(signal.SIGINT)
        said, err = app.process.communicate(timeout=20)
        assert (app.process.returncode, err) == (130, "")
    second = words_in(said)
    assert second[-1] == str(tmp_path / "recipe_2.toml")
    assert Recipe.read(second[-1]).k == 8


@pytest.mark.campaign
def test_the_page_keeps_up_with_what_another_tab_changes(browser, tmp_path):
    call("datasets", "make", "survey", "-n", 200, "-o", tmp_path / "survey.csv")
    with running(tmp_path, "survey.csv") as app, watched(app, browser) as page:
        other = page.context.new_page()
        other.goto(f"{app.origin}/try")
        other.locator("#k").fill("7")
        contains(other.locator("#line"), "k 7")
        page.goto(f"{app.origin}/quit")
        see(page.locator("#place"))
        with page.expect_response(f"{app.origin}/quit") as seen:
            other.locator("#k").fill("8")
        assert seen.value.status == 200
        see(page.get_by_role("heading", name="Quit", exact=True))


def words_in(said):
    return shlex.split(re.search(r"To continue: (.*?)\s*\Z", said, re.DOTALL)[1])
