"""The papers' own parameters, said in Python, in a recipe and on the command line: the same groups."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import microagg as ma
from microagg.algorithms.scores import standard_scores
from microagg.errors import InputError
from microagg.recipe import Recipe
from tests.cli import call

NAMES = ["age", "hours", "wage", "income", "tax", "contributions"]
BASE = f"k = 3\n[roles]\nquasi = {json.dumps(NAMES)}\nrest = 'drop'\n[output]\nsame_order = true\n"

CASES = {
    "EMAD by EMIM and a width": {"method": "emad", "width": 500, "count": 2},
    "EMAD by chi-squared and bins": {"method": "emad", "measure": "chi2", "bins": 9},
    "EMAD by normal dependence": {"select": "emad", "measure": "normal", "method": "iamat"},
    "EMAD by the cover rule": {"select": "emad", "rule": "cover", "width": 500},
    "EMAD, the best of those that tie": {"method": "emad", "choose": "lowest-loss", "width": 5000, "count": 2},
    "the best of all pairs": {"select": "emad", "rule": "every", "count": 2},
    "AMA": {"method": "ama", "width": 500},
    "AMA, the best of those that tie": {"method": "ama", "width": 5000, "choose": "lowest-loss"},
    "IAMAT with its centroid moving": {"method": "iamat", "centroid": "moving", "sizes": "variable"},
    "the 2^d-tree of two columns": {"blocks": "orthants", "max_block": 50, "block_columns": ["wage", "tax"]},
    "the 2^d-tree, fused within its limit": {"blocks": "orthants", "max_block": 20, "block_fusion": "limited"},
    "univariate blocks of a column": {"blocks": "univariate", "max_block": 90, "block_columns": ["wage"]},
    "univariate blocks by count": {
        "blocks": "univariate",
        "max_block": 90,
        "block_columns": ["tax"],
        "block_intervals": "count",
    },
    "median blocks of a column": {"blocks": "median", "max_block": 90, "block_columns": ["tax"]},
}
TABLES = {"select": "by", "method": "name", "blocks": "by"}
OF = {
    "select": ("measure", "width", "bins", "count", "rule", "choose"),
    "method": ("centroid", "sizes"),
    "blocks": ("max_block", "block_columns", "block_fusion", "block_intervals"),
}


def as_recipe(choices):
    """Write choices as a person would: a table each."""
    text = BASE
    for table, key in TABLES.items():
        own = {key: choices[table]} if table in choices else {}
        own |= {name.removeprefix("block_"): choices[name] for name in OF[table] if name in choices}
        if own:
            text += f"[{table}]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in own.items())
    return text


def as_options(choices):
    options = []
    for name, value in choices.items():
        options += [f"--{name.replace('_', '-')}", ",".join(value) if isinstance(value, list) else str(value)]
    return options


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    folder = tmp_path_factory.mktemp("papers")
    call("datasets", "make", "survey", "-n", 400, "-o", folder / "survey.csv")
    (folder / "base.toml").write_text(BASE)
    return folder / "survey.csv"


@pytest.mark.parametrize("name", CASES)
def test_python_recipe_and_command_line_form_the_same_groups(name, survey, tmp_path):
    choices = CASES[name]
    source = ma.read(survey)
    base = Recipe.parse(BASE)
    plain = ma.protect(source, recipe=base)
    by_keywords = ma.protect(source, recipe=base, **choices)
    assert not np.array_equal(by_keywords.groups, plain.groups)  # it does something
    by_recipe = ma.protect(source, recipe=Recipe.parse(as_recipe(choices)))
    assert_array_equal(by_recipe.groups, by_keywords.groups)
    again = ma.protect(source, recipe=Recipe.parse(by_keywords.recipe.text()))
    assert_array_equal(again.groups, by_keywords.groups)
    assert again.recipe.text() == by_keywords.recipe.text()
    call("mask", survey, "--recipe", survey.parent / "base.toml", "-o", tmp_path / "out", *as_options(choices))
    written = ma.read(tmp_path / "out" / "release" / "survey_masked.csv").typed()
    for column in NAMES:
        assert_array_equal(written[column].to_numpy(), by_keywords.data[column].cast("float64").to_numpy())


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"block_columns": ["wage"]}, "blocks that are cut"),
        ({"blocks": "orthants", "block_intervals": "count"}, "univariate blocks"),
        ({"blocks": "median", "block_fusion": "limited"}, "orthants"),
        ({"blocks": "univariate", "block_columns": ["wage", "tax"]}, "are cut by one"),
        ({"blocks": "orthants", "block_columns": ["wages"]}, "wages"),
        ({"rule": "cover"}, "by a dependence tree"),
        ({"select": "ama", "count": 2}, "by their number"),
        ({"quasi": ["region"], "blocks": "univariate"}, "has an order, and there is none in 'region'"),
        ({"select": "emad", "rule": "every", "choose": "first"}, "loses least"),
        ({"method": "emad", "select": "ama"}, "is mdav with"),
        ({"select": "microagg.mine"}, "select="),
        ({"method": "emad", "width": 5000, "bins": 3}, "both width and bins"),
        ({"method": "emad", "rule": "most"}, "rule="),
    ],
)
def test_what_does_not_go_together_is_refused_before_any_work(choices, words):
    with pytest.raises(InputError, match=words):
        ma.protect(ma.datasets.survey(60), recipe=Recipe.parse(BASE), **choices)


README = (Path(__file__).parent.parent / "README.md").read_text()
SECTION = README[README.index("## The five papers") :].split("\n## ")[0]
CALLS = sorted(set(re.findall(r"`(ma\.[^`]*)`", SECTION)))
COMMANDS = sorted(set(re.findall(r"`microagg ([^`]*)`", SECTION)))


def test_the_readme_has_the_five_papers():
    rows = [line for line in SECTION.splitlines() if line.startswith("| **")]
    assert [re.match(r"\| \*\*([^*]+)\*\*", row)[1] for row in rows] == ["EMAD", "IAMAT", "IAMAT", "2^d-tree", "AMA"]
    for row in rows:
        assert re.search(r"`ma\.", row)
        assert "`microagg " in row
        assert "RESULTS.md" in row


@pytest.mark.parametrize("said", CALLS)
def test_the_readmes_calls_run(said):
    labels = eval(said, {"ma": ma}).fit_predict(MATRIX)
    assert labels.shape == (300,)


@pytest.mark.parametrize("said", COMMANDS)
def test_the_readmes_commands_run(said, survey, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [str(survey) if word == "FILE" else word for word in said.split()]
    call(*words, *([] if words[0] == "tree" else ["--recipe", survey.parent / "base.toml"]))


MATRIX = standard_scores(
    np.array([ma.datasets.survey(300, seed=1)[name].to_numpy() for name in NAMES], dtype=float)
).T.copy()
ESTIMATORS = {
    "EMAD": (ma.EMAD(k=4), {"method": "emad"}),
    "EMAD of two columns": (ma.EMAD(k=4, count=2, measure="chi2"), {"method": "emad", "count": 2, "measure": "chi2"}),
    "EMAD by bins": (ma.EMAD(k=4, bins=5), {"method": "emad", "bins": 5}),
    "EMAD by a width": (ma.EMAD(k=4, width=0.5), {"method": "emad", "width": 0.5}),
    "EMAD, cover rule": (ma.EMAD(k=4, rule="cover"), {"method": "emad", "rule": "cover"}),
    "EMAD, the best": (
        ma.EMAD(k=4, choose="lowest-loss", width=2),
        {"method": "emad", "choose": "lowest-loss", "width": 2},
    ),
    "EMAD, every pair": (ma.EMAD(k=4, rule="every", count=2), {"method": "emad", "rule": "every", "count": 2}),
    "EMAD on IAMAT": (ma.EMAD(k=4, method=ma.IAMAT(k=4)), {"select": "emad", "method": "iamat"}),
    "AMA": (ma.AMA(k=4), {"method": "ama"}),
    "AMA, the best": (
        ma.AMA(k=4, width=2, choose="lowest-loss"),
        {"method": "ama", "width": 2, "choose": "lowest-loss"},
    ),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_of_emad_and_ama_are_what_protect_does(name):
    estimator, choices = ESTIMATORS[name]
    table = pd.DataFrame(MATRIX, columns=NAMES)
    release = ma.protect(table, k=4, rounding="none", **choices)
    estimator = clone(estimator).fit(table)
    assert estimator.selection_.columns == release.selection.columns
    assert_array_equal(estimator.labels_, release.groups)
    by_object = ma.protect(table, k=4, rounding="none", method=clone(estimator))
    assert_array_equal(by_object.groups, release.groups)
    assert by_object.recipe == release.recipe


def test_every_set_is_tried_wherever_it_is_asked_for():
    frame = pd.DataFrame(MATRIX, columns=NAMES)
    tree = ma.DependenceTree().fit(frame)
    with pytest.raises(InputError, match="needs the data and k"):
        ma.select_variables(tree, 2, rule="every")
    found = ma.select_variables(tree, 2, rule="every", X=frame, k=4)
    assert found.columns == ma.best_subset(frame, 2, 4).best
    assert found.columns == ma.EMAD(k=4, count=2, rule="every").fit(frame).selection_.columns
    assert len(found.losses) == 15


def test_emad_on_a_projection():
    frame = pd.DataFrame(MATRIX, columns=NAMES)
    labels = ma.EMAD(k=4, method="projection").fit_predict(frame)
    assert_array_equal(labels, ma.protect(frame, k=4, select="emad", method="projection").groups)
    with pytest.raises(InputError, match="a column as axis"):
        ma.EMAD(k=4, method=ma.Projection(4, axis="tax")).fit(frame)


@pytest.mark.parametrize(
    ("estimator", "choices"),
    [
        (ma.EMAD(4), {"select": ["wage"]}),
        (ma.EMAD(4, measure="chi2"), {"measure": "vi"}),
        (ma.EMAD(4, count=3), {"count": 2}),
        (ma.AMA(4), {"select": "emad"}),
    ],
)
def test_what_an_estimator_sets_is_not_set_otherwise_beside_it(estimator, choices):
    frame = pd.DataFrame(MATRIX, columns=NAMES)
    with pytest.raises(InputError, match="on the estimator already"):
        ma.protect(frame, k=4, method=estimator, **choices)


def test_emad_tries_choices_with_units():
    units = np.arange(300) // 3
    emad = ma.EMAD(k=4, width=2, choose="lowest-loss").fit(MATRIX, units=units)
    for way, loss in emad.selection_.losses.items():
        labels = ma.MDAV(k=4).fit_predict(np.ascontiguousarray(MATRIX[:, sorted(way)]), units=units)
        assert loss == pytest.approx(ma.information_loss(MATRIX, labels).percent)


def test_a_tree_of_named_columns_is_drawn_by_name_or_number():
    frame = pd.DataFrame(MATRIX, columns=NAMES)
    tree = ma.OrthantTree(max_block=40, k=4, columns=["wage", "tax", "age"]).fit(frame)
    by_name, by_number = tree.plot(("tax", "age"), X=frame), tree.plot((4, 0))
    assert (
        (by_name.get_xlabel(), by_name.get_ylabel())
        == (by_number.get_xlabel(), by_number.get_ylabel())
        == ("tax", "age")
    )
    for wrong in (3, ("tax",), ("tax", "hours"), ("tax", 99)):
        with pytest.raises(InputError, match="columns"):
            tree.plot(wrong)


def test_the_largest_numbers_have_a_tree():
    tree = ma.OrthantTree(max_block=6, k=3).fit(np.array([[1.6e308], [-1.6e308], [1.5e308]] * 5))
    assert sum(node.n_records for node in tree.nodes_ if node.is_leaf) == 15
    assert all(np.isfinite(node.centroid).all() for node in tree.nodes_)


@pytest.mark.parametrize("method", [ma.MDAV, ma.EMAD])
def test_a_class_that_extends_an_estimator_is_asked_itself(method):
    class Halves(method):
        def fit_predict(self, X, y=None, units=None):  # noqa: ARG002
            return np.arange(len(X)) // 150

    release = ma.protect(pd.DataFrame(MATRIX, columns=NAMES), k=4, method=Halves(k=4))
    assert_array_equal(release.groups, np.arange(300) // 150)


@pytest.mark.parametrize("estimator", [ma.EMAD(), ma.AMA(), ma.OrthantTree(max_block=20, fusion="limited")], ids=repr)
def test_scikit_learns_contract_holds_for_the_papers_estimators(estimator):
    expected = {"check_clustering": "expects a few large clusters, and finds groups of k"}
    results = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    assert not {r["check_name"] for r in results if r["status"] == "failed"}
    assert len(results) > 30


def test_the_tree_shows_what_mask_takes(survey, tmp_path):
    recipe = tmp_path / "recipe.toml"
    for choices in ({"method": "emad", "width": 5000}, {"select": "ama"}, {"select": "emad", "choose": "lowest-loss"}):
        recipe.write_text(as_recipe(choices))
        release = ma.protect(ma.read(survey), recipe=Recipe.read(recipe))
        found = json.loads(call("tree", survey, "--recipe", recipe, "--json").stdout)
        assert found["chosen"] == list(release.selection.columns)
        assert found["degrees"] == dict(release.selection.degrees)
        assert found["ties"] == len(found["alternatives"]) == release.selection.n_alternatives
        assert found["measure"] == release.recipe.select.measure


def test_the_tree_shows_degrees_ties_and_the_cover_rule(survey):
    recipe = survey.parent / "base.toml"
    printed = call("tree", survey, "--recipe", recipe, "--width", 5000, "--count", 2).stdout
    for words in ("edges", "choices have as many edges", "--choose lowest-loss", "The fewest columns whose edges"):
        assert words in printed
    everything = json.loads(call("tree", survey, "--recipe", recipe, "--rule", "every", "--count", 2, "--json").stdout)
    losses = {tuple(one["columns"]): one["loss"] for one in everything["alternatives"]}
    table = ma.read(survey).typed().select(NAMES)
    expected = ma.best_subset(table, size=2, k=3)
    assert losses == pytest.approx(dict(expected.losses))
    assert tuple(everything["chosen"]) == expected.best


def test_a_recipe_that_names_columns_is_said_beside_the_tree(survey, tmp_path):
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(BASE + "[select]\ncolumns = ['age', 'tax']\n")
    assert json.loads(call("tree", survey, "--recipe", recipe, "--json").stdout)["named"] == ["age", "tax"]
    printed = call("tree", survey, "--recipe", recipe).stdout
    assert "does not follow the tree: it names age, tax" in printed
    assert "were guessed" not in printed
    assert "were guessed: 10 of 13" in call("tree", survey).stdout
    assert json.loads(call("tree", survey, "--quasi", "age,tax,wage", "--rest", "drop", "--json").stdout)[
        "columns"
    ] == [
        "age",
        "wage",
        "tax",
    ]


def test_a_tree_without_a_recipe_is_emads(survey):
    found = json.loads(call("tree", survey, "--json").stdout)
    assert (found["rule"], found["measure"], len(found["chosen"])) == ("degree", "emim", 3)
