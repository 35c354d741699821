"""Numbers and codes against all coordinates: distances, sums, and the order from the outside in."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from microagg.algorithms._run import from_outside
from microagg.algorithms.kernels.records import (
    coordinate_sums,
    coordinates,
    distances_to,
    full_distances,
    record_distances,
    rounding_of,
    take,
)
from tests.partition.test_codes import made

records_of_all_sorts = st.builds(
    made,
    n=st.integers(2, 300),
    categories=st.sampled_from([1, 3, 50]),
    numbers=st.integers(1, 5),
    codes=st.integers(1, 4),
    seed=st.integers(0, 10**6),
    decimals=st.sampled_from([None, 0]),
)


def sum_of_squares(differences):
    """Add up squares one by one, in the order of the coordinates."""
    total = np.zeros(differences.shape[1])
    for difference in differences:
        total += difference * difference
    return total


@given(records=records_of_all_sorts)
def test_distances_of_two_records_have_the_bits_of_all_coordinates(records):
    spread = coordinates(records)
    found = np.empty(spread.shape[1])
    record_distances(records.entries, records.heights, 0, found.size, records.entries[:, -1].copy(), found)
    assert_array_equal(found, sum_of_squares(spread - spread[:, -1:]))


@given(records=records_of_all_sorts)
def test_distances_to_a_centroid_bound_those_over_all_coordinates(records):
    spread = coordinates(records)
    centroid = spread.mean(axis=1)
    exact = sum_of_squares(spread - centroid[:, None])
    assert_array_equal(full_distances(records, np.arange(exact.size), centroid), exact)
    bounds, slack = distances_to(records, centroid), rounding_of.py_func(centroid.size)
    assert (bounds <= exact * slack).all()
    assert (exact <= bounds * slack).all()


@given(records=records_of_all_sorts)
def test_sums_are_rounded_once(records):
    assert coordinate_sums(records).tolist() == [math.fsum(column) for column in coordinates(records)]


@given(records=records_of_all_sorts)
def test_ties_from_the_outside_go_by_row(records):
    spread = coordinates(records)
    centroid = coordinate_sums(records) / spread.shape[1]
    expected = np.argsort(-sum_of_squares(spread - centroid[:, None]), kind="stable")
    assert_array_equal(from_outside(records), expected)


def test_a_category_that_the_space_lacks_has_no_coordinate():
    records = made(6, 3, seed=3)
    records.entries[-1, 4] = -1.0
    spread = coordinates(records)[records.starts[-2] :]
    assert_array_equal((spread > 0).sum(axis=0), [1, 1, 1, 1, 0, 1])


@pytest.mark.parametrize("rows", [[0], [5, 1, 1]])
def test_some_records_are_taken_in_order(rows):
    records = made(6, 3)
    some = take(records, np.array(rows))
    assert_array_equal(coordinates(some), coordinates(records)[:, rows])
    assert some.entries.flags.c_contiguous
