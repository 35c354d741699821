import importlib
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import microagg as ma
from microagg.algorithms import _cover
from microagg.algorithms._annealing import Search
from microagg.algorithms._cover import Columns, GroupPool, best_cover
from microagg.algorithms.kernels.records import plain_records
from microagg.work import ALONE, SharedProgress
from tests.reference.optimum import least_error, least_error_of_sizes, squared_error


def groups_of(X, k):
    """All groups of k to 2k - 1 records as columns."""
    groups = [group for size in range(k, 2 * k) for group in combinations(range(len(X)), size)]
    errors = [squared_error([X[row].tolist() for row in group]) for group in groups]
    members = np.array([row for group in groups for row in group])
    return Columns(members, np.array([len(group) for group in groups]), np.array(errors), len(X))


@pytest.mark.parametrize("number", range(60))
def test_the_best_of_all_covers(number):
    rng = np.random.default_rng(number)
    k = int(rng.integers(2, 4))
    X = rng.normal(size=(int(rng.integers(2 * k, 11)), 2))
    optimum = least_error(X.tolist(), k)
    found, left = best_cover(groups_of(X, k), 1.01 * optimum, 200)
    assert left > 0
    assert found is not None
    assert_array_equal(np.sort(found.members), np.arange(len(X)))
    assert_allclose(found.errors.sum(), optimum, rtol=1e-9)
    assert best_cover(groups_of(X, k), optimum, 200)[0] is None  # there is none below


@pytest.mark.parametrize("number", range(40))
def test_the_best_of_all_covers_of_fixed_sizes(number):
    rng = np.random.default_rng(number)
    sizes = [(2, 2, 2, 3), (3, 3, 3), (2, 3, 3), (2, 2, 2, 2), (3, 3, 4), (2, 2, 3, 3)][number % 6]
    X = rng.normal(size=(sum(sizes), 2))
    optimum = least_error_of_sizes(X.tolist(), sizes)
    columns = groups_of(X, min(sizes))
    found, left = best_cover(columns, 1.01 * optimum, 200, np.bincount(sizes))
    assert left > 0
    assert found is not None
    assert_array_equal(np.sort(found.members), np.arange(len(X)))
    assert tuple(np.sort(found.sizes)) == sizes
    assert_allclose(found.errors.sum(), optimum, rtol=1e-9)
    assert best_cover(columns, optimum, 200, np.bincount(sizes))[0] is None  # there is none below


def test_parts_of_other_sizes_are_not_taken_where_sizes_are_fixed():
    """Two crowds of twelve records, each best in groups of three; each partition has one crowd in groups of four."""
    threes, fours = np.repeat(np.arange(4), 3), np.repeat(np.arange(3), 4)
    X = np.concatenate((10.0 * threes, 1000.0 + 20.0 * threes))
    one, two = np.concatenate((threes, 4 + fours)), np.concatenate((fours, 3 + threes))
    for variable, sizes in ((True, [3] * 8), (False, [3] * 4 + [4] * 3)):
        search = Search(plain_records(X[None, :]), one, 3, variable, 0, ALONE, None, None)
        best = search._best_of([one[search.order], two[search.order]], SharedProgress(None, 0))
        assert np.sort(np.bincount(best)).tolist() == sizes


def test_programmes_are_counted():
    X = ma.datasets.normal(18, 3, seed=3)
    columns = groups_of(X, 3)
    whole, left = best_cover(columns, float(columns.errors.sum()), 1000)
    assert whole is not None
    assert 1000 - left > 0
    assert best_cover(columns, float(columns.errors.sum()), 1)[1] == 0


def test_a_pool_keeps_each_group_once_and_forgets_the_oldest(monkeypatch):
    pool = GroupPool(6)
    errors = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    pool.add(np.array([0, 0, 1, 1, 2, 2]), errors)
    pool.add(np.array([1, 1, 0, 2, 0, 2]), errors)
    assert_array_equal(pool.groups.sizes, [2] * 5)
    assert_array_equal(pool.groups.members.reshape(-1, 2), [[0, 1], [2, 3], [4, 5], [2, 4], [3, 5]])
    assert_array_equal(pool.groups.errors, [3.0, 7.0, 11.0, 8.0, 10.0])
    inside = pool.inside(np.array([False, False, True, True, True, True]))
    assert_array_equal(inside.members.reshape(-1, 2), [[0, 1], [2, 3], [0, 2], [1, 3]])
    monkeypatch.setattr(_cover, "_MOST", 7)
    pool.add(np.array([0, 1, 0, 1, 2, 2]), errors)
    assert_array_equal(pool.groups.members.reshape(-1, 2), [[3, 5], [0, 2], [1, 3]])


def test_what_no_single_run_had():
    """Four clusters, of which each of two partitions has grouped two well, and both have crossed the others alike."""
    X = np.array([[0.0], [0.1], [1.0], [1.1], [10.0], [10.1], [11.0], [11.1]])
    one = np.array([0, 0, 1, 1, 2, 3, 2, 3])
    two = np.array([0, 1, 0, 1, 2, 2, 3, 3])
    pool = GroupPool(8)
    near = np.array([[row + 1 if row % 2 == 0 else row - 1, (row + 2) % 8] for row in range(8)])
    for labels in (one, two):
        means = np.array([X[labels == group].mean() for group in labels])
        errors = (X[:, 0] - means) ** 2
        pool.add(labels, errors)
    found = pool.recombine(two, errors, near, 2, 0, 100, lambda: True)
    assert_array_equal(np.unique(found, return_index=True)[1].size, 4)
    assert_array_equal(found[::2], found[1::2])
    assert pool.recombine(two, errors, near, 2, 0, 100, lambda: False) is None


@pytest.mark.parametrize("sizes", ["variable", "fixed"])
def test_a_thorough_search_is_repeatable_and_keeps_sizes(sizes):
    X = ma.datasets.normal(200, 3, seed=4)
    labels = ma.MDAV(k=3).fit_predict(X)
    one, two = (ma.refine(X, labels, 3, effort=1_000_000, seed=2, sizes=sizes, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert_array_equal(one.labels, two.labels)
    if sizes == "fixed":
        assert_array_equal(np.sort(np.bincount(one.labels)), np.sort(np.bincount(labels)))


@pytest.mark.campaign
def test_a_filled_time_limit_goes_beyond_the_schedule_and_can_be_repeated(monkeypatch):
    monkeypatch.setattr(importlib.import_module("microagg.algorithms.refine"), "_RESERVE", 0.02)
    X = ma.datasets.normal(120, 2, seed=0)
    labels = ma.MDAV(k=3).fit_predict(X)
    filled = ma.refine(X, labels, 3, effort="thorough", time_limit=3.0, seed=1)
    assert filled.stopped is not None
    again = ma.refine(X, labels, 3, effort=filled.moves, seed=1, stop_after=filled.stopped)
    assert_array_equal(filled.labels, again.labels)
    assert filled.stopped[0] > 16
