import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import microagg as ma
from microagg.algorithms.cbfs import cbfs
from microagg.algorithms.iamat import iamat
from microagg.algorithms.maximum_distance import maximum_distance
from microagg.algorithms.mdav import mdav
from microagg.algorithms.units import Units, held_by
from microagg.algorithms.univariate import projection, univariate
from microagg.algorithms.vmdav import vmdav
from microagg.errors import InputError

ESTIMATORS = [
    (ma.MDAV(), mdav, {}),
    (ma.MDAV(tail="2k"), mdav, {"tail": "2k"}),
    (ma.CBFS(), cbfs, {}),
    (ma.VMDAV(gamma=1.1), vmdav, {"gamma": 1.1}),
    (ma.IAMAT(centroid="moving", sizes="variable"), iamat, {"centroid": "moving", "sizes": "variable"}),
    (ma.MaximumDistance(), maximum_distance, {}),
    (ma.Univariate(), univariate, {}),
    (ma.Univariate(method="ranking"), univariate, {"method": "ranking"}),
    (ma.Projection(axis="zscores"), projection, {"axis": "zscores"}),
]
X = np.random.default_rng(0).standard_normal((60, 3))

# Where the contract of scikit-learn does not fit, and why.
EXCEPTIONS = {
    "check_clustering": "expects a few large clusters, and finds groups of k",
}


@pytest.mark.parametrize("estimator", [*(e for e, _, _ in ESTIMATORS), ma.DependenceTree()], ids=repr)
def test_scikit_learns_contract_holds(estimator):
    results = check_estimator(estimator, expected_failed_checks=EXCEPTIONS, on_fail=None, on_skip=None)
    failed = {r["check_name"] for r in results if r["status"] == "failed"}
    assert not failed
    assert len(results) > 30


@pytest.mark.parametrize(
    ("estimator", "function", "options"), ESTIMATORS, ids=lambda value: getattr(value, "__name__", repr(value)[:40])
)
def test_an_estimator_is_its_function(estimator, function, options):
    estimator = clone(estimator)
    labels = function(X, 3, **options)
    assert_array_equal(estimator.fit_predict(X), labels)
    assert_array_equal(estimator.fit(X).labels_, labels)
    assert estimator.n_groups_ == (labels if labels.ndim == 1 else labels[:, 0]).max() + 1
    masked = estimator.fit_transform(X)
    assert masked.shape == X.shape
    for j in range(3):
        own = labels if labels.ndim == 1 else labels[:, j]
        expected = np.array([X[own == g, j].mean() for g in range(own.max() + 1)])[own]
        np.testing.assert_allclose(masked[:, j], expected, rtol=1e-12)


def test_projection_takes_a_column_by_name():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert_array_equal(ma.Projection(axis="b").fit_predict(frame), ma.Projection(axis=1).fit_predict(X))


def test_the_search_that_was_chosen_is_recorded():
    assert ma.MDAV().fit(X).search_ == "brute"
    assert ma.CBFS().fit(ma.datasets.uniform(20_000, 2)).search_ == "tree"
    assert ma.IAMAT(search="tree").fit(X).search_ == "tree"


def test_progress_is_told():
    seen = []
    ma.MDAV(progress=lambda done, total: seen.append((done, total))).fit(X)
    assert seen[-1] == (60, 60)


@pytest.mark.parametrize(
    ("estimator", "data"),
    [
        (ma.MDAV(k=1), X),
        (ma.MDAV(k=61), X),
        (ma.MDAV(tail="4k"), X),
        (ma.Univariate(method="best"), X),
        (ma.MDAV(), [["secret"], ["value"], ["x"], ["y"]]),
        (ma.MDAV(), np.arange(12) + 87654.5),
        (ma.MDAV(), np.full((12, 2), 87654.5) + 1j),
        (ma.MDAV(), [87654.5, 1.0, 2.0]),
        (ma.MDAV(), [[87654.5, 1.0], [2.0]]),
        (ma.MDAV(), 2**60 + np.arange(12).reshape(6, 2)),
        (ma.MDAV(search="fast"), X),
        (ma.MDAV(), np.where(np.arange(180).reshape(60, 3) == 5, np.nan, X)),
    ],
)
def test_bad_input_is_refused_without_showing_a_cell(estimator, data):
    with pytest.raises(InputError) as caught:
        estimator.fit(data)
    assert "secret" not in str(caught.value)
    assert "87654" not in str(caught.value)
    assert not hasattr(estimator, "labels_")


@pytest.mark.parametrize("estimator", [e for e, _, _ in ESTIMATORS], ids=repr)
def test_k_counts_units_where_they_are_given(estimator):
    units = np.array(["Ann", "Bob", "Cem", "Dov", "Eva", "Fay"])[np.arange(60) // 10]
    codes = np.arange(60) // 10
    for labels in (clone(estimator).fit(X, units=units).labels_, clone(estimator).fit_predict(X, units=Units(codes))):
        for own in np.atleast_2d(labels.T):
            held = held_by(own, codes, own.max() + 1)
            assert not held.short(3, True).any()
    masked = clone(estimator).fit_transform(X, units=units)
    assert np.unique(masked[:, 0]).size == np.unique(labels if labels.ndim == 1 else labels[:, 0]).size


@pytest.mark.parametrize(
    ("units", "says"),
    [
        (["Ann"] * 59, r"shape \(59,\), but there are 60"),
        (["Ann", None] * 30, "no unit"),
        ([1.0, np.nan] * 30, "no unit"),
        (np.array(["Ann", 1] * 30, dtype=object), "several types"),
        (["Ann", "Bob"] * 30, "k=3 units"),
        (["Ann"] * 30 + list(map(str, range(30))), "one unit has 30 of 60"),
    ],
)
def test_units_that_cannot_be_kept_are_refused(units, says):
    with pytest.raises(InputError, match=says) as caught:
        ma.MDAV().fit(X, units=units)
    assert caught.value.parameter == "unit"
    assert "Ann" not in str(caught.value)
