import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.algorithms import districts as module
from microagg.algorithms.districts import GroupCorners, cut_districts, share_of_corners
from tests.reference import districts as reference


@st.composite
def files(draw):
    """Give entries (d, n) with many ties, and groups of at least two."""
    n_groups, d = draw(st.integers(1, 25)), draw(st.integers(1, 3))
    labels = np.repeat(np.arange(n_groups), 2)
    extra = draw(st.lists(st.integers(0, n_groups - 1), max_size=10))
    labels = np.concatenate([labels, np.array(extra, dtype=np.int64)])
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.integers(0, draw(st.sampled_from([2, 4, 50])), (d, labels.size)).astype(float), rng.permutation(labels)


def of_groups(entries, labels, most, scales=None):
    """Give the district of each group of one piece that has borders."""
    corners = GroupCorners.of(entries, labels, np.zeros(labels.max() + 1, dtype=np.int64))
    scales = np.ones(entries.shape[0]) if scales is None else scales
    found = cut_districts(corners, np.array([True]), scales, most)
    return found, found.find(corners)


@given(files(), st.integers(2, 30), st.booleans())
def test_districts_are_as_defined(file, most, scaled):
    entries, labels = file
    scales = np.array([1.0, 0.25, 3.0])[: entries.shape[0]] if scaled else np.ones(entries.shape[0])
    found, own = of_groups(entries, labels, most, scales)
    members = [np.flatnonzero(labels == group).tolist() for group in range(labels.max() + 1)]
    expected = reference.districts(entries.T.tolist(), members, scales.tolist(), most)
    assert found.n_districts == len(expected)
    listed = {frozenset(map(tuple, groups)) for groups in expected}
    assert {
        frozenset(tuple(members[group]) for group in np.flatnonzero(own == number)) for number in range(len(expected))
    } == listed


@given(files(), st.integers(2, 30), st.integers(0, 100))
def test_neither_the_order_of_records_nor_that_of_groups_matters(file, most, seed):
    entries, labels = file
    rng = np.random.default_rng(seed)
    rows, numbers = rng.permutation(labels.size), rng.permutation(labels.max() + 1)
    _, own = of_groups(entries, labels, most)
    _, other = of_groups(entries[:, rows], numbers[labels[rows]], most)
    assert np.array_equal(own, other[numbers])


def test_pieces_stay_apart_and_those_without_borders_have_no_district():
    rng = np.random.default_rng(0)
    labels, pieces = np.repeat(np.arange(300), 3), np.arange(300) % 3
    corners = GroupCorners.of(rng.random((2, 900)), labels, pieces)
    found = cut_districts(corners, np.array([True, False, True]), np.ones(2), 60)
    own = found.find(corners)
    assert np.array_equal(own < 0, pieces == 1)
    assert not set(own[pieces == 0]) & set(own[pieces == 2])
    assert set(own[pieces != 1]) == set(range(found.n_districts))
    assert np.bincount(own[own >= 0], corners.sizes[own >= 0]).max() <= 60


def test_cuts_lie_elsewhere_than_those_of_blocks():
    values = np.linspace(0, 1, 3000)[None]
    found, own = of_groups(values, np.repeat(np.arange(1000), 3), 1900)
    assert found.values[0] == pytest.approx(0.618, abs=0.002)
    assert np.bincount(own).tolist() == [619, 381]


def test_groups_in_one_place_cannot_be_cut_and_are_too_many():
    found, own = of_groups(np.zeros((2, 90)), np.repeat(np.arange(30), 3), 40)
    assert found.n_districts == 1
    assert not own.any()
    assert found.too_large(np.array([90]), 40).all()
    assert not found.too_large(np.array([80]), 40).any()


def test_a_share_of_the_groups_cuts_about_as_all_do(monkeypatch):
    monkeypatch.setattr(module, "CORNERS", 2000)
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(10_000), 3)
    corners = GroupCorners.of(rng.random((3, 30_000)), labels, np.zeros(10_000, dtype=np.int64))
    share = share_of_corners(30_000, 3)
    assert share == 0.2
    drawn = corners.drawn(share)
    assert 1800 < drawn.sizes.size < 2200
    order = rng.permutation(10_000)
    again = corners.take(order).drawn(share)  # the same groups are drawn in any order
    assert np.array_equal(np.sort(again.entries[0]), np.sort(drawn.entries[0]))
    found = cut_districts(drawn, np.array([True]), np.ones(3), 3000 * share)
    sizes = np.bincount(found.find(corners), corners.sizes)
    assert sizes.size == found.n_districts >= 10
    assert sizes.max() < 1.2 * 3000
    assert share_of_corners(5000, 3) == 1.0
