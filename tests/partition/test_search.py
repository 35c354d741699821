"""Tree and brute force give the same labels: on ties and duplicates, on the CASC files, at size."""

import importlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import microagg as ma
from microagg.algorithms import _run
from microagg.algorithms.cbfs import cbfs
from microagg.algorithms.iamat import iamat
from microagg.algorithms.kernels.records import plain_records
from microagg.algorithms.maximum_distance import maximum_distance
from microagg.algorithms.mdav import mdav
from microagg.algorithms.methods import choose_search, settled_search
from microagg.algorithms.scores import standard_scores
from microagg.algorithms.vmdav import vmdav
from tests.lengths import given_few

SEARCHED = {
    "mdav": (mdav, {}),
    "mdav-2k": (mdav, {"tail": "2k"}),
    "cbfs": (cbfs, {}),
    "vmdav": (vmdav, {"gamma": 1.1}),
    "iamat": (iamat, {}),
    "iamat-moving-variable": (iamat, {"centroid": "moving", "sizes": "variable"}),
    "maximum-distance": (maximum_distance, {}),
}
THREADS = ThreadPoolExecutor(2)
everywhere = pytest.mark.parametrize("name", SEARCHED)


def both(name, X, k):
    partitioner, options = SEARCHED[name]
    return [partitioner(X, k, search=search, **options) for search in ("tree", "brute")]


@st.composite
def files(draw):
    """Enough records for several leaves and levels, drawn from few values or many."""
    n, d, k = draw(st.integers(5, 700)), draw(st.integers(1, 12)), draw(st.integers(2, 5))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    kind = draw(
        st.sampled_from(
            ["grid", "zeros", "normal", "offset", "few", "equal", "outlier", "opposite", "underflow", "tiny"]
        )
    )
    X = rng.standard_normal((n, d))
    if kind == "grid":
        X = rng.integers(0, draw(st.integers(2, 6)), (n, d)).astype(float)
    elif kind == "zeros":
        X[rng.random((n, d)) < 0.8] = 0.0
    elif kind == "offset":
        X = 1e9 + np.round(X, 2)
    elif kind == "few":
        X = X[rng.integers(0, 3, n)]
    elif kind == "equal":
        X[:] = 0.1
    elif kind == "opposite":
        X = np.round(X, 1) + 1e9 * rng.choice([-1, 1], (n, 1))
    elif kind == "underflow":
        X = np.where(rng.random((n, 1)) < 0.01, 1.0, X * 1e-161)
    elif kind == "tiny":
        X *= 1e-161
    elif kind == "outlier":
        X[rng.integers(0, n)] *= 1e6
    return X, k


@everywhere
@given_few(30, 500, case=files())
def test_tree_and_brute_agree_on_one_thread_and_on_two(name, case):
    X, k = case
    by_tree, by_brute = both(name, X, k)
    assert_array_equal(by_tree, by_brute)
    partitioner, options = SEARCHED[name]
    side_by_side = THREADS.map(lambda search: partitioner(X, k, search=search, **options), ("tree", "brute"))
    for labels in side_by_side:
        assert_array_equal(labels, by_brute)


@everywhere
@pytest.mark.parametrize("small", [False, True])
def test_the_shell_changes_nothing(name, small, monkeypatch):
    X = np.random.default_rng(3).standard_normal((3000, 3)).round(1)
    without = both(name, X, 3)[1]
    monkeypatch.setattr("microagg.algorithms.kernels.shell._SMALL", 10 if small else 10**9)
    for labels in both(name, X, 3):
        assert_array_equal(labels, without)


@pytest.mark.parametrize("name", ["mdav", "cbfs", "iamat-moving-variable"])
@pytest.mark.parametrize("kind", ["circle", "two points", "underflow", "equal"])
def test_records_at_nearly_one_distance_are_grouped_too(name, kind):
    rng = np.random.default_rng(0)
    turn = np.arange(5000) * 2 * np.pi / 5000
    X = {
        "circle": np.column_stack([np.cos(turn), np.sin(turn)]),
        "two points": np.repeat([[1.0], [-1.0]], 2500, axis=0) + 1e-13 * rng.random((5000, 1)),
        "underflow": np.concatenate([np.ones((5, 2)), rng.standard_normal((4995, 2)) * 1e-161]),
        "equal": np.full((5000, 2), 0.1),
    }[kind]
    by_tree, by_brute = both(name, X, 3)
    assert_array_equal(by_tree, by_brute)
    assert np.bincount(by_brute).min() >= 3


