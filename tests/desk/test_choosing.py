"""What a recipe remarks of how it was chosen, and scripts that do a run again."""

import subprocess
from datetime import date

import pytest

import microagg as ma
from microagg.jobs.again import program, shell
from microagg.jobs.facts import to_tick
from microagg.jobs.writing import households_name, masked_name, one_line, with_remarks
from microagg.recipe import Recipe

DAY = date(2026, 11, 16)


def test_remarks_stand_on_top_and_take_the_place_of_former_ones(tmp_path):
    (tmp_path / "mine.toml").write_text("# agreed with the board\n\nk = 4\n")
    first = with_remarks(Recipe.read(tmp_path / "mine.toml"), DAY, among=12, reason="")
    assert first.comments.title == ("agreed with the board", "Chosen among 12 on 2026-11-16.")
    first.write(tmp_path / "first.toml", made_for="a.csv")
    read = Recipe.read(tmp_path / "first.toml")
    assert read.text("a.csv") == (tmp_path / "first.toml").read_text()
    second = with_remarks(read, DAY, among=1, reason="new roles")
    assert second.text().count("Chosen among") == 0
    assert (
        "\n# agreed with the board\n# This file was released before. Reason to release it again: new roles\n"
        in second.text()
    )
    assert second == first  # remarks are no choices


@pytest.mark.parametrize("typed", ["a\nb", "a\x00b", " a \t\x1b b ", "a\u2028b", "a\u202eb"])
def test_a_reason_is_one_line_that_a_recipe_can_hold(typed, tmp_path):
    assert one_line(typed) == "a b"
    with_remarks(Recipe(3), DAY, reason=typed).write(tmp_path / "r.toml")
    assert Recipe.read(tmp_path / "r.toml") == Recipe(3)


def test_a_reason_of_blanks_is_none():
    assert with_remarks(Recipe(3), DAY, reason=" \n ").comments.title == ()
    assert len(one_line("x" * 9999)) == 500


@pytest.mark.parametrize(
    ("address", "kind", "name"),
    [
        ("a.csv", None, "a_masked.csv"),
        ("a.tsv", "csv", "a_masked.tsv"),
        ("a.csv.gz", "csv", "a_masked.csv.gz"),
        ("a.csv.gz", "parquet", "a_masked.parquet"),
        ("a.sas7bdat", None, "a_masked.csv"),
        ("a.sas7bdat", "stata", "a_masked.dta"),
        ("a.sav", "csv", "a_masked.csv"),
        ("duckdb:///x.db?table=t", "csv", "masked.csv"),
    ],
)
def test_the_masked_file_is_named_by_its_kind(address, kind, name):
    assert masked_name(address, kind) == name
    assert households_name(address, address, kind) == f"households_{name}"


def test_scripts_start_where_a_recipe_names_a_file_from(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recipe = ma.Recipe(3, join=ma.recipe.Join(households="h.csv"))
    assert f"cd -- {tmp_path}" in shell("a b.csv", recipe)
    assert f"os.chdir({str(tmp_path)!r})" in program("a b.csv", recipe)
    for text in (shell("a b.csv", Recipe(3)), program("a b.csv", Recipe(3))):
        assert str(tmp_path / "a b.csv") in text
        assert "cd --" not in text.replace("$(CDPATH= cd --", "")
        assert "chdir" not in text
    compile(program("a 'b\\.csv", recipe), "again.py", "exec")
    (tmp_path / "again.sh").write_text(shell("a 'b\\.csv", recipe))
    subprocess.run(["sh", "-n", "again.sh"], check=True)


def test_what_is_written_again_shows_no_password():
    address = "postgresql://ann:secret@host/db?table=t"
    for text in (shell(address, Recipe(3)), program(address, Recipe(3))):
        assert "secret" not in text
        assert "host" in text


def test_what_must_be_looked_at_is_told_once_and_nothing_of_it_is_left_out():
    release = ma.protect(
        ma.datasets.survey(300, seed=0), k=3, quasi=["age", "income"], keep=["wage", "person"], rest="drop"
    )
    model = release.report_model()
    listed, rest = to_tick(model)
    topics = [one.topic for one in listed]
    assert len({(one.topic, one.text) for one in listed}) == len(listed)
    assert {one.topic for one in model.verdict.findings if one.state != "note"} <= {*topics}
    assert {one.topic for one in model.checklist} <= {*topics, *(one.topic for one in rest)}
    assert topics.count("row order") == 1
    assert {one.state for one in rest} <= {"good", "note"}
