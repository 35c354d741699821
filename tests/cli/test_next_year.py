"""The same recipe on next year's file: compared before any work, in memory and beyond it."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from typer.testing import CliRunner

import microagg as ma
from microagg.cli import app
from microagg.errors import RoleError
from tests.cli import call, complaint, files_in

NAMES = ["person", "region", "weight", "age", "income", "tax"]
ENGINES = {"memory": (), "disk": ("--engine", "disk", "--same-order"), "dask": ("--engine", "dask", "--same-order")}
EACH = ["memory", "disk", pytest.param("dask", marks=pytest.mark.campaign)]


def survey(seed):
    return ma.datasets.survey(300, seed=seed).select(NAMES)


def put(table, name, values):
    return table.set_column(table.column_names.index(name), name, pa.chunked_array([values]))


@pytest.fixture
def _recipe(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ma.write(survey(0), "now.csv")
    call("inspect", "now.csv", "-k", 3, "--strata", "region")
    assert "\n[profile]  # what the file was like" in Path("recipe.toml").read_text()
    changed = survey(1)
    regions = changed["region"].to_pylist()
    ma.write(put(changed, "region", ["Atlantis"] * 9 + regions[9:]), "next.csv")


def with_rule(rule):
    """Add a rule for the income to the recipe."""
    path = Path("recipe.toml")
    path.write_text(path.read_text().replace("\n[method]", f"\n[recode]\nincome = {rule}\n\n[method]", 1))


@pytest.mark.usefixtures("_recipe")
@pytest.mark.parametrize("engine", EACH)
def test_a_difference_stands_in_the_terminal_the_report_and_json(engine):
    result = call("mask", "next.csv", "--recipe", "recipe.toml", "--json", *ENGINES[engine])
    said = "~ column 'region': 1 category is new."
    assert f"Compared with the file that the recipe was written for:\n{said}" in result.stderr
    assert f"Warning: the recipe was written for another file: {said}" in result.stderr
    found = json.loads(result.stdout)
    assert found["differences"] == [{"sign": "~", "column": "region", "text": "1 category is new."}]
    assert f"the recipe was written for another file: {said}" in found["warnings"]
    page = Path("out/internal/report.html").read_text(encoding="utf-8")
    assert "The recipe was written for another file. Differences: ~ column &#39;region&#39;: 1 category is new." in page
    for name in files_in("out/release"):
        assert "written for another file" not in Path("out/release", name).read_text(encoding="utf-8")
        assert "[profile]" not in Path("out/release", name).read_text(encoding="utf-8")
    assert "Atlantis" not in result.stderr
    # What is left is a recipe for this file: used again on it, nothing differs, and the bytes are the same.
    masked = {name: Path("out/release", name).read_bytes() for name in files_in("out/release")}
    left = Path("out/internal/recipe.toml").read_text()
    call("mask", "next.csv", "--recipe", "out/internal/recipe.toml", "-o", "again", *ENGINES[engine])
    assert {name: Path("again/release", name).read_bytes() for name in files_in("again/release")} == masked
    assert Path("again/internal/recipe.toml").read_text() == left
    assert "Compared" not in call("compare", "next.csv", "--recipe", "out/internal/recipe.toml", "-k", 3).stderr


@pytest.mark.usefixtures("_recipe")
@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_the_file_that_the_recipe_was_written_for_does_not_differ(engine):
    result = call("mask", "now.csv", "--recipe", "recipe.toml", "--json", *ENGINES[engine])
    assert "Compared" not in result.stderr
    assert json.loads(result.stdout)["differences"] == []


@pytest.mark.usefixtures("_recipe")
def test_another_scale_of_a_top_code_is_refused_before_any_work():
    with_rule("{top = 90000}")
    ma.write(
        put(survey(1), "income", pc.divide(survey(1)["income"].cast("float64"), 1000).to_pylist()),
        "next.csv",
        overwrite=True,
    )
    said = complaint("mask", "next.csv", "--recipe", "recipe.toml")
    assert "Column 'income': its numbers are about 1000 times smaller. The rule in [recode] was written for" in said
    assert "Adapt its limits and classes in [recode]" in said
    assert not Path("out").exists()


@pytest.mark.usefixtures("_recipe")
@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_numbers_that_became_text_are_refused_before_any_work(engine):
    ma.write(put(survey(1), "tax", [f"{tax} EUR" for tax in survey(1)["tax"].to_pylist()]), "next.csv", overwrite=True)
    said = complaint("mask", "next.csv", "--recipe", "recipe.toml", *ENGINES[engine])
    assert "Column 'tax': it holds text, and held numbers. Write it as numbers, as before." in said
    assert not Path("out").exists()


@pytest.mark.usefixtures("_recipe")
def test_columns_that_came_and_went_are_all_listed_and_refused():
    ma.write(
        survey(1).rename_columns([*NAMES[:-1], "duty"]).append_column("club", survey(1)["age"]),
        "next.csv",
        overwrite=True,
    )
    result = CliRunner().invoke(app, ["mask", "next.csv", "--recipe", "recipe.toml"])
    assert isinstance(result.exception, RoleError)
    for line in (
        "+ column 'duty': it is new, and the recipe gives it no role.",
        "+ column 'club': it is new, and the recipe gives it no role.",
        "- column 'tax': it is gone, and the recipe names it in quasi.",
    ):
        assert line in result.stderr.splitlines()
    assert "column 'tax' in quasi is not in the file" in complaint("mask", "next.csv", "--recipe", "recipe.toml")


@pytest.mark.usefixtures("_recipe")
def test_an_older_recipe_is_read_as_before():
    path = Path("recipe.toml")
    path.write_text(path.read_text().partition("\n[profile]")[0])
    result = call("mask", "next.csv", "--recipe", "recipe.toml", "--json")
    assert "Compared" not in result.stderr
    assert json.loads(result.stdout)["differences"] == []
