import numpy as np
import pyarrow as pa
import pytest

import microagg as ma
from microagg.algorithms.equivalence import rows_of
from microagg.algorithms.kernels.records import plain_records, take
from microagg.algorithms.median_tree import median_blocks
from microagg.algorithms.methods import METHODS
from microagg.algorithms.refine import refine, squared_error
from microagg.algorithms.units import Units, held_by
from microagg.mask.pieces import Placed, refine_groups
from microagg.recipe import Refine
from microagg.work import Work
from tests.lengths import first_few
from tests.reference.districts import districts

HOW = Refine(effort="fast", seed=2)


@pytest.fixture(autouse=True)
def small_districts(monkeypatch):
    """Let districts be as small as blocks."""
    monkeypatch.setattr("microagg.algorithms.districts.DISTRICT", 1)


def made(n, d, max_block, k, pieces=None, units=None):
    """Give records, the rows of blocks, the pieces they are cut from, and groups formed in blocks."""
    records = plain_records(np.random.default_rng(n).random((d, n)))
    pieces = np.zeros(n, dtype=np.int64) if pieces is None else pieces
    blocks, labels = [], np.empty(n, dtype=np.int64)
    for rows in rows_of(pieces):
        blocks += [rows[own] for own in rows_of(median_blocks(records.entries[:, rows], max_block, k))]
    for number, rows in enumerate(blocks):
        bound = {} if units is None else {"units": units.take(rows)}
        labels[rows] = METHODS["mdav"].function(take(records, rows), k, **bound) + number * n
    return records, blocks, pieces, np.unique(labels, return_inverse=True)[1].astype(np.int64)


def alone(records, blocks, groups, k, how=HOW):
    """Refine the groups of each block, one after the other."""
    found = np.empty_like(groups)
    for number, rows in enumerate(blocks):
        found[rows] = refine(take(records, rows), groups[rows], k, effort=how.effort, seed=how.seed).labels
        found[rows] += number * groups.size
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def by_the_book(records, blocks, groups, k, how):
    """Refine blocks, then districts, by loops, all groups being of one piece."""
    found = alone(records, blocks, groups, k, how)
    members = [np.flatnonzero(found == group).tolist() for group in range(found.max() + 1)]
    most = max(rows.size for rows in blocks)
    scales = [1.0] * records.entries.shape[0]
    for number, own in enumerate(districts(records.entries.T.tolist(), members, scales, most), 1):
        rows = np.sort(np.concatenate([np.array(one) for one in own]))
        again = refine(take(records, rows), found[rows], k, effort=how.effort, seed=how.seed, reheat=True)
        found[rows] = again.labels + number * groups.size
    return found


def alike(one, other):
    """Tell whether two partitions are the same."""
    pairs = np.unique(np.stack([one, other]), axis=1).shape[1]
    return pairs == np.unique(one).size == np.unique(other).size


@pytest.mark.parametrize("effort", ["fast", 30_000])
def test_blocks_are_refined_then_districts(effort):
    records, blocks, pieces, groups = made(600, 3, 150, 3)
    how = Refine(effort=effort, seed=1)
    found, moves = refine_groups(Placed(records), blocks, pieces, groups, 3, how, Work(1))
    assert alike(found, by_the_book(records, blocks, groups, 3, how))
    assert moves > 0


@pytest.mark.parametrize(
    ("n", "d", "max_block", "k"), first_few(1, [(2000, 4, 300, 5), (3000, 2, 500, 3), (3000, 5, 1000, 3)])
)
def test_borders_cost_less(n, d, max_block, k):
    records, blocks, pieces, groups = made(n, d, max_block, k)
    found, _ = refine_groups(Placed(records), blocks, pieces, groups, k, HOW, Work(1))
    within = alone(records, blocks, groups, k)
    assert np.bincount(found).min() >= k
    assert squared_error(records, found) < 0.995 * squared_error(records, within)
    block_of = np.empty(n, dtype=np.int64)
    for number, rows in enumerate(blocks):
        block_of[rows] = number
    crossing = [group for group in range(found.max() + 1) if np.unique(block_of[found == group]).size > 1]
    assert crossing
    two, _ = refine_groups(Placed(records), blocks, pieces, groups, k, HOW, Work(2))
    assert np.array_equal(found, two)


def test_pieces_stay_apart_and_a_piece_of_one_block_is_refined_once():
    pieces = np.random.default_rng(0).choice(3, 1200, p=[0.6, 0.3, 0.1])
    records, blocks, pieces, groups = made(1200, 3, 200, 3, pieces)
    found, _ = refine_groups(Placed(records), blocks, pieces, groups, 3, HOW, Work(1))
    assert all(np.unique(pieces[found == group]).size == 1 for group in range(found.max() + 1))
    small = pieces == 2
    assert alike(found[small], alone(records, blocks, groups, 3)[small])
    assert not alike(found, alone(records, blocks, groups, 3))


def test_units_are_kept():
    units = Units(np.random.default_rng(3).integers(0, 400, 1200), True)
    records, blocks, pieces, groups = made(1200, 3, 300, 3, units=units)
    found, _ = refine_groups(Placed(records, units), blocks, pieces, groups, 3, HOW, Work(1))
    assert not held_by(found, units.codes, found.max() + 1).short(3, in_part=True).any()
    assert squared_error(records, found) < squared_error(records, groups)


def test_groups_that_lie_in_one_place_stay():
    records = plain_records(np.concatenate([np.zeros(600), np.arange(600) + 1.0])[None])
    groups = np.repeat(np.arange(300), 4)
    blocks = np.split(np.arange(1200), 12)
    found, _ = refine_groups(Placed(records), blocks, np.zeros(1200, dtype=np.int64), groups, 3, HOW, Work(1))
    assert np.array_equal(found[:600], groups[:600])
    assert np.bincount(found).min() >= 3


def test_districts_may_be_larger_than_small_blocks_and_mend_more(monkeypatch):
    X = ma.datasets.normal(3000, 6, seed=2)
    table = pa.table({f"c{j}": np.ascontiguousarray(X[:, j]) for j in range(6)})
    choices = {"refine": "fast", "blocks": "median", "max_block": 200}
    as_small = ma.protect(table, 4, **choices).information.percent
    monkeypatch.undo()
    assert ma.protect(table, 4, **choices).information.percent < 0.95 * as_small


@pytest.mark.parametrize("blocks", ["median", "orthants", "univariate"])
def test_every_way_of_cutting_loses_less_refined_across_borders(blocks):
    X = ma.datasets.normal(2000, 3, seed=1)
    table = pa.table({f"c{j}": np.ascontiguousarray(X[:, j]) for j in range(3)})
    plain = ma.protect(table, 4, blocks=blocks, max_block=300)
    found = ma.protect(table, 4, blocks=blocks, max_block=300, refine="fast")
    assert found.k_achieved >= 4
    assert found.information.percent < 0.9 * plain.information.percent


def test_a_demand_is_kept_across_borders():
    rng = np.random.default_rng(5)
    table = pa.table({"a": rng.random(900), "b": rng.random(900), "s": rng.choice(["x", "y", "z"], 900)})
    choices = {"confidential": ["s"], "l": 2, "blocks": "median", "max_block": 200}
    plain, found = (ma.protect(table, 3, **choices, **more) for more in ({}, {"refine": "fast"}))
    codes = np.unique(np.array(table["s"]), return_inverse=True)[1]
    assert all(np.unique(codes[found.groups == group]).size >= 2 for group in range(found.groups.max() + 1))
    assert found.information.percent < plain.information.percent
