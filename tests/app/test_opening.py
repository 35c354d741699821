"""The page Open, and reading a file: what cannot be read, what does not fit into memory, and what was guessed."""

import html
import re
import shlex
import shutil
import time

import pytest

from microagg.files.formats import apart as _apart
from microagg.jobs import masking, memory, opening
from microagg.recipe import Recipe
from tests.app.client import text_of
from tests.cli import call
from tests.io.tables import write_bytes, write_crashing


def test_without_a_file_every_step_leads_to_open(empty):
    for path in ("/", "/try"):
        assert empty.ask("GET", path).headers["location"] == "/open"
    page = empty.get("/open")
    assert "survey.csv" in page.text
    assert "Make a survey to try it on" in page.text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"path": "nowhere.csv"}, "There is no such file"),
        ({"path": "postgresql://me:secret@host/db?table=t"}, "To open a database, start microagg with its address"),
        ({}, "Choose a file, or type its path."),
    ],
)
def test_what_cannot_be_opened_is_refused_at_its_field(empty, fields, words):
    answer = empty.post("/open/read", **fields)
    assert answer.status == 422
    assert words in text_of(answer)
    assert "secret" not in answer.text


def test_a_file_is_picked_from_the_list_by_its_place(empty, folder):
    files = sorted(path.name for path in folder.iterdir() if path.suffix == ".csv")
    page = empty.post("/open/read", file=files.index("survey.csv"))
    assert "<h1>Columns</h1>" in page.text
    assert empty.session.opened.source.name == "survey.csv"


