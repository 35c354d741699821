"""l and t on the command line: what masking says of them, what assess finds, and what is compared."""

import json

import pyarrow.csv
import pytest
from typer.testing import CliRunner

import microagg as ma
from microagg.cli import app

ROLES = ["--quasi", "sex,age,hours", "--confidential", "diagnosis,income", "--rest", "drop"]
DEMAND = ["--l", "2", "--l-columns", "diagnosis", "--t", "0.5", "--t-columns", "income"]


def run(*words):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == 0, f"{result.stderr}{result.exception!r}"
    return result


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(ma.datasets.households(300, seed=0), "file.csv")
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_masking_tells_the_promise_and_what_it_cost_and_assess_finds_it_kept():
    said = run("mask", "file.csv", "-k", 4, *ROLES, *DEMAND).stdout
    (line,) = [line for line in said.splitlines() if line.startswith("Confidential columns: ")]
    assert "l = 2 of diagnosis (" in line
    assert "t = 0.5 of income (" in line
    assert "% without that and" in line
    found = run("assess", "file.csv", "out/release/file_masked.csv", "--recipe", "out/internal/recipe.toml").stdout
    assert "l = 2 of 'diagnosis': kept" in found
    assert "t = 0.5 of 'income': kept" in found
    facts = json.loads(run("mask", "file.csv", "--recipe", "out/internal/recipe.toml", "-o", "again", "--json").stdout)
    assert facts["demanded"]["diagnosis"]["l"]["asked"] == 2
    assert facts["diversity"] in line


@pytest.mark.usefixtures("folder")
def test_levels_are_compared():
    chosen = ["--methods", "mdav", "-k", "4", "--ls", "1,2", "--ts", "0.6", "--l-columns", "diagnosis"]
    refused = CliRunner().invoke(app, ["compare", "file.csv", *chosen[:6], "--ts", "2", *ROLES])
    assert getattr(refused.exception, "parameter", None) == "ts"
    result = run("compare", "file.csv", *chosen[:-2], *ROLES[:3], "diagnosis", *ROLES[4:], "--json")
    facts = json.loads(result.stdout)
    assert [(one["l"], one["t"]) for one in facts["candidates"]] == [(None, 0.6), (2, 0.6)]
    assert facts["best"]["t"] == 0.6
    assert "mdav l=2 t=0.6" in result.stderr


def test_the_options_stand_under_what_a_group_may_give_away():
    said = run("mask", "--help").stdout
    assert "What a group may give away" in said
    assert "How many different values each confidential column" in " ".join(said.replace("│", " ").split())
