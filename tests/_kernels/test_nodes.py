"""Passes over records in nodes: what looking at each node by itself would find."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from microagg.algorithms.kernels.blocking import (
    count_digits,
    gather_keys,
    key_of_bits,
    places_of,
    see_extremes,
    send_to_parts,
)
from microagg.mask.engines.cuts import Extremes


@pytest.fixture
def records():
    rng = np.random.default_rng(3)
    entries = rng.integers(-3, 4, (3, 500)).astype(float)  # many ties
    entries[entries == 0.0] *= rng.choice([-1.0, 1.0], np.count_nonzero(entries == 0.0))
    return entries, rng.integers(0, 4, 500).astype(np.int32), np.array([1, -1, 0, -1])


def test_extremes_of_parts_join_to_those_of_each_node(records):
    entries, nodes, slots = records
    parts = []
    for begin, end in ((0, 200), (200, 203), (203, 500)):
        parts.append(Extremes.none(3, 2))
        see_extremes(entries, begin, end, nodes[begin:end], slots, *parts[-1])
    found = Extremes.joined(parts)
    for node in (0, 2):
        own, slot = entries[:, nodes == node], slots[node]
        assert_array_equal(found.lowest[:, slot], own.min(axis=1))
        assert_array_equal(found.highest[:, slot], own.max(axis=1))
        assert_array_equal(found.at_lowest[:, slot], (own.min(axis=1) == own.T).sum(axis=0))
        assert_array_equal(found.at_highest[:, slot], (own.max(axis=1) == own.T).sum(axis=0))


def test_a_node_sends_the_records_of_its_lowest_ranks_below(records):
    entries, nodes, slots = records
    columns, uppers = np.array([2, 0]), np.array([4, 5], dtype=np.int32)
    sizes = np.array([np.count_nonzero(nodes == 2), np.count_nonzero(nodes == 0)])
    keys, places = np.empty(sizes.sum()), np.array([0, sizes[0]])
    gather_keys(entries, 0, 500, nodes, slots, columns, places, keys)
    after, lower = nodes.copy(), [sizes[0] // 3, sizes[1] // 2]
    last, taken = np.empty(2), np.empty(2, dtype=np.int64)
    for slot, own in enumerate(np.split(keys, [sizes[0]])):
        last[slot] = np.sort(own)[lower[slot] - 1]
        taken[slot] = lower[slot] - np.count_nonzero(own < last[slot])
    for begin, end in ((0, 77), (77, 500)):
        send_to_parts(entries, begin, end, slots, columns, last, uppers, taken, after[begin:end])
    for node, slot in ((2, 0), (0, 1)):
        rows = np.flatnonzero(nodes == node)
        order = rows[np.argsort(entries[columns[slot], rows] + 0.0, kind="stable")]
        assert_array_equal(np.flatnonzero(after == node), np.sort(order[: lower[slot]]))
        assert_array_equal(np.flatnonzero(after == uppers[slot]), np.sort(order[lower[slot] :]))
    assert_array_equal(after[(nodes == 1) | (nodes == 3)], nodes[(nodes == 1) | (nodes == 3)])


def test_bits_of_keys_find_the_record_of_a_rank():
    values = np.array([[-np.inf, -2.5, -0.0, 0.0, 1e-300, 3.0, 3.0, 1e300]])
    nodes, slots, columns = np.zeros(8, dtype=np.int32), np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    for rank, expected in enumerate(values[0] + 0.0):
        prefix, below = np.zeros(1, dtype=np.uint64), rank
        for shift in (48, 32, 16, 0):
            counts = np.zeros((1, 1 << 16), dtype=np.int64)
            count_digits(values.view(np.uint64), nodes, slots, columns, prefix, shift, 16, counts)
            digit = int(np.searchsorted(np.cumsum(counts[0]), below, side="right"))
            below -= int(counts[0, :digit].sum())
            prefix = prefix << np.uint64(16) | np.uint64(digit)
        assert key_of_bits(prefix)[0] == expected


def test_nodes_follow_each_other_in_the_order_of_rows(records):
    _, nodes, _ = records
    following, places = np.cumsum([0, *np.bincount(nodes)[:-1]]), np.empty(500, dtype=np.int64)
    places_of(nodes[:300], following, places[:300])
    places_of(nodes[300:], following, places[300:])
    assert_array_equal(np.argsort(places), np.argsort(nodes, kind="stable"))
