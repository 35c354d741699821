"""Rows in another order, given back to their records: against every way to do it, and on files."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg.measures.matching import Files, by_nearest, by_position
from tests.lengths import given_few
from tests.reference.matching import agreeing, cheapest


def files_of(points, groups, kept=None, values=None):
    """Give the files of records that are masked by the means of their groups, rows sorted by group."""
    means = np.array([points[groups == group].mean(axis=0) for group in range(groups.max() + 1)])
    order = np.argsort(groups, kind="stable")
    kept = np.zeros(groups.size, dtype=np.int64) if kept is None else kept
    released = means[groups[order]]
    values = points if values is None else values
    slack = np.zeros(values.shape[1])
    return Files(points, released, groups[order], values, released[:, : values.shape[1]], slack, kept, kept[order])


@st.composite
def grouped(draw):
    sizes = draw(st.lists(st.integers(2, 4), min_size=2, max_size=3))
    groups = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.normal(size=(groups.size, 3)), rng.permutation(groups)


@settings(max_examples=60, deadline=None)
@given(grouped())
def test_groups_are_those_whose_means_agree(made):
    points, groups = made
    files = files_of(points, groups)
    centers = [points[groups == group].mean(axis=0).tolist() for group in range(groups.max() + 1)]
    (only,) = agreeing(points.tolist(), centers, np.bincount(groups).tolist())
    found = by_nearest(files)
    right = [tuple(np.flatnonzero(groups == group)) for group in range(len(centers))]
    assert [tuple(one) for one in only] == right
    if np.bincount(groups).max() <= 3:  # up to so many are exchanged at once
        assert found.groups.tolist() == groups.tolist()
        assert found.agree.all()
    given_to = [tuple(np.flatnonzero(found.groups == group)) for group in range(len(centers))]
    assert found.agree.tolist() == [own == wanted for own, wanted in zip(given_to, right, strict=True)]


@given_few(10, 60, grouped())
def test_without_sums_the_distances_are_the_least(made):
    points, groups = made
    found = by_nearest(files_of(points, groups, values=points[:, :0]))
    centers = [points[groups == group].mean(axis=0).tolist() for group in range(groups.max() + 1)]
    least = cheapest(points.tolist(), centers, np.bincount(groups).tolist())
    assert found.cost * groups.size == pytest.approx(least)
    assert np.array_equal(np.bincount(found.groups), np.bincount(groups))
    assert not found.agree.any()


def test_what_was_kept_tells_records_apart():
    points = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.2], [5.4], [5.6]])
    groups, kept = np.array([0, 1, 1, 0, 2, 3, 3, 2]), np.array([0, 1, 1, 0, 0, 1, 1, 0])
    files = files_of(points, groups, kept)  # groups 0 and 1 have the same mean, as 2 and 3 have
    assert by_nearest(files).groups.tolist() == groups.tolist()
    assert by_nearest(
        replace(files, values=points[:, :0], means=points[:, :0], rounding=np.zeros(0))
    ).groups.tolist() == (groups.tolist())


def test_many_records_are_matched_by_the_nearest_pairs():
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.repeat(np.arange(800), 3))
    points = 10.0 * rng.normal(size=(800, 3))[groups] + rng.normal(size=(2400, 3))
    files = files_of(points, groups)
    told = []
    found = by_nearest(files, lambda done, total: told.append(done / total))
    assert np.array_equal(found.groups[found.agree[found.groups]], groups[found.agree[found.groups]])
    assert found.agree.mean() > 0.99
    assert max(told) <= 1.0
    assert by_position(files).agree.mean() < 0.01
    assert by_position(files).cost > 10.0 * found.cost
