"""Digests tell apart what differs and nothing else, and are counted right in whatever parts they come."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.algorithms.kernels import alike
from microagg.algorithms.kernels.alike import NO_DIGESTS, digests_of, fewest_alike, float_bits, in_order
from tests.reference import alike as oracle

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.1 + 0.2, 0.3, 5e-324, float("nan"), -float("nan"), float("inf")])


@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=40), st.binary(min_size=16, max_size=16))
def test_it_is_what_counting_one_by_one_gives(rows, key):
    columns = np.array(rows).T
    digests = in_order(digests_of([float_bits(np.ascontiguousarray(column)) for column in columns], key))
    assert fewest_alike([digests]) == oracle.fewest_alike(columns.tolist())


def test_a_missing_value_is_one_whatever_its_bits():
    odd = np.array([0x7FF8000000000001, 0xFFF0000000000001, 0x7FF8000000000000], dtype=np.uint64).view(np.float64)
    assert len(set(float_bits(odd).tolist())) == 1


@given(st.lists(st.lists(st.integers(0, 30), max_size=20), max_size=6), st.integers(1, 8))
def test_parts_do_not_show(parts, at_once):
    key = bytes(16)
    values = [np.array(part, dtype=np.uint64) for part in parts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(alike, "_AT_ONCE", at_once)
        found = fewest_alike([in_order(digests_of([part], key)) for part in values])
    assert found == oracle.fewest_alike([[value for part in parts for value in part]])


def test_both_lanes_are_looked_at():
    same, other = np.uint64(7), np.uint64(8)
    digests = np.array([[same] * 6 + [other] * 3, [1, 2, 1, 2, 1, 2, 3, 3, 3]], dtype=np.uint64)
    assert fewest_alike([digests]) == 3
    digests[1, 0] = 9
    assert fewest_alike([digests]) == 1


def test_of_nothing_there_are_none():
    assert fewest_alike([]) == fewest_alike([NO_DIGESTS]) == 0


def test_digests_depend_on_the_key_the_order_and_every_block():
    n = alike._BLOCK + 3
    column = np.arange(n, dtype=np.uint64)
    one, other = np.zeros(n, dtype=np.uint64), column + np.uint64(n)
    found = digests_of([column, other], b"a" * 16)
    assert found.shape == (2, n)
    assert np.unique(found).size == 2 * n
    assert not np.isin(found, digests_of([column, other], b"b" * 16)).any()
    assert not np.isin(found, digests_of([other, column], b"a" * 16)).any()
    lanes = digests_of([np.stack([column, one])], b"a" * 16)
    assert np.unique(lanes[0]).size == n
    assert np.unique(lanes[1]).size == 1


def test_small_whole_numbers_and_signs_do_not_cancel():
    """Values with few bits set, of which sums or differences agree: 40 000 combinations, 40 000 digests."""
    values = np.arange(-100.0, 100.0)
    first, second = np.repeat(values, 200), np.tile(values, 200)
    lanes = digests_of([float_bits(first), float_bits(second)], b"k" * 16)
    assert [np.unique(lane).size for lane in lanes] == [40_000, 40_000]