@everywhere
def test_rebuilding_the_tree_changes_nothing(name, monkeypatch):
    X = np.random.default_rng(4).standard_normal((600, 4)).round(1)
    expected = both(name, X, 3)[1]
    for stem in ("_run", "vmdav", "iamat", "maximum_distance"):
        monkeypatch.setattr(importlib.import_module(f"microagg.algorithms.{stem}"), "SLICE", 1)
    monkeypatch.setattr(_run, "_THINNED", 0.99)
    assert_array_equal(both(name, X, 3)[0], expected)


@pytest.mark.parametrize("d", [2, 5, 10, pytest.param(20, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("name", ["mdav", "cbfs", "vmdav", "iamat"])
def test_agreement_at_size(name, d):
    assert_array_equal(*both(name, ma.datasets.uniform(20_000, d, seed=d), 3))


@pytest.mark.parametrize("name", ["mdav", "iamat"])
def test_agreement_on_skewed_correlated_and_tied_data(name):
    survey = ma.datasets.survey(10_000, seed=0)
    columns = np.array([survey[column].to_numpy() for column in survey.column_names[3:]], dtype=float)
    assert_array_equal(*both(name, standard_scores(columns).T, 3))


@pytest.mark.casc
@pytest.mark.parametrize("file", ["tarragona", "census", pytest.param("eia", marks=pytest.mark.campaign)])
@everywhere
def test_agreement_on_the_casc_files(name, file):
    table = ma.datasets.load(file)
    columns = np.array([table[column].to_numpy() for column in table.column_names], dtype=float)
    X = standard_scores(columns).T
    for k in range(3, 11):
        assert_array_equal(*both(name, X, k))


@pytest.mark.parametrize("name", ["mdav", "cbfs", "vmdav", "iamat"])
@pytest.mark.parametrize("n", [3, 31, 32, 33, 255, 256, 257, 2049])
def test_sizes_around_full_leaves_and_nodes(name, n):
    assert_array_equal(*both(name, np.random.default_rng(n).random((n, 2)), 3))


def test_auto_takes_the_tree_where_it_is_faster():
    assert choose_search("auto", 100, 3) == "brute"
    assert choose_search("auto", 100_000, 3) == "tree"
    assert choose_search("auto", 10_000, 40) == "auto"  # the records decide
    assert choose_search("brute", 100_000, 3) == "brute"
    assert choose_search("auto", 10_000, 5_000) == "auto"  # however wide, nothing overflows
    assert choose_search("auto", 6_000, 5) == "tree"
    assert choose_search("auto", 5_999, 5) == "brute"


def test_records_decide_where_their_number_does_not():
    """Twenty columns that fill the space leave a tree nothing to prune; twenty that follow from three do."""
    rng = np.random.default_rng(0)
    filling = rng.random((6_000, 20))
    flat = filling[:, :3] @ rng.normal(size=(3, 20))
    skewed = np.exp(rng.normal(size=(6_000, 15)))  # of which a few records are not enough to tell
    for X, expected in ((filling, "brute"), (skewed, "brute"), (flat, "tree")):
        assert settled_search("auto", plain_records(np.ascontiguousarray(X.T)), 3) == expected
        assert settled_search("brute", plain_records(np.ascontiguousarray(X.T)), 3) == "brute"
        for name in ("MDAV", "IAMAT"):
            found = getattr(ma, name)(k=3).fit(X)
            assert found.search_ == expected
            for labels in (SEARCHED[name.lower()][0](X, 3, search="auto"), *both(name.lower(), X, 3)):
                assert_array_equal(labels, found.labels_)
        frame = pa.table({f"x{j}": column for j, column in enumerate(X.T)})
        release = ma.protect(frame, k=3, scale="none", rounding="none")
        assert release.recipe.method.options["search"] == expected