def test_a_file_that_is_read_wrongly_says_why_and_can_be_read_differently(empty, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("1;2,5\n3;4,5\n5;6,5\n7;8,5\n" * 10)
    empty.session.folder = tmp_path
    page = empty.post("/open/read", path="one.csv")
    assert empty.session.opened is None
    assert "header" in text_of(page)
    assert 'name="read.header"' in page.text
    page = empty.post("/open/read", path="one.csv", read__header="no")
    assert len(empty.session.columns) == 2


def test_a_damaged_file_that_crashes_its_reader_is_refused_and_the_app_goes_on(empty, tmp_path):
    pytest.importorskip("pyreadstat")
    empty.session.folder = write_crashing(tmp_path / "in.zsav").parent
    page = empty.post("/open/read", path="in.zsav")
    assert "cannot be read as a file of SPSS" in text_of(page)
    assert empty.session.opened is None
    (tmp_path / "next.csv").write_text("age,wage\n" + "31,5.5\n42,6.5\n" * 10)
    assert "<h1>Columns</h1>" in empty.post("/open/read", path="next.csv").text


def test_reading_a_file_of_a_statistics_package_can_be_cancelled(empty, tmp_path, monkeypatch):
    pytest.importorskip("pyreadstat")
    _apart.end_idle()
    monkeypatch.setattr(_apart, "_CHILD", "import time\ntime.sleep(600)")
    empty.session.open(str(write_bytes(tmp_path / "slow.sav", b"")))
    worker = empty.session.worker
    while worker.job is None:
        time.sleep(0.01)
    worker.cancel()
    assert worker.settle(60)
    assert worker.said == "Cancelled. Nothing was changed."


def test_the_password_of_a_database_that_cannot_be_read_is_not_shown(empty):
    for address in ("postgresql://me:cell-4711@127.0.0.1:1/db?table=t", "mysql://me:cell-4711@127.0.0.1:1/db"):
        empty.session.open(address)
        empty.settle()
        page = empty.get("/open")
        assert 'role="alert" id="e-path"' in page.text
        assert "cell-4711" not in page.text


def test_a_file_beyond_memory_is_not_read_and_is_masked_on_disk_by_the_command(empty, folder, tmp_path, monkeypatch):
    empty.session.folder = tmp_path
    shutil.copy(folder / "survey.csv", tmp_path / "large.csv")
    monkeypatch.setattr(memory, "free_memory", lambda: 200_000)
    monkeypatch.setattr(memory, "_LOOKED_AT", 400)
    page = empty.post("/open/read", path="large.csv")
    assert empty.session.opened is None
    said = "would need about 1.0 MB of memory (600 records × 13 columns, 10 of them to mask), and 0.2 MB are free"
    assert said in text_of(page)
    assert "That writes a report as well" in text_of(page)
    assert [path.name for path in tmp_path.iterdir()] == ["large.csv"]
    assert empty.post("/open/recipe", place="large.csv").status == 422
    page = empty.post("/open/recipe", place="mine.toml")
    words = shlex.split(html.unescape(re.search(r"<textarea[^>]*>([^<]*)<", page.text)[1]))
    assert words[-3:] == ["--engine", "disk", "--same-order"]
    words[words.index("-o") + 1] = str(tmp_path / "out")
    assert call(*words[1:]).exit_code == 0
    assert len((tmp_path / "out" / "release" / "large_masked.csv").read_text().splitlines()) == 601
    empty.post("/open/anyway")
    assert empty.session.inspection.records == 600


def test_memory_that_is_short_after_all_is_told_alike(client, empty, monkeypatch):
    def short(*_, **__):
        raise MemoryError

    monkeypatch.setattr(masking, "mask", short)
    client.post("/try/apply", run=1)
    client.settle()
    assert "Mask it on disk" in text_of(client.get("/try"))
    assert "--engine disk --same-order</textarea>" in client.get("/open").text
    monkeypatch.setattr(opening, "open_source", short)
    page = empty.post("/open/read", path="survey.csv")
    assert "does not fit into memory" in text_of(page)


def test_only_what_can_be_masked_on_disk_is_offered_to_be(client, folder, monkeypatch):
    def short(*_, **__):
        raise MemoryError

    call("datasets", "make", "survey", "-n", 600, "-o", folder / "survey.feather")
    client.session.open(str(folder / "survey.feather"))
    client.settle()
    monkeypatch.setattr(masking, "mask", short)
    client.post("/try/apply", run=1)
    client.settle()
    page = client.get("/open").text
    assert "Only a single file of Parquet or text can be masked on disk" in page
    assert 'id="disk-command"' not in page
    (folder / "survey.feather").unlink()


def test_a_survey_is_made_to_try_it_on(empty, tmp_path):
    empty.session.folder = tmp_path
    empty.post("/open/make")
    empty.settle()
    assert (tmp_path / "survey.csv").exists()
    assert "<h1>Columns</h1>" in empty.get("/").text


def test_reading_differently_is_undone_by_reading_again(client):
    first = client.session.recipe
    client.post("/columns/read", read__delimiter=";")
    assert len(client.session.columns) == 1 or client.session.refused is not None
    client.get("/")
    client.post("/columns/read", read__delimiter=",", read__encoding="utf-8")
    client.settle()
    assert len(client.session.columns) == 13
    while client.session.history.at:
        client.get("/")
        client.post("/history", to=client.session.history.at - 1)
    client.settle()
    assert client.session.recipe == first
    assert client.session.ready
    assert len(client.session.columns) == 13


def test_a_guess_of_the_decimal_mark_is_told_and_the_other_reading_is_a_button(empty, tmp_path):
    rows = [f"{i % 90 + 10}.{700 + i};{i % 9};Zo\xeb" for i in range(60)]
    (tmp_path / "points.csv").write_bytes("\n".join(["wage;grade;name", *rows]).encode("cp1252"))
    empty.session.open(str(tmp_path / "points.csv"), Recipe(3).replace(quasi=["wage", "grade"], drop=["name"]))
    empty.settle()

    def decimal(button):
        return re.search(rf'id="{button}" name="read.decimal" value="(.)"', empty.get("/").text)[1]

    page = empty.get("/")
    said = "A point was read as the mark of thousands in 1 column: a guess. It could be the decimal mark."
    assert said in text_of(page)
    assert "The encoding was taken for cp1252: a guess" in text_of(page)
    assert "10.700" not in page.text
    assert "encoding “cp1252” (a guess)" in text_of(page)
    assert "pass decimal" not in page.text  # said to who programs
    page = empty.post("/columns/read", read__decimal=decimal("read-0"))
    assert empty.session.opened.source.typed(["wage"])["wage"][0].as_py() == 10.7
    assert "read differently: decimal mark as usual → ." in text_of(page)
    assert "in 1 column: a guess" not in text_of(page)
    empty.post("/history", to=0)
    empty.settle()
    assert said in text_of(empty.get("/"))
    empty.post("/columns/read", read__decimal=decimal("right-0"))
    assert empty.session.opened.source.typed(["wage"])["wage"][0].as_py() == 10700
    assert [guess.other for guess in empty.session.guesses] == [""]


def test_a_recipe_of_another_file_lists_what_differs(empty, tmp_path):
    rows = [f"{20 + i % 50},{'baker' if i % 2 else 'nurse'},{1000 + 7 * i}" for i in range(60)]
    (tmp_path / "now.csv").write_text("\n".join(["age,job,wage", *rows]))
    (tmp_path / "next.csv").write_text("\n".join(["age,job,wage", *(row.replace("nurse", "smith") for row in rows)]))
    empty.session.folder = tmp_path
    call("inspect", tmp_path / "now.csv", "-k", 3, "-o", tmp_path / "recipe.toml")
    assert 'id="differences"' not in empty.post("/open/read", path="next.csv").text
    page = empty.post("/columns/load", recipe="recipe.toml")
    said = "~ column 'job': 1 category is new and 1 category is gone."
    assert f"The recipe was written for another file. Check that every choice still fits. {said}" in text_of(page)
    assert "smith" not in page.text
    empty.session.open(str(tmp_path / "next.csv"), Recipe.read(tmp_path / "recipe.toml"))
    empty.settle()
    assert said in text_of(empty.get("/"))
    assert [str(one) for one in empty.session.opened.differences] == [said]
    assert "another file" in text_of(empty.get("/release"))
    empty.session.open(str(tmp_path / "now.csv"), Recipe.read(tmp_path / "recipe.toml"))
    empty.settle()
    assert 'id="differences"' not in empty.get("/").text


def test_a_recipe_whose_rule_does_not_fit_the_file_is_refused(empty, tmp_path):
    lines = ["age,wage", *(f"{20 + i % 50},{1000 + 7 * i}" for i in range(60))]
    (tmp_path / "now.csv").write_text("\n".join(lines))
    (tmp_path / "next.csv").write_text("\n".join([lines[0], *(f"{line}000" for line in lines[1:])]))
    recipe = Recipe.of(k=3, quasi=["age", "wage"], recode={"wage": {"top": 1300}})
    recipe.with_profile(opening.read_file(str(tmp_path / "now.csv"))).write(tmp_path / "recipe.toml")
    empty.session.folder = tmp_path
    empty.session.open(str(tmp_path / "next.csv"), Recipe.read(tmp_path / "recipe.toml"))
    empty.settle()
    assert "Column 'wage': its numbers are about 1000 times as large" in empty.session.refused.text
    assert empty.session.opened is None
