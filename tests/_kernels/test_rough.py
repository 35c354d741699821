"""Rough copies of leaves rule out nothing that a search may have to find."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.algorithms.kernels._jit import kernel
from microagg.algorithms.kernels.pool import LEAF
from microagg.algorithms.kernels.records import plain_records
from microagg.algorithms.kernels.rough import may_be_beyond, may_be_within, radius_beyond, radius_within
from microagg.algorithms.kernels.tree import tree_of_records
from tests.partition.test_codes import made


@kernel
def within(pool, leaf, point, square):
    return may_be_within(pool, leaf, point, radius_within(pool, square))


@kernel
def beyond(pool, leaf, point, square):
    return may_be_beyond(pool, leaf, point, radius_beyond(pool, square))


def squared(pool, leaf, point):
    """Give the squared distances of a leaf's live records from a record's point, in double precision."""
    numbers = pool.centre.size
    records = pool.points[leaf, :, : pool.filled[leaf]]
    distances = ((records[:numbers] - point[:numbers, None]) ** 2).sum(axis=0)
    apart = records[numbers:] != point[numbers:, None]
    return distances + (2.0 * pool.heights[:, None] ** 2 * apart).sum(axis=0)


def check(records, queries):
    """See that a leaf with a record at a distance is ruled out neither within nor beyond that distance."""
    pool = tree_of_records(records)
    ruled_out = 0
    for point in queries:
        for leaf in range(pool.filled.size):
            distances = squared(pool, leaf, point)
            assert within(pool, leaf, point, distances.min())
            assert beyond(pool, leaf, point, distances.max())
            ruled_out += not within(pool, leaf, point, distances.min() * 0.7)
            ruled_out += not beyond(pool, leaf, point, distances.max() * 1.5)
    return ruled_out / (2 * pool.filled.size * len(queries))


@given(
    n=st.integers(1, 300),
    d=st.integers(1, 12),
    scale=st.sampled_from([1.0, 1e-300, 1e-160, 1e-9, 1e140]),
    offset=st.sampled_from([0.0, 1.0, 1e9, -1e15]),
    decimals=st.sampled_from([None, 0, 1]),
    seed=st.integers(0, 10**6),
)
def test_no_leaf_of_numbers_is_ruled_out_that_holds_the_answer(n, d, scale, offset, decimals, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((d, n)) * np.exp(rng.standard_normal((d, 1)))
    X = (X if decimals is None else np.round(X, decimals)) * scale + offset
    check(plain_records(X), X.T[:: 1 + n // 5])


@given(
    n=st.integers(2, 300),
    categories=st.sampled_from([1, 3, 50, 400]),
    codes=st.integers(1, 4),
    seed=st.integers(0, 10**6),
)
def test_no_leaf_with_codes_is_ruled_out_that_holds_the_answer(n, categories, codes, seed):
    records = made(n=n, categories=categories, numbers=2, codes=codes, seed=seed, decimals=None)
    check(records, np.ascontiguousarray(records.entries.T[:: 1 + n // 5]))


@pytest.mark.parametrize("scale", [1.0, 1e-140, 1e140])
def test_most_leaves_without_the_answer_are_ruled_out(scale):
    X = np.random.default_rng(0).standard_normal((10, 2000)) * scale
    assert check(plain_records(X), X.T[:20]) > 0.9


def test_a_record_that_moves_takes_its_rough_copy_along():
    from microagg.algorithms.kernels.tree import remove

    @kernel
    def take_out(pool, row):
        remove(pool, row)

    X = np.random.default_rng(1).standard_normal((3, 4 * LEAF))
    records = plain_records(X)
    pool = tree_of_records(records)
    for row in range(0, 4 * LEAF, 3):
        take_out(pool, row)
    for leaf in range(pool.filled.size):
        live = slice(pool.filled[leaf])
        steps = pool.grid[leaf, :, 1:] / pool.unit[0]
        rough = pool.grid[leaf, :, :1] + pool.rough[leaf, :, live] * steps
        off = np.sqrt(((rough - pool.points[leaf, :, live]) ** 2).sum(axis=0)) * pool.unit[0]
        assert (off <= pool.blur[leaf]).all()
        assert off.size > 0
