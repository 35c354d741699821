"""Groups formed on a few columns, all of them masked and judged."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import microagg as ma
from microagg.algorithms.mdav import mdav
from microagg.algorithms.scores import standard_scores
from microagg.errors import InputError
from microagg.recipe import Select

NAMES = ["age", "education", "hours", "wage", "income", "tax", "contributions"]
SURVEY = ma.datasets.survey(600, seed=0)
TABLE = SURVEY.select(NAMES)


def scores(names):
    in_file_order = [name for name in NAMES if name in names]
    return standard_scores(np.array([TABLE[name].to_numpy() for name in in_file_order], dtype=float)).T


@pytest.mark.parametrize("measure", ["emim", "chi2", "normal", "vi"])
def test_emad_forms_groups_on_the_columns_of_highest_degree(measure):
    release = ma.protect(TABLE, k=4, select="emad", count=2, measure=measure, rounding="none")
    tree = ma.DependenceTree(measure).fit(TABLE)
    assert release.selection.columns == ma.select_variables(tree, 2).columns
    assert_array_equal(release.groups, mdav(scores(release.selection.columns), 4))
    assert set(release.loss.per_column) == set(NAMES)
    assert release.loss.percent == pytest.approx(ma.information_loss(scores(NAMES), release.groups).percent)
    assert release.k_achieved >= 4
    assert release.recipe.select == Select(by="emad", count=2, measure=measure)
    assert f"grouped on {', '.join(release.selection.columns)}" in repr(release)


def test_ama_is_its_three_parts():
    whole = ma.protect(TABLE, k=5, method="ama", width=2000)
    parts = ma.protect(TABLE, k=5, method="mdav", tail="2k", select="ama", measure="vi", width=2000)
    assert_array_equal(whole.groups, parts.groups)
    assert whole.recipe == parts.recipe
    tree = ma.DependenceTree("vi", width=2000).fit(TABLE)
    assert whole.selection.columns == ma.select_variables(tree, rule="cover").columns
    assert_array_equal(whole.groups, mdav(scores(whole.selection.columns), 5, tail="2k"))


def test_names_a_selection_and_a_function_select_too():
    named = ma.protect(TABLE, k=3, select=["wage", "age"])
    again = ma.protect(TABLE, k=3, select=named.selection)
    assert again.selection is named.selection
    seen = []

    def choose(frame):
        seen.append(frame.column_names)
        return ["wage", "age"]

    by_function = ma.protect(TABLE, k=3, select=choose)
    assert seen == [NAMES]
    assert named.selection.reason == "as asked"
    assert named.recipe.select == Select(columns=("age", "wage"))
    for release in (again, by_function):  # what a file can say: the columns, whoever chose them
        assert release.recipe == named.recipe
        assert_array_equal(release.groups, named.groups)
    assert repr(pickle.loads(pickle.dumps(named))) == repr(named)


def test_without_select_all_columns_form_groups():
    release = ma.protect(TABLE, k=3)
    assert release.selection is None
    assert release.recipe.select == Select()


def test_strata_share_one_selection():
    roles = {"quasi": NAMES, "strata": ["region"], "rest": "drop"}
    release = ma.protect(SURVEY, k=3, select="emad", n_jobs=2, **roles)
    assert release.selection.columns == ma.protect(TABLE, k=3, select="emad").selection.columns
    assert_array_equal(release.groups, ma.protect(SURVEY, k=3, select="emad", n_jobs=1, **roles).groups)


def test_fewer_columns_than_three_are_all_taken():
    assert len(ma.protect(TABLE.select(["age", "wage"]), k=3, select="emad").selection.columns) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"select": "pca"}, "select='pca' is not known"),
        ({"select": 3}, "select is an int"),
        ({"select": ["weight"]}, "'weight', which is not masked"),
        ({"select": []}, "no column"),
        ({"select": ["age", "age"]}, "a column twice"),
        ({"select": lambda _: ["nothing"]}, "'nothing', which is not masked"),
        ({"count": 2}, "count works only with columns chosen by their number"),
        ({"select": "ama", "count": 2}, "count works only with columns chosen by their number"),
        ({"measure": "vi"}, "measure works only with"),
        ({"select": ["age"], "width": 5}, "width works only with"),
        ({"select": "emad", "measure": "rho"}, "measure='rho' is not known"),
        ({"select": "emad", "count": 9}, "count=9 must be a whole number, from 1 to 7"),
        ({"select": "emad", "width": -1}, "width=-1 must be positive"),
        ({"select": lambda frame: frame["age"]}, "not a ChunkedArray of data"),
        ({"select": [7.125]}, r"\(a float\), which is not masked"),
        ({"method": "projection", "axis": 1, "select": "emad"}, "cannot be combined with method 'projection'"),
        ({"method": "ama", "select": "emad"}, "Leave those two out"),
        ({"method": "ama", "tail": "3k"}, "Leave those two out"),
        ({"method": "ranking", "per_column": True, "select": "emad"}, "cannot be combined with method 'ranking'"),
        ({"method": "projection", "axis": "age", "select": "emad"}, "cannot be combined with method 'projection'"),
    ],
)
def test_bad_selections_are_named(options, message):
    with pytest.raises(InputError, match=message):
        ma.protect(TABLE, k=3, **options)


def test_columns_of_one_value_are_never_grouped_on():
    n = TABLE.num_rows
    constant = TABLE.append_column("year", [[2020] * n]).append_column("country", [[1] * n])
    for options in ({"method": "ama"}, {"select": "emad"}):
        release = ma.protect(constant, k=3, **options)
        assert not {"year", "country"} & set(release.selection.columns)
        assert "2 of one value left out" in release.selection.reason
        assert release.selection.columns == ma.protect(TABLE, k=3, **options).selection.columns
    with pytest.raises(InputError, match="no selected column varies"):
        ma.protect(constant, k=3, select=["year", "country"])


def test_a_function_gets_a_copy():
    frame = TABLE.to_pandas()
    before = frame.copy()

    def spoil(given):
        values = given["age"].to_numpy()
        values.setflags(write=True)
        values[:] = 0
        return ["wage"]

    ma.protect(frame, k=3, select=spoil)
    assert frame.equals(before)
