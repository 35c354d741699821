import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from microagg.algorithms._blocks import join_small_blocks
from microagg.algorithms.blockings import BLOCKINGS, median_blocks, orthant_blocks, univariate_blocks
from microagg.algorithms.orthants import orthant_nodes
from microagg.errors import InputError
from tests.lengths import given_few
from tests.reference import blocking as oracle

everywhere = pytest.mark.parametrize("name", BLOCKINGS)


@st.composite
def files(draw):
    """Few records with many ties, and the size of a block and of a group that fit."""
    k = draw(st.integers(2, 4))
    n, d = draw(st.integers(k, 50)), draw(st.integers(1, 4))
    values = draw(st.sampled_from([st.integers(0, 2), st.integers(-20, 20).map(lambda i: i / 4), st.just(1)]))
    flat = draw(st.lists(values, min_size=n * d, max_size=n * d))
    return np.array(flat, dtype=float).reshape(d, n), draw(st.integers(2 * k, 20)), k


@settings(max_examples=300)
@given(case=files())
def test_the_orthant_tree_is_the_oracles(case):
    columns, most, k = case
    records = columns.T.tolist()
    expected = oracle.join_small(records, oracle.orthants(records, most), k)
    assert orthant_blocks(columns, most, k).tolist() == oracle.labels(expected)


@settings(max_examples=300)
@given(case=files())
def test_fusion_within_the_limit_is_the_oracles(case):
    columns, most, k = case
    records = columns.T.tolist()
    leaves = oracle.orthants(records, most)
    expected = oracle.join_limited(records, leaves, k, most)
    found = orthant_blocks(columns, most, k, fusion="limited")
    assert found.tolist() == oracle.labels(expected)
    sizes = np.bincount(found)
    assert sizes.max() <= max(most, *map(len, leaves))  # equal records cannot be cut
    assert sizes.min() >= min(k, columns.shape[1])


@settings(max_examples=200)
@given(case=files())
def test_the_nodes_of_the_orthant_tree_add_up_to_the_file(case):
    columns, most, k = case
    blocks = orthant_blocks(columns, most, k)
    nodes = orthant_nodes(columns, most, blocks)
    leaves = [node for node in nodes if node.is_leaf]
    expected = oracle.orthants(columns.T.tolist(), most)
    assert sorted(leaf.n_records for leaf in leaves) == sorted(map(len, expected))
    assert nodes[0].n_records == columns.shape[1]
    for number, node in enumerate(nodes):
        inside = np.all((columns >= node.lower[:, None]) & (columns <= node.upper[:, None]), axis=0)
        assert np.count_nonzero(inside) >= node.n_records
        parts = [other for other in nodes if other.parent == number]
        assert node.is_leaf == (not parts)
        if parts:
            assert sum(part.n_records for part in parts) == node.n_records
            assert all(part.level > node.level for part in parts)
    by_block = np.zeros(blocks.max() + 1, dtype=int)
    for leaf in leaves:
        by_block[leaf.block] += leaf.n_records
    assert by_block.tolist() == np.bincount(blocks).tolist()


@given_few(25, 300, case=files())
def test_cuts_by_rank_are_the_oracles(case):
    columns, most, k = case
    expected = oracle.by_rank(columns.T.tolist(), most, k)
    for n_jobs in (1, 2, 3):
        assert median_blocks(columns, most, k, n_jobs=n_jobs).tolist() == oracle.labels(expected)


