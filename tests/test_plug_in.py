"""A partitioner that is entered in one place shows up wherever methods do, with its own words."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

import microagg as ma
from microagg.algorithms.methods import METHODS, Method
from microagg.algorithms.scores import standard_scores
from microagg.cli._program import make_program
from microagg.errors import InvalidParameter
from microagg.recipe import Recipe, choices, options_of

TABLE = ma.datasets.survey(200, seed=0).select(["age", "income", "tax"])
WORDS = {"start": "low or high: the end of the first column to begin at", "stretch": "how far a group may reach"}


def in_order(X, k, *, start="low", stretch=1.5, progress=None):  # noqa: ARG001
    """Group records that follow each other in the first column."""
    if start not in ("low", "high"):
        raise InvalidParameter(f"start={start!r} is not known. Pass 'low' or 'high'.", parameter="start")
    order = np.argsort(X[:, 0] if start == "low" else -X[:, 0], kind="stable")
    labels = np.empty(len(X), dtype=np.int64)
    labels[order] = np.minimum(np.arange(len(X)) // k, len(X) // k - 1)
    return labels


@pytest.fixture(autouse=True)
def _plugged_in(monkeypatch):
    monkeypatch.setitem(METHODS, "in-order", Method("in-order", in_order, "groups of neighbours in one column", WORDS))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Give a folder to work in, with a small file."""
    monkeypatch.chdir(tmp_path)
    ma.write(TABLE, "t.csv")
    return tmp_path


def told(*words):
    """Run a command of a program made anew, and give its standard output."""
    result = CliRunner().invoke(make_program(), [str(word) for word in words], env={"COLUMNS": "250"})
    assert result.exit_code == 0, f"{result.output}{result.stderr}{result.exception!r}"
    return result.stdout


def help_of(command):
    return " ".join(told(command, "--help").replace("\u2502", " ").split())


def test_the_help_of_mask_names_it_and_says_what_its_options_mean():
    said = help_of("mask")
    assert "How groups are formed: mdav, cbfs," in said
    assert ", in-order, emad, ama. By default mdav." in said
    for option, meaning in WORDS.items():
        assert f"{meaning}.".lower() in said[said.index(f"--{option} ") :].lower()


def test_the_help_of_compare_names_it():
    assert ", in-order, emad, ama. Separate several by commas." in help_of("compare")


def test_it_goes_through_a_recipe_file(tmp_path):
    recipe = Recipe.of(4, quasi=["age", "income", "tax"], method="in-order", start="high")
    path = recipe.write(tmp_path / "r.toml")
    text = path.read_text()
    assert 'name = "in-order"  # mdav, cbfs,' in text
    assert ", in-order, emad, ama: how groups are formed\n" in text
    assert f'start = "high"  # {WORDS["start"]}\n' in text
    assert Recipe.read(path) == recipe
    with pytest.raises(InvalidParameter, match=r"line 4: 'strat' is unknown in .method.\. Did you mean 'start'"):
        Recipe.parse('k = 4\n[method]\nname = "in-order"\nstrat = "high"')
    with pytest.raises(InvalidParameter, match=r'line 4: in .method., stretch = "far" must be a number'):
        Recipe.parse('k = 4\n[method]\nname = "in-order"\nstretch = "far"')


def test_protect_groups_by_it_and_records_every_option(tmp_path):
    release = ma.protect(TABLE, k=4, method="in-order", start="high")
    scores = standard_scores(np.array([TABLE[name].to_numpy() for name in TABLE.column_names], dtype=float)).T
    expected = in_order(scores, 4, start="high")
    assert (np.bincount(release.groups) >= 4).all()
    assert_array_equal(*(one[:, None] == one for one in (release.groups, expected)))
    assert dict(release.recipe.method.options) == {"start": "high", "stretch": 1.5}
    again = ma.protect(TABLE, recipe=Recipe.read(release.recipe.write(tmp_path / "r.toml")))
    assert again.recipe == release.recipe
    assert_array_equal(again.groups, release.groups)
    with pytest.raises(InvalidParameter, match=r"not an option of method 'in-order'\. It takes start, stretch"):
        ma.protect(TABLE, k=4, method="in-order", gamma=1.1)
    with pytest.raises(InvalidParameter, match="Did you mean 'in-order'"):
        ma.protect(TABLE, k=4, method="in-ordr")


def test_compare_has_it_in_its_table():
    found = ma.compare(TABLE, ["mdav", "in-order"], [3, 5], recipe=Recipe.of(3, scale="range"))
    assert [(one.method, one.k) for one in found.candidates[2:]] == [("in-order", 3), ("in-order", 5)]
    assert [line.split()[:2] for line in repr(found).splitlines()[3:5]] == [["in-order", "3"], ["in-order", "5"]]
    asked = Recipe.parse('k = 3\n[compare]\nmethods = ["in-order"]\nks = [4]')
    assert [(one.method, one.k) for one in ma.compare(TABLE, recipe=asked).candidates] == [("in-order", 4)]


@pytest.mark.usefixtures("files")
def test_the_commands_take_it():
    Path("r.toml").write_text('k = 3\n[roles]\nquasi = ["age", "income", "tax"]\n')
    words = ["t.csv", "--recipe", "r.toml", "--json"]
    masked = json.loads(told("mask", *words, "--method", "in-order", "--start", "high", "--stretch", 2))
    written = tomllib.loads(Path("out/internal/recipe.toml").read_text())
    assert written["method"] == {"name": "in-order", "start": "high", "stretch": 2.0}
    expected = ma.protect(TABLE, k=3, method="in-order", start="high")
    assert masked["information_loss_percent"] == expected.information.percent
    compared = json.loads(told("compare", *words, "--methods", "in-order", "-k", "3,4"))
    assert [(one["method"], one["k"]) for one in compared["candidates"]] == [("in-order", 3), ("in-order", 4)]
    disk = json.loads(told("mask", *words, "--method", "in-order", "--engine", "disk", "--same-order", "-o", "disk"))
    assert disk["k_reached"] >= 3


def test_no_option_of_a_method_is_called_like_a_choice():
    """The choice would take what is said, and the method would never hear of it."""
    own = {option for method in METHODS.values() for option in method.options}
    assert not own & {"k", "recipe", "n_jobs", "progress", *choices()}


@pytest.mark.parametrize(
    ("usual", "other", "written", "words"),
    [
        ("low", "high", '"high"', ["--choice", "high"]),
        (1.5, 2.5, "2.5", ["--choice", "2.5"]),
        (2, 3, "3", ["--choice", "3"]),
        (False, True, "true", ["--choice"]),
    ],
    ids=["word", "number", "whole number", "flag"],
)
def test_an_option_may_be_of_any_kind(files, monkeypatch, usual, other, written, words):
    seen = []

    def remembering(X, k, *, choice=usual, progress=None):
        seen.append(choice)
        return in_order(X, k, progress=progress)

    method = Method("remembering", remembering, "neighbours", {"choice": "what is remembered"})
    monkeypatch.setitem(METHODS, "remembering", method)
    assert options_of("remembering")["choice"].fits(other)
    release = ma.protect(TABLE, k=3, method="remembering", choice=other)
    text = release.recipe.text()
    assert f"choice = {written}  # what is remembered\n" in text
    assert Recipe.parse(text) == release.recipe
    ma.protect(TABLE, recipe=Recipe.parse(text))
    told("mask", "t.csv", "--yes", "--method", "remembering", *words, "-o", files / "out")
    assert seen == [other] * 3
    assert [type(one) for one in seen] == [type(other)] * 3
