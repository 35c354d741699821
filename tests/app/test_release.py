"""The page Release, in process: what is written, what is refused, and that nothing is written by halves."""

import errno
import re
import shutil
from datetime import date
from html import unescape

import pytest

from microagg.app.session import Session
from microagg.jobs import writing
from microagg.judge.words import TWO_RELEASES
from microagg.recipe import Recipe
from tests.app.client import Client
from tests.app.releases import boxes, field, names, sha256, write
from tests.cli import call, complaint
from tests.desk.test_joined import CHOICES, tables

INTERNAL = [f"internal/{name}" for name in ("again.py", "again.sh", "recipe.toml", "report.html", "rows.parquet")]
ALL = [*INTERNAL, *(f"release/{name}" for name in ("recipe.toml", "report_public.html", "survey_masked.csv"))]


def test_a_release_is_written_whole_and_told_of(client, folder, tmp_path):
    source = sha256(folder / "survey.csv")
    page = write(client, tmp_path / "out", output__public=["", "yes"])
    assert names(tmp_path / "out") == ALL
    assert sha256(folder / "survey.csv") == source
    assert source in page.text
    assert sha256(tmp_path / "out" / "release" / "survey_masked.csv") in page.text
    assert str(tmp_path / "out" / "release" / "survey_masked.csv") in page.text
    assert field(page, "a-recipe") == (tmp_path / "out" / "internal" / "recipe.toml").read_text()
    assert field(page, "a-script") == (tmp_path / "out" / "internal" / "again.py").read_text()
    number = re.search(r'href="/report/(\d+)"', page.text)[1]
    assert client.get(f"/report/{number}").text == (tmp_path / "out" / "internal" / "report.html").read_text()
    public = client.get(f"/report/{number}?public=1").text
    assert public == (tmp_path / "out" / "release" / "report_public.html").read_text()
    assert client.get("/report/999").status == 404
    assert not client.session.dirty
    shutil.rmtree(tmp_path / "out")
    assert client.get(f"/report/{number}").status == 404


def test_what_is_shown_of_the_public_report_is_what_is_written(client, tmp_path):
    client.get("/release")
    assert client.get("/public/0").status == 404  # nobody has asked for one
    client.post("/release/apply", output__public=["", "yes"])
    client.settle()
    assert 'href="/public/0"' in client.get("/release").text
    shown = client.get("/public/0").text
    write(client, tmp_path / "out")
    assert shown == (tmp_path / "out" / "release" / "report_public.html").read_text()
    internal = (tmp_path / "out" / "internal" / "report.html").read_text()
    assert "linked to the right record" in internal
    assert "before" in re.sub(r"<style>.*?</style>", "", internal, flags=re.DOTALL)
    assert "linked to the right record" not in shown
    assert not re.search(r'class="[^"]*before|>before<', shown)
    assert client.session.opened.source.sha256 not in shown


def test_everything_to_look_at_must_be_ticked(client, tmp_path):
    client.get("/release")
    client.settle()
    page = client.get("/release")
    all_boxes = boxes(page)
    assert len(all_boxes) > 1
    page = client.post("/release/write", folder=str(tmp_path / "out"), shown=all_boxes, tick=all_boxes[1:])
    assert page.status == 422
    assert "1 box is not ticked" in page.text
    assert not (tmp_path / "out").exists()
    page = client.post("/release/apply", shown=all_boxes, tick=all_boxes[:1])
    assert len(re.findall("<input[^>]* checked", page.text)) == 1  # what was ticked stays so until it is unticked
    page = client.post("/release/apply", output__same_order=["", "yes"], shown=all_boxes, tick=all_boxes)
    client.settle()
    assert len(boxes(client.get("/release"))) == len(all_boxes) + 1  # rows that are not sorted need looking at


def refused(client, folder, **fields):
    """Write, and give the reason why nothing was written."""
    page = write(client, folder, **fields)
    found = re.search(r'id="(?:e-write|refused)"[^>]*>(.*?)</(?:p|div)>', page.text, re.DOTALL)
    assert found, page.text
    assert client.session.releasing.done == []
    return re.sub("<[^>]*>", "", unescape(found[1]))


