import importlib
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from microagg.algorithms.univariate import univariate
from microagg.columns.representatives import released_values
from tests.lengths import given_few
from tests.partition.cases import NEVER_ABOVE_2K, PARTITIONERS, matrices_and_k

everywhere = pytest.mark.parametrize("name", PARTITIONERS)


def partition(name, X, k):
    partitioner, _, options = PARTITIONERS[name]
    return partitioner(X, k, **options)


@everywhere
@given_few(20, 200, case=matrices_and_k())
def test_groups_hold_at_least_k_and_are_numbered_by_lowest_row(name, case):
    X, k = case
    labels = partition(name, X, k)
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    _, first_rows = np.unique(labels, return_index=True)
    assert (np.diff(first_rows) > 0).all()
    if name in NEVER_ABOVE_2K:
        assert sizes.max() <= 2 * k - 1


@everywhere
@given_few(20, 200, case=matrices_and_k())
def test_column_means_are_kept_and_the_input_is_not_changed(name, case):
    X, k = case
    before = X.copy()
    labels = partition(name, X, k)
    assert_array_equal(X, before)
    released = released_values(np.ascontiguousarray(X.T), labels)
    assert_allclose(released.mean(axis=1), X.mean(axis=0), rtol=1e-12, atol=1e-12)


# MaximumDistance calls the lower row of its two records r and groups it first, so row order is part of it.
@pytest.mark.parametrize("name", [name for name in PARTITIONERS if name != "maximum-distance"])
@given_few(20, 200, seed=st.integers(0, 10**6), k=st.integers(2, 5), n=st.integers(5, 60))
def test_permuting_rows_permutes_the_partition_when_nothing_ties(name, seed, k, n):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    order = rng.permutation(n)
    labels, permuted = partition(name, X, k), partition(name, X[order], k)
    together = labels[:, None] == labels[None, :]
    assert_array_equal(permuted[:, None] == permuted[None, :], together[np.ix_(order, order)])


@pytest.mark.parametrize("method", ["optimal", "ranking"])
@given_few(20, 200, case=matrices_and_k())
def test_univariate_keeps_the_invariants_in_every_column(method, case):
    X, k = case
    before = X.copy()
    labels = univariate(X, k, method=method).reshape(X.shape)
    assert_array_equal(X, before)
    for j in range(X.shape[1]):
        sizes = np.bincount(labels[:, j])
        assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
        assert (np.diff(np.unique(labels[:, j], return_index=True)[1]) > 0).all()
    released = released_values(np.ascontiguousarray(X.T), labels)
    assert_allclose(released.mean(axis=1), X.mean(axis=0), rtol=1e-12, atol=1e-12)


@everywhere
def test_a_power_of_two_changes_nothing_even_at_the_ends_of_the_range(name):
    X = np.random.default_rng(0).standard_normal((50, 3))
    labels = partition(name, X, 3)
    for power in (-1000, -600, 600, 1000):
        assert_array_equal(partition(name, np.ldexp(X, power), 3), labels)


@everywhere
def test_two_threads_at_once_give_the_same_as_one(name):
    files = [np.random.default_rng(seed).standard_normal((400, 4)) for seed in range(6)]
    alone = [partition(name, X, 3) for X in files]
    with ThreadPoolExecutor(2) as executor:
        together = list(executor.map(lambda X: partition(name, X, 3), files))
    assert_array_equal(together, alone)


@everywhere
def test_progress_rises_to_the_end_and_can_stop_the_work(name):
    X = np.random.default_rng(0).standard_normal((300, 3))
    partitioner, _, options = PARTITIONERS[name]
    seen = []
    partitioner(X, 3, progress=lambda done, total: seen.append((done, total)), **options)
    assert seen == sorted(seen)
    assert seen[-1] == (300, 300)

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        partitioner(X, 3, progress=stop, **options)


@everywhere
def test_slicing_the_work_changes_nothing(name, monkeypatch):
    X = np.random.default_rng(1).standard_normal((200, 3))
    labels = partition(name, X, 3)
    for stem in ("_run", "vmdav", "iamat", "maximum_distance", "univariate"):
        monkeypatch.setattr(importlib.import_module(f"microagg.algorithms.{stem}"), "SLICE", 1)
    assert_array_equal(partition(name, X, 3), labels)
