"""Refining across the borders of blocks: the same groups in memory, on disk and on a cluster."""

from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.algorithms import districts
from microagg.mask.engines.cuts import CutTree
from tests.beyond.frames import CHOICES, ROLES, WAYS, assert_same, mixed, weighted
from tests.beyond.test_cluster import compare
from tests.beyond.test_units import with_units
from tests.lengths import first_few

K = 3


@pytest.fixture(autouse=True)
def small_districts(monkeypatch):
    """Let districts be as small as blocks; no worker looks at it."""
    monkeypatch.setattr(districts, "DISTRICT", 1)


def numbers(n, seed=0, *, unit=False, strata=False, weight=False):
    """Make a file of three columns in which no two values are the same."""
    rng = np.random.default_rng(seed)
    columns = {name: rng.normal(size=n) for name in "abc"}
    if strata:
        columns["region"] = rng.choice(["N", "S", "E"], n, p=[0.6, 0.3, 0.1])
    if unit:
        columns["unit"] = rng.integers(0, n // 2, n)
    if weight:
        columns["weight"] = rng.integers(1, 9, n).astype(float)
    roles = {"unit": "unit"} if unit else {}
    roles |= {"strata": ["region"]} if strata else {}
    return pa.table(columns), roles | ({"weight": "weight", "weighted": True} if weight else {})


def in_order_of_values(n, seed):
    """Make a file full of ties whose rows are in the order of their values, which memory sorts them by."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 9, n), rng.integers(0, 5, n), rng.choice(["x", "y", "z"], n), rng.integers(0, 40, n)]
    order = np.lexsort(columns[::-1])
    return pa.table({f"c{j}": column[order] for j, column in enumerate(columns)})


@pytest.fixture(params=first_few(1, ["disk", "dask"]))
def masked_on(request):
    """Return how a file is masked on disk alone, or there and on a cluster, which must give the same."""
    if request.param == "dask":
        return partial(compare, cluster=request.getfixturevalue("cluster"), partitions=4)

    def on_disk(source, tmp_path, **options):
        return ma.protect_file(source, tmp_path / "here.parquet", overwrite=True, **options)

    return on_disk


def check(table, tmp_path, masked_on, options, max_block=150):
    """Mask in memory and beyond it; the groups are those of memory."""
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=170)
    options = {"refine": "fast", "seed": 5, "max_block": max_block, "rounding": "none", **options}
    found = masked_on(tmp_path / "in.parquet", tmp_path, k=K, **options)
    expected = ma.protect(table, K, blocks="median", **options)
    assert_same(found, expected, pq.read_table(found.path))
    assert found.sample.moves == expected.moves
    assert found.n_blocks == expected.n_blocks > 1
    assert found.k_achieved >= K
    return found


@pytest.mark.parametrize("what", first_few(1, ["strata", "unit", "weight"]))
def test_memory_disk_and_a_cluster_give_the_same(tmp_path, masked_on, what):
    table, roles = numbers(1200, **{what: True})
    check(table, tmp_path, masked_on, roles)


def test_of_ties_too_where_rows_are_in_the_order_of_values(tmp_path, masked_on):
    check(in_order_of_values(1300, 1), tmp_path, masked_on, {"kinds": {"c2": "nominal"}})


def test_a_file_may_be_one_district(tmp_path, masked_on, monkeypatch):
    monkeypatch.setattr(districts, "DISTRICT", 50_000)
    table, roles = numbers(1200, strata=True)
    check(table, tmp_path, masked_on, roles)


def test_districts_cut_by_some_of_the_groups(tmp_path, masked_on, monkeypatch):
    table, _ = numbers(1500, 4)
    all_of_them = check(table, tmp_path, masked_on, {})
    monkeypatch.setattr(districts, "CORNERS", 60)
    some = check(table, tmp_path, masked_on, {})
    assert some.information != all_of_them.information


def test_borders_cost_less_than_where_blocks_are_refined_alone(tmp_path, monkeypatch):
    table, _ = numbers(2000, 2)
    pq.write_table(table, tmp_path / "in.parquet")

    def masked():
        return ma.protect_file(
            tmp_path / "in.parquet", tmp_path / "out.parquet", K, max_block=300, refine="fast", overwrite=True
        )

    across = masked()
    monkeypatch.setattr(CutTree, "bordered", property(lambda self: np.zeros(max(self.pieces) + 1, dtype=bool)))
    alone = masked()
    assert across.information.percent < 0.99 * alone.information.percent
    assert across.sample.moves > alone.sample.moves
    assert across.n_blocks == alone.n_blocks


@pytest.mark.campaign
@pytest.mark.parametrize("way", ["weights", "units", "drawn"])
def test_every_kind_of_column_comes_out_of_a_cluster_as_from_disk(tmp_path, cluster, way):
    """Ties across a cut are parted by row there, and by value in memory."""
    table = with_units(1000, 3) if way == "units" else weighted(mixed(1000, 3), 3)
    options = {
        "units": {"unit": "unit", "unit_constant": "row"},
        "weights": WAYS[min(WAYS)],
        "drawn": {"nominal": "draw", "nominal_seed": 5},
    }[way]
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=130)
    choices = {"refine": 4000, "max_block": 80, "missing": "state", **CHOICES, **ROLES, **options}
    found = compare(tmp_path / "in.parquet", tmp_path, cluster, 4, partitions=5, **choices)
    assert found.k_achieved >= 4


def test_neither_threads_nor_progress_change_anything(tmp_path):
    table, _ = numbers(1500, 6)
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=200)
    told = []
    for n_jobs in (1, 3):
        ma.protect_file(
            tmp_path / "in.parquet",
            tmp_path / f"{n_jobs}.parquet",
            K,
            max_block=100,
            refine=2000,
            n_jobs=n_jobs,
            progress=lambda *a: told.append(a),
        )
    assert pq.read_table(tmp_path / "1.parquet").equals(pq.read_table(tmp_path / "3.parquet"))
    first = told[: told.index((4500, 4500)) + 1]
    assert [done for done, _ in first] == sorted(done for done, _ in first)