def test_folders_that_are_not_ours_are_refused(client, folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    why = refused(client, other)
    assert "contains files that are not from an earlier output" in why
    by_command = complaint("mask", folder / "survey.csv", "--yes", "-o", other)
    assert by_command.partition(": ")[2].partition(". ")[0].lower() in why.lower()
    assert names(other) == ["mine.txt"]
    before = names(folder)
    assert "contains files that are not from an earlier output" in refused(client, folder)  # the source's folder
    assert names(folder) == before
    assert "The folder that the output 'out' is to be in does not exist" in refused(client, tmp_path / "none" / "out")
    assert "No folder is named" in refused(client, " ")
    (tmp_path / "file").write_text("")
    assert "is not a folder" in refused(client, tmp_path / "file")
    assert names(tmp_path) == ["file", "other/mine.txt"]


def test_of_two_files_that_were_joined_either_may_have_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people, homes = tables()
    people.to_csv("people.csv", index=False)
    homes.to_csv("homes.csv", index=False)
    client = Client(Session(tmp_path))
    client.session.open("people.csv", None, households="homes.csv", **CHOICES)
    client.settle()
    client.get("/try")
    client.settle()
    lost = client.session.figures().percent
    homes.assign(income=homes["income"].iloc[::-1].to_numpy()).to_csv("homes.csv", index=False)
    assert "was changed on disk after it was read" in refused(client, tmp_path / "out")
    client.post("/release/reread")
    assert client.session.figures() is None  # those were of the former file
    write(client, tmp_path / "out")
    client.get("/try")
    client.settle()
    assert client.session.figures().percent != lost
    client.session.worker.end()
    recipe = ["--recipe", tmp_path / "out" / "internal" / "recipe.toml"]
    assert call("mask", "people.csv", *recipe, "-o", tmp_path / "again").exit_code == 0
    for name in ("release/people_masked.csv", "release/homes_masked.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_a_report_that_was_replaced_is_not_shown_for_the_former_release(client, tmp_path):
    write(client, tmp_path / "out")
    assert client.get("/report/1").status == 200
    client.post("/try/apply", k="7")
    (tmp_path / "x").mkdir()
    page = write(client, tmp_path / "x" / ".." / "out", overwrite=["", "yes"], reason="a larger k")
    assert [one.number for one in client.session.releasing.done] == [1, 2], page.text
    assert client.get("/report/2").status == 200
    assert client.get("/report/1").status == 404
    assert client.get("/report/1?public=1").status == 404
    page = client.get("/release")
    assert page.text.count("replaced since") == 1
    client.post("/try/apply", k="5")
    assert 'id="done"' not in client.get("/release").text


def test_a_former_output_is_replaced_only_where_that_is_asked_for(client, tmp_path):
    write(client, tmp_path / "out", output__public=["", "yes"])
    page = write(client, tmp_path / "out", output__public="")
    assert page.status == 422
    assert "Replace" in page.text or "replace" in page.text
    assert names(tmp_path / "out") == ALL
    page = write(client, tmp_path / "out", output__public="", overwrite=["", "yes"])
    assert names(tmp_path / "out") == [name for name in ALL if name != "release/report_public.html"]
    assert 'id="overwrite" name="overwrite" value="yes">' in page.text  # not ticked for the next one


def test_before_the_last_file_is_written_there_is_no_folder(client, tmp_path, monkeypatch):
    seen = []

    def fails(*_, **__):
        seen.append((tmp_path / "out").exists())
        raise OSError(errno.ENOSPC, "a text of the system with cell 4711")

    monkeypatch.setattr(writing, "write_release", fails)
    why = refused(client, tmp_path / "out")
    assert "No space left on device" in why
    assert "4711" not in why
    assert seen == [False]
    assert names(tmp_path) == []
    monkeypatch.undo()
    write(client, tmp_path / "out")
    assert "internal/report.html" in names(tmp_path / "out")


def test_a_folder_that_cannot_be_written_to_is_refused(client, tmp_path, monkeypatch):
    def fails(**_):
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr("tempfile.mkdtemp", fails)
    assert "no folder can be created in the folder for the output" in refused(client, tmp_path / "out")
    assert names(tmp_path) == []


def test_a_file_that_was_changed_since_is_not_released(tmp_path, folder):
    source = tmp_path / "survey.csv"
    shutil.copy(folder / "survey.csv", source)
    client = Client(Session(tmp_path))
    client.session.open(str(source))
    client.settle()
    with source.open("a") as file:
        file.write(source.read_text().splitlines()[1] + "\n")
    why = refused(client, tmp_path / "out")
    assert "was changed on disk after it was read" in why
    assert "Read it again" in why
    assert names(tmp_path) == ["survey.csv"]
    page = client.post("/release/reread")
    assert "601" in page.text
    assert "changed on disk" not in page.text
    write(client, tmp_path / "out")
    assert client.session.releasing.done[0].written.sha256 == sha256(source)
    client.session.worker.end()


def test_a_second_release_that_differs_needs_a_reason(client, tmp_path):
    write(client, tmp_path / "one")
    assert "Chosen among" not in (tmp_path / "one" / "internal" / "recipe.toml").read_text()
    page = write(client, tmp_path / "again")  # the same once more is no second release
    assert page.status == 200
    assert TWO_RELEASES not in page.text
    client.get("/try")
    client.post("/try/apply", k="7")
    page = write(client, tmp_path / "two")
    assert page.status == 422
    assert TWO_RELEASES in page.text
    assert "Say why" in page.text
    assert not (tmp_path / "two").exists()
    page = write(client, tmp_path / "two", reason="  the first\nhad \x1b a wrong role # see mail ")
    text = (tmp_path / "two" / "internal" / "recipe.toml").read_text()
    assert (
        "# This file was released before. Reason to release it again: the first had a wrong role # see mail\n" in text
    )
    assert Recipe.read(tmp_path / "two" / "internal" / "recipe.toml").k == 7
    assert field(page, "a-recipe") == text
    assert "This file was released before" not in (tmp_path / "one" / "internal" / "recipe.toml").read_text()


def test_a_candidate_is_written_as_it_was_kept_and_never_another(client, tmp_path):
    client.get("/try")
    client.settle()
    client.post("/try/keep", note="")
    first = client.session.candidates[0].number
    client.post("/try/apply", k="9")
    client.get("/try")
    client.settle()
    client.post("/try/keep", note="")
    assert client.session.release[0] == client.session.key()  # the other one is in memory
    page = write(client, tmp_path / "first", f"/release/{first}", output__same_order=["", "yes"])
    assert "mdav, k 5" in page.text
    recipe = Recipe.read(tmp_path / "first" / "internal" / "recipe.toml")
    assert (recipe.k, recipe.output.same_order) == (5, True)
    assert (
        f"# Chosen among 2 on {date.today().isoformat()}.\n"
        in (tmp_path / "first" / "internal" / "recipe.toml").read_text()
    )
    assert client.session.recipe.k == 9
    write(client, tmp_path / "second", reason="asked for")
    assert Recipe.read(tmp_path / "second" / "internal" / "recipe.toml").k == 9
    assert client.get("/release/99").status == 404
    client.post("/try/forget", candidate=first)
    assert client.get(f"/release/{first}").status == 404


@pytest.mark.parametrize(
    "fields", [{"output__kind": "parquet"}, {"output__kind": "stata", "output__same_order": "yes"}]
)
def test_the_kind_of_the_file_can_be_chosen(client, tmp_path, fields):
    write(client, tmp_path / "out", **fields)
    ends = {"parquet": ".parquet", "stata": ".dta"}
    assert f"release/survey_masked{ends[fields['output__kind']]}" in names(tmp_path / "out")


def test_what_does_not_go_together_is_said_at_its_field(client, tmp_path):
    page = write(client, tmp_path / "out", output__kind="parquet", output__excel_safe=["", "yes"])
    assert page.status == 422
    found = re.search(r'id="e-output.excel_safe"[^>]*>(.*?)</p>', page.text)
    assert "works only with text files" in unescape(found[1])
    assert not (tmp_path / "out").exists()


def test_means_that_could_be_undone_are_not_written(client, tmp_path):
    client.post("/try/apply", masking__rounding="none", masking__moments="variance")
    client.settle()
    page = write(client, tmp_path / "out")
    assert "from more digits the values of members can be computed." in unescape(page.text)
    assert not (tmp_path / "out").exists()


def test_what_takes_its_time_is_begun_only_when_somebody_asks(client, tmp_path, monkeypatch):
    monkeypatch.setattr("microagg.app.pages.release.AT_ONCE", 0.0)
    page = client.get("/release")
    assert "Make the checklist" in page.text
    assert client.session.worker.idle
    page = client.post("/release/write", folder=str(tmp_path / "out"))
    assert "The checklist is not made yet" in page.text
    page = client.post("/release/prepare")
    assert boxes(page)
    write(client, tmp_path / "out")
    assert "internal/report.html" in names(tmp_path / "out")


def test_writing_can_be_cancelled_and_leaves_nothing(client, tmp_path, monkeypatch):
    real = writing.write_report

    def cancelled(*given, **more):
        client.session.cancel()
        return real(*given, **more)

    monkeypatch.setattr(writing, "write_report", cancelled)
    page = write(client, tmp_path / "out")
    assert "Cancelled. Nothing was changed." in page.text
    assert names(tmp_path) == []
    assert client.session.releasing.done == []


def test_a_recipe_that_cannot_be_followed_says_why(client, tmp_path):
    client.post("/try/apply", k="300")
    page = write(client, tmp_path / "out")
    assert page.status == 422
    assert "strata by &#39;region&#39;" in page.text
    assert not (tmp_path / "out").exists()


def test_a_form_of_a_former_state_writes_nothing(client, tmp_path):
    ticks = boxes(client.get("/release"))
    stale = client.number
    client.post("/try/apply", k="6")
    page = client.post("/release/write", number=stale, folder=str(tmp_path / "out"), shown=ticks, tick=ticks)
    assert page.status == 409
    assert not (tmp_path / "out").exists()


def test_without_a_column_to_mask_there_is_nothing_to_release(client):
    rows = [
        i
        for i, name in enumerate(client.session.columns)
        if name in client.session.recipe.masked(client.session.columns)
    ]
    client.post("/columns/bulk", row=rows, role="drop")
    assert "No column is left to mask" in client.get("/release").text
    assert client.post("/release/write", folder="x").status == 404


def test_the_folder_of_the_command_line_is_filled_in(folder, tmp_path):
    session = Session(folder, output=tmp_path / "there")
    client = Client(session)
    session.open(str(folder / "survey.csv"))
    client.settle()
    assert f'value="{tmp_path / "there"}"' in client.get("/release").text
    session.worker.end()
