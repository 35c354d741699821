"""Large files in blocks: the same promise, and groups that never cross a block."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import microagg as ma
from microagg.algorithms.mdav import mdav
from microagg.algorithms.scores import standard_scores
from microagg.errors import InputError, PromiseBroken
from microagg.mask.pieces import DEFAULT_BLOCK
from microagg.recipe import BlockChoices

NAMES = ["age", "hours", "wage", "income"]
SURVEY = ma.datasets.survey(3000, seed=0)
TABLE = SURVEY.select(NAMES)
SCORES = standard_scores(np.array([TABLE[name].to_numpy() for name in NAMES], dtype=float)).T
ESTIMATORS = {
    "median": ma.MedianTree(max_block=400, k=3),
    "orthants": ma.OrthantTree(max_block=400, k=3),
    "univariate": ma.UnivariateBlocks(max_block=400, k=3),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_groups_are_those_of_each_block(name):
    release = ma.protect(TABLE, k=3, blocks=name, max_block=400)
    blocks = ESTIMATORS[name].fit_predict(SCORES)
    for block in np.unique(blocks):
        rows = np.flatnonzero(blocks == block)
        own = np.unique(release.groups[rows], return_inverse=True)[1]
        assert_array_equal(own, mdav(SCORES[rows], 3))
    assert release.k_achieved >= 3
    assert release.recipe.blocks == BlockChoices(by=name, max_block=400)
    assert release.n_blocks == blocks.max() + 1
    by_object = ma.protect(TABLE, k=3, blocks=ESTIMATORS[name])
    assert_array_equal(by_object.groups, release.groups)
    assert by_object.n_blocks == blocks.max() + 1
    assert 400 in by_object.recipe.blocks.options.values()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_workers_change_nothing(name):
    one = ma.protect(TABLE, k=4, blocks=name, max_block=200, n_jobs=1, method="iamat")
    two = ma.protect(TABLE, k=4, blocks=name, max_block=200, n_jobs=2, method="iamat")
    assert_array_equal(one.groups, two.groups)


def test_strata_are_cut_first():
    release = ma.protect(SURVEY, k=3, quasi=NAMES, strata=["region"], rest="drop", blocks="median", max_block=100)
    regions = np.unique(SURVEY["region"].to_numpy(zero_copy_only=False), return_inverse=True)[1]
    assert all(np.unique(regions[release.groups == group]).size == 1 for group in range(release.n_groups))
    assert release.n_blocks == sum(-(-size // 99) for size in np.bincount(regions))


def test_auto_leaves_small_files_whole_and_says_what_it_did(monkeypatch):
    whole = ma.protect(TABLE, k=3)
    assert whole.recipe.blocks == BlockChoices("none")
    assert whole.n_blocks == 0
    assert ma.protect(TABLE, k=3, max_block=1000).n_blocks == 4
    monkeypatch.setattr("microagg.mask.pieces.AUTO_BLOCKS_ABOVE", 1000)
    assert ma.protect(TABLE, k=3).recipe.blocks == BlockChoices("median", DEFAULT_BLOCK)
    assert ma.protect(TABLE, k=3, blocks="none").recipe.blocks == BlockChoices("none")
    assert ma.protect(TABLE, k=3, method="ranking", per_column=True).recipe.blocks == BlockChoices("none")


def test_blocks_go_with_selected_columns():
    release = ma.protect(TABLE, k=3, select=["wage"], blocks="median", max_block=500)
    assert release.n_blocks == -(-3000 // 498)
    assert release.k_achieved >= 3


class Failing:
    """An object whose message shows a cell."""

    def fit_predict(self, X):
        raise ValueError(f"bad value {X[0, 0]}")


class Everybody:
    """An object whose blocks are too small."""

    def fit_predict(self, X):
        return np.arange(len(X))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"blocks": "octants"}, InputError, "blocks='octants' is not known"),
        ({"blocks": 3}, InputError, "blocks is an int"),
        ({"blocks": "median", "max_block": 5}, InputError, "max_block=5 must be a whole number, at least 6"),
        ({"blocks": "none", "max_block": 50}, InputError, "max_block works only with blocks"),
        ({"blocks": ma.MedianTree(), "max_block": 50}, InputError, "Set it on the object"),
        ({"blocks": "median", "method": "ranking", "per_column": True}, InputError, "each column by itself"),
        ({"blocks": Everybody()}, PromiseBroken, "the smallest has 1"),
        ({"blocks": ma.OrthantTree(k=2)}, InputError, "k=3 was asked for, but the blocks are set to k=2"),
        ({"blocks": Failing()}, InputError, "the blocks failed with ValueError"),
    ],
)
def test_bad_blocks_are_named(options, error, message):
    with pytest.raises(error, match=message):
        ma.protect(TABLE, k=3, **options)


@pytest.mark.casc
@pytest.mark.parametrize(
    ("most", "k", "expected", "paper"),
    [(100, 3, 453.7, 456.8), (200, 3, 460.7, 464.6), (100, 5, 689.0, 713.1), (200, 5, 711.4, 734.9)],
)
def test_the_tree_on_eia(most, k, expected, paper):
    table = ma.datasets.load("eia")
    release = ma.protect(table, k=k, blocks=ma.OrthantTree(max_block=most, k=k))
    assert release.information.sse == pytest.approx(expected, rel=0.001)
    assert release.information.sse < paper


@pytest.mark.parametrize("tree", [ma.MedianTree, ma.OrthantTree])
def test_the_former_name_of_max_block_is_taken(tree):
    X = ma.datasets.uniform(1000, 2, seed=0)
    former = clone(tree(max_leaf=100)).fit_predict(X)
    assert_array_equal(former, tree(max_block=100).fit_predict(X))
    assert_array_equal(former, tree(100).fit_predict(X))


def test_named_and_numbered_columns_to_cut_by():
    frame = TABLE.to_pandas()
    named = ma.OrthantTree(max_block=300, k=3, columns=["wage", "age"]).fit_predict(frame)
    assert_array_equal(named, ma.OrthantTree(max_block=300, k=3, columns=[2, 0]).fit_predict(frame.to_numpy()))
    assert_array_equal(
        ma.UnivariateBlocks(max_block=300, column="hours").fit_predict(frame),
        ma.UnivariateBlocks(max_block=300, column=1).fit_predict(frame.to_numpy()),
    )
    by_name = ma.protect(TABLE, k=3, blocks=ma.OrthantTree(max_block=300, k=3, columns=["wage", "age"]))
    by_number = ma.protect(TABLE, k=3, blocks=ma.OrthantTree(max_block=300, k=3, columns=[2, 0]))
    assert_array_equal(by_name.groups, by_number.groups)
    assert ma.protect(TABLE, k=3, blocks=ma.UnivariateBlocks(max_block=300, column="hours")).k_achieved == 3
    for columns, message in ((["weight"], "X does not have"), ([7], "X does not have"), ([], "is empty")):
        with pytest.raises(InputError, match=message):
            ma.MedianTree(columns=columns).fit(frame)
