"""Points of mixed tables: numbers first, one code for each column of categories, coordinates only when asked for."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from microagg.columns.embedding import embed, embed_both
from microagg.columns.kinds import Cells, Nominal, Number, Taxonomy
from microagg.columns.table import Coded, Table

RNG = np.random.default_rng(0)
JOBS = RNG.integers(0, 7, 200).astype(float)
KIN = (tuple(range(7)), (0, 0, 0, 1, 1, 2, 2))


def table(*columns):
    return Table(tuple(Coded(f"c{j}", kind, Cells(values)) for j, (kind, values) in enumerate(columns)))


def test_numbers_come_first_and_categories_take_one_entry():
    points = embed(table((Nominal(), JOBS), (Number(), RNG.random(200)), (Nominal(), JOBS % 2)))
    assert points.entry_owners.tolist() == [1, 2, 0]  # of two categories one coordinate is enough
    assert points.owners.tolist() == [1, 2] + [0] * 7
    assert_array_equal(points.records.entries[2], JOBS)
    assert_array_equal(points.coordinates[2:].argmax(axis=0), JOBS)
    assert_array_equal((points.coordinates[2:] > 0).sum(axis=0), 1)


def test_a_block_of_categories_has_variance_one():
    spread = embed(table((Nominal(), JOBS))).coordinates
    assert spread.var(axis=1).sum() == pytest.approx(1.0)
    assert set(np.round(((spread[:, :1] - spread) ** 2).sum(axis=0), 9)) == {0.0, round(2 * spread.max() ** 2, 9)}


def test_a_taxonomy_takes_one_entry_a_level():
    points = embed(table((Taxonomy(kin=KIN), JOBS), (Number(), RNG.random(200))))
    assert points.entry_owners.tolist() == [1, 0, 0]
    assert np.diff(points.records.starts).tolist() == [7, 3]
    assert_array_equal(points.records.entries[2], np.array(KIN[1])[JOBS.astype(int)])
    assert points.coordinates[1:].var(axis=1).sum() == pytest.approx(1.0)


def test_records_without_numbers_get_a_zero():
    points = embed(table((Nominal(), JOBS)))
    assert points.owners.tolist() == [-1] + [0] * 7
    assert not points.records.entries[0].any()


def test_a_category_that_the_original_lacks_is_nowhere():
    original = table((Nominal(), JOBS))
    other = table((Nominal(), np.full(200, 9.0)))
    assert not embed_both(original, other)[1].coordinates.any()
