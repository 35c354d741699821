"""Blocks that are not cut by rank, of a file beyond memory: those of memory, on disk and on a cluster."""

import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InvalidParameter, RoleError
from tests.beyond.frames import CHOICES, ROLES, assert_same, mixed
from tests.beyond.test_units import ROW, saved, with_units
from tests.lengths import first_few

NUMBERS = ["age", "income", "tax"]
SURVEY = ma.datasets.survey(3000, seed=2)
OF_SURVEY = {"quasi": NUMBERS, "rest": "drop"}
WAYS = [
    {"blocks": "orthants", "max_block": 90},
    {"blocks": "orthants", "max_block": 60, "block_fusion": "limited"},
    {"blocks": "orthants", "max_block": 100, "block_columns": ["income", "age"]},
    {"blocks": "univariate", "max_block": 200, "block_intervals": "count"},
    {"blocks": "univariate", "max_block": 200, "block_columns": ["tax"]},
    {"blocks": "median", "max_block": 150, "block_columns": ["income"]},
]


@pytest.mark.parametrize("strata", [[], ["region"]])
@pytest.mark.parametrize("way", WAYS)
def test_disk_gives_what_memory_does(tmp_path, way, strata):
    options = {**OF_SURVEY, "strata": strata, **way}
    found = ma.protect_file(saved(SURVEY, tmp_path), tmp_path / "out.parquet", 4, **options)
    expected = ma.protect(SURVEY, 4, **options)
    assert found.n_blocks > 1 + 4 * bool(strata)
    assert_same(found, expected, pq.read_table(tmp_path / "out.parquet"))


@pytest.mark.parametrize("missing", ["pattern", "state"])
@pytest.mark.parametrize("more", [{}, {"refine": "fast", "seed": 3}])
def test_every_kind_of_column_and_missing_values(tmp_path, missing, more):
    table = mixed(900, 5)
    options = {"blocks": "orthants", "max_block": 80, "missing": missing, **more, **CHOICES, **ROLES}
    found = ma.protect_file(saved(table, tmp_path), tmp_path / "out.parquet", 3, **options)
    assert_same(found, ma.protect(table, 3, **options), pq.read_table(tmp_path / "out.parquet"))


@pytest.mark.parametrize("blocks", ["orthants", "univariate"])
def test_blocks_hold_k_units(tmp_path, blocks):
    table = with_units(900, 7)
    options = {"blocks": blocks, "max_block": 50, "unit": "unit", **ROW, **CHOICES, **ROLES}
    found = ma.protect_file(saved(table, tmp_path), tmp_path / "out.parquet", 4, **options)
    assert_same(found, ma.protect(table, 4, **options), pq.read_table(tmp_path / "out.parquet"))


@pytest.mark.parametrize(("way", "partitions"), first_few(1, [(WAYS[0], 3), (WAYS[1], 7), (WAYS[2], 1), (WAYS[4], 5)]))
def test_a_cluster_gives_what_memory_does(tmp_path, cluster, way, partitions):
    options = {**OF_SURVEY, "strata": ["region"], **way}
    there = {"engine": "dask", "scheduler": cluster, "partitions": partitions}
    found = ma.protect_file(saved(SURVEY, tmp_path), tmp_path / "out.parquet", 4, **there, **options)
    assert_same(found, ma.protect(SURVEY, 4, **options), pq.read_table(found.path))


@pytest.mark.campaign
def test_a_cluster_with_units_and_every_kind(tmp_path, cluster):
    table = with_units(1500, 3)
    options = {"blocks": "orthants", "max_block": 60, "unit": "unit", **ROW, **CHOICES, **ROLES}
    there = {"engine": "dask", "scheduler": cluster, "partitions": 4}
    found = ma.protect_file(saved(table, tmp_path), tmp_path / "out.parquet", 4, **there, **options)
    assert_same(found, ma.protect(table, 4, **options), pq.read_table(found.path))


def test_what_cannot_be_cut_so_is_refused(tmp_path):
    source, target = saved(SURVEY, tmp_path), tmp_path / "out.parquet"
    with pytest.raises(InvalidParameter, match="cut into blocks in a way that has a name") as caught:
        ma.protect_file(source, target, 4, blocks="none", **OF_SURVEY)
    assert caught.value.parameter == "blocks"
    with pytest.raises(RoleError, match="block_columns"):
        ma.protect_file(source, target, 4, blocks="orthants", block_columns=["region"], **OF_SURVEY)
    assert not target.exists()