@settings(max_examples=200)
@given(case=files(), seed=st.integers(0, 1000))
def test_joining_small_blocks_is_the_oracles(case, seed):
    columns, _, k = case
    n = columns.shape[1]
    labels = np.random.default_rng(seed).integers(0, max(1, n // 2), n)
    blocks = [np.flatnonzero(labels == b).tolist() for b in np.unique(labels)]
    numbered = np.array(oracle.labels(blocks))
    expected = oracle.labels(oracle.join_small(columns.T.tolist(), blocks, k))
    assert join_small_blocks(columns, numbered, k).tolist() == expected


@everywhere
@given_few(15, 100, case=files())
def test_no_block_is_smaller_than_k_and_numbers_follow_the_rows(name, case):
    columns, most, k = case
    labels = BLOCKINGS[name](columns, most, k)
    sizes = np.bincount(labels)
    assert sizes.min() >= min(k, columns.shape[1])
    firsts = [int(np.argmax(labels == block)) for block in range(sizes.size)]
    assert firsts == sorted(firsts)
    if name == "median":
        assert sizes.max() <= most
        assert sizes.size == -(-columns.shape[1] // (most - most % k))
        assert np.count_nonzero(sizes % k) <= 1


def test_univariate_intervals_have_one_width():
    columns = np.array([[0.0, 10, 1, 2, 9, 8, 5, 5.5, 4.9, 7.4]])
    labels = univariate_blocks(columns, 4, 2)  # three intervals of 10/3
    assert labels.tolist() == [0, 1, 0, 0, 1, 1, 2, 2, 2, 1]
    counted = univariate_blocks(columns, 4, 2, by="count")
    assert sorted(np.bincount(counted)) == [2, 4, 4]


@everywhere
def test_equal_records_end(name):
    labels = BLOCKINGS[name](np.full((3, 5000), 0.1), 100, 3)
    assert np.bincount(labels).min() >= 3


@everywhere
@pytest.mark.parametrize("far", [1e6, 1e300])
def test_an_outlier_that_leaves_every_half_empty_ends(name, far):
    columns = np.random.default_rng(0).random((10, 20_000))
    columns[:, 7] = far
    labels = BLOCKINGS[name](columns, 1000, 3)
    assert np.bincount(labels).min() >= 3
    if name != "univariate":  # which cuts one column into equal widths, come what may
        assert np.bincount(labels).max() <= 1000 + 3


@everywhere
def test_heavy_zeros_end(name):
    rng = np.random.default_rng(0)
    columns = np.where(rng.random((11, 20_000)) < 0.8, 0.0, rng.lognormal(size=(11, 20_000)))
    assert np.bincount(BLOCKINGS[name](columns, 500, 3)).min() >= 3


def test_neighbouring_floats_are_told_apart():
    low = 1.0
    high = np.nextafter(low, 2)
    columns = np.array([[low, high] * 20])
    assert_array_equal(orthant_blocks(columns, 20, 3), np.array([0, 1] * 20))


def test_the_largest_floats_do_not_overflow():
    columns = np.array([np.linspace(-1, 1, 64) * 1.7e308])
    assert np.bincount(orthant_blocks(columns, 16, 3)).tolist() == [16] * 4
    assert np.bincount(median_blocks(columns, 16, 3)).max() <= 15


def test_very_many_columns_and_small_leaves():
    columns = np.random.default_rng(0).random((70, 3000))
    labels = orthant_blocks(columns, 10, 3)
    assert np.bincount(labels).min() >= 3


@everywhere
@pytest.mark.parametrize(
    ("most", "k", "message"),
    [
        (5, 3, "max_block=5 must be a whole number, at least 6"),
        (2.5, 3, "max_block=2.5"),
        (100, 1, "protects nobody"),
        (100, 50, "cannot fill a group"),
    ],
)
def test_bad_sizes_are_named(name, most, k, message):
    with pytest.raises(InputError, match=message):
        BLOCKINGS[name](np.random.default_rng(0).random((2, 20)), most, k)


@pytest.mark.parametrize(("options", "message"), [({"column": 2}, "column=2"), ({"by": "size"}, "by='size'")])
def test_bad_options_of_intervals_are_named(options, message):
    with pytest.raises(InputError, match=message):
        univariate_blocks(np.random.default_rng(0).random((2, 20)), 10, 3, **options)
