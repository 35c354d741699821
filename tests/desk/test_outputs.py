"""What may go out stands apart from what is internal, and the internal folder tells which row is which."""

import json
import pickle
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import microagg as ma
from microagg.checks import check_absent
from microagg.errors import InvalidData, InvalidParameter
from microagg.jobs.outputs import RowOrigin, check_output, earlier_releases, origin_of, read_origin
from microagg.jobs.tables import sorted_order
from tests.cli import call, complaint, files_in

ROLES = ("--quasi", "age,wage,income", "--keep", "weight", "--rest", "drop", "-k", 4)


@pytest.fixture(autouse=True)
def survey(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = ma.datasets.survey(300, seed=0)
    ma.write(table, "survey.csv")
    return table


def told(*words):
    return json.loads(call(*words, "--json").stdout)


def test_the_internal_folder_tells_which_row_is_which(survey):
    call("mask", "survey.csv", *ROLES)
    found = read_origin(Path("out/internal/rows.parquet"))
    weights = ma.read("out/release/survey_masked.csv").typed()["weight"]
    assert weights.to_pylist() == survey["weight"].take(pa.array(found.rows)).to_pylist()
    assert not (found.rows == range(300)).all()
    assert (found.source, found.records) == ("survey.csv", 300)


def test_sorted_rows_are_judged_as_rows_in_order():
    call("mask", "survey.csv", *ROLES, "-o", "sorted")
    call("mask", "survey.csv", *ROLES, "-o", "ordered", "--same-order")
    both = [f"{folder}/release/survey_masked.csv" for folder in ("sorted", "ordered")]
    assert Path(both[0]).read_bytes() != Path(both[1]).read_bytes()
    first, second = (told("assess", "survey.csv", masked) for masked in both)
    assert first == second
    assert first["information_loss_percent"] > 0


@pytest.mark.parametrize(
    "words", [("--missing", "drop"), ("--unit", "home", "--unit-release", "pseudonym", "--small-units", "suppress")]
)
def test_rows_that_were_left_out_or_moved_with_their_household_are_found(words):
    lines = ["home,age,wage,tag"]
    for i in range(300):
        lines.append(f"{i // 3},{'' if i % 60 == 7 else 20 + i % 50},{100 * (i % 37)},t{i}")
    Path("people.csv").write_text("\n".join(lines) + "\n")
    roles = ("--quasi", "age,wage", "--keep", "tag", "--rest", "drop", "-k", 3)
    facts = told("mask", "people.csv", *roles, *words)
    rows = read_origin(Path(facts["rows"])).rows
    assert ma.read(facts["masked"]).table["tag"].to_pylist() == [f"t{i}" for i in rows]
    if "drop" in words:
        assert len(rows) == 295
    judged = told("assess", "people.csv", facts["masked"], "--columns", "age,wage")
    assert judged["information_loss_percent"] > 0


def test_a_file_that_is_not_as_it_was_is_not_matched():
    call("mask", "survey.csv", *ROLES)
    masked, lines = Path("out/release/survey_masked.csv"), Path("survey.csv").read_text().splitlines()
    assert origin_of(str(masked), None) is not None
    Path("survey.csv").write_text("\n".join(lines[:-1]) + "\n")
    assert "is not the file that 'survey_masked.csv' was made from" in complaint("assess", "survey.csv", masked)
    Path("survey.csv").write_text("\n".join(lines) + "\n")
    whole = read_origin(Path("out/internal/rows.parquet"))
    for rows in (whole.rows[:-1], whole.rows * 0, whole.rows - 1, whole.rows + 1):
        replace(whole, rows=rows).write(Path("out/internal/rows.parquet"))
        assert "'rows.parquet', which says which row of" in complaint("assess", "survey.csv", masked)
    whole.write(Path("out/internal/rows.parquet"))
    masked.write_text(masked.read_text().replace("4", "5", 1))
    assert origin_of(str(masked), None) is None
    Path("out/internal/rows.parquet").write_text("no Parquet")
    assert read_origin(Path("out/internal/rows.parquet")) is None


def test_the_recipe_for_everybody_tells_nothing_of_what_is_not_released():
    call("inspect", "survey.csv", "-k", 4)
    text = Path("recipe.toml").read_text()
    assert re.search(r"# .*\d+ different values", text)  # reasons that count
    text += '\n[recode]\nage = {top = 77}\n\n[missing]\ncodes = {wage = [-9]}\n\n[[relation]]\nholds = "wage >= 0"\n'
    Path("recipe.toml").write_text(text.replace('nominal = "mode"', 'nominal = "draw"\nnominal_seed = 4711'))
    call("mask", "survey.csv", "--recipe", "recipe.toml", "--keys", "age")
    internal, public = (Path(f"out/{place}/recipe.toml").read_text() for place in ("internal", "release"))
    for secret in ('"person"', "77", "-9", "4711", "different values", "wage >= 0", "keys"):
        assert secret in internal
        assert secret not in public, secret
    recipe = ma.Recipe.parse(public)
    assert (recipe.k, recipe.masking.nominal) == (4, "draw")
    assert recipe.roles.quasi == ma.Recipe.parse(internal).roles.quasi
    assert "Internal" not in public


def test_an_earlier_release_of_the_same_file_is_told_of(tmp_path):
    warned = "holds another release of the same file"
    assert not any(warned in line for line in told("mask", "survey.csv", *ROLES, "-o", "one")["warnings"])
    again = told("mask", "survey.csv", "--recipe", "one/internal/recipe.toml", "-o", "one_again")
    assert not any(warned in line for line in again["warnings"])  # it is the same release
    shutil.rmtree("one_again")
    line = next(line for line in told("mask", "survey.csv", *ROLES, "-k", 5, "-o", "two")["warnings"] if warned in line)
    assert line.startswith("beside the output, 'one' holds")
    assert f"Warning: {line}" in call("mask", "survey.csv", *ROLES, "-k", 5, "-o", "two", "--force").stdout
    ma.write(ma.datasets.survey(300, seed=1), "other.csv")
    assert not any(warned in line for line in told("mask", "other.csv", *ROLES, "-o", "three")["warnings"])
    beyond = ("--engine", "disk", "--same-order", "-o", "four")
    assert any("'one', 'two' hold other" in line for line in told("mask", "survey.csv", *ROLES, *beyond)["warnings"])
    own = RowOrigin("survey.csv", None, 300, None)
    assert earlier_releases(tmp_path / "five", own) == ["four", "one", "two"]


def test_beyond_memory_the_order_of_rows_must_be_accepted():
    said = complaint("mask", "survey.csv", *ROLES, "--engine", "disk")
    assert "a file larger than memory is not sorted" in said
    assert "--same-order" in said
    assert not Path("out").exists()


def test_values_that_arrow_has_no_order_of_are_sorted_too():
    table = pa.table({"a": [1, 1, 1, 0], "b": [[2, 3], [1], None, [9]]})
    intervals = pa.array([(1, 2, 3), (0, 1, 0), None, (5, 0, 0)], pa.month_day_nano_interval())
    table = table.append_column("c", intervals)
    moved = table.take([2, 0, 3, 1])
    first, second = (one.take(pa.array(sorted_order(one))) for one in (table, moved))
    assert first.equals(second)


def test_several_sorted_releases_are_judged_as_those_in_order(survey):
    for k in (3, 4):
        call("mask", "survey.csv", *ROLES, "-k", k, "-o", f"k{k}")
    masked = [f"k{k}/release/survey_masked.csv" for k in (3, 4)]
    columns = ["age", "wage", "income"]
    releases = [ma.protect(survey.select(columns), k) for k in (3, 4)]
    expected = ma.joint_disclosure(survey.select(columns), [one.data for one in releases])
    found = told("assess", "survey.csv", *masked, "--columns", ",".join(columns))
    assert found["singled_out"] == expected.singled_out
    assert found["solved"] == expected.solved


def test_a_folder_in_the_former_manner_is_not_replaced():
    Path("out").mkdir()
    Path("out/report.html").write_text("former")
    assert "contains files that are not from an earlier output" in complaint("mask", "survey.csv", *ROLES, "--force")
    assert files_in("out") == ["report.html"]


def test_a_release_that_was_stored_knows_no_rows(survey):
    release = ma.protect(survey.select(["age", "wage"]), 3)
    assert release.rows.tolist() == list(range(300))
    stored = pickle.loads(pickle.dumps(release))
    with pytest.raises(InvalidData, match="does not know which records"):
        _ = stored.rows


def test_the_folder_you_are_in_is_named():
    Path("other.txt").write_text("")
    with pytest.raises(InvalidParameter, match=r"the output '\.' contains files that are not from an earlier output"):
        check_output(Path(), "f.csv", None, overwrite=False)
    with pytest.raises(InvalidParameter, match=r"the output '\.' exists"):
        check_absent(Path(), "the output", overwrite=False)
