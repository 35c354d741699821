"""Units of a file beyond memory: the groups that memory forms, on disk and on a cluster."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InputError, InvalidData, TooFewRecords
from tests.beyond.frames import CHOICES, ROLES, assert_same, mixed
from tests.lengths import first_few

ROW = {"unit_constant": "row"}  # units of many rows must be said to be masked row by row


def with_units(n, seed, *, text=False, largest=6):
    """Make a frame of every kind of column whose rows belong together, scattered over the file."""
    rng = np.random.default_rng(seed)
    units = np.repeat(np.arange(n), rng.integers(1, largest + 1, n))[:n]
    rng.shuffle(units)
    column = pa.array([f"household {unit}" for unit in units]) if text else pa.array(units)
    return mixed(n, seed).append_column("unit", column)


def saved(table, tmp_path):
    path = tmp_path / "in.parquet"
    pq.write_table(table, path, row_group_size=170)
    return path


@pytest.mark.parametrize("missing", ["pattern", "state"])
@pytest.mark.parametrize(("method", "share"), [("mdav", "limited"), ("vmdav", "limited"), ("cbfs", "any")])
def test_disk_gives_what_memory_does(tmp_path, missing, method, share):
    table = with_units(900, 2, text=method == "vmdav")
    options = {"missing": missing, "unit": "unit", "unit_share": share, "method": method, **ROW, **CHOICES, **ROLES}
    found = ma.protect_file(saved(table, tmp_path), tmp_path / "out.parquet", 4, max_block=80, **options)
    expected = ma.protect(table, 4, blocks="median", max_block=80, **options)
    assert_same(found, expected, pq.read_table(tmp_path / "out.parquet"))
    assert found.k_achieved >= 4


@pytest.mark.campaign
@pytest.mark.parametrize(("missing", "partitions"), [("pattern", 4), ("state", 1)])
def test_a_cluster_gives_what_memory_does(tmp_path, cluster, missing, partitions):
    table = with_units(1500, 3, text=True)
    options = {"missing": missing, "unit": "unit", "max_block": 60, **ROW, **CHOICES, **ROLES}
    found = ma.protect_file(
        saved(table, tmp_path),
        tmp_path / "out.parquet",
        4,
        engine="dask",
        scheduler=cluster,
        partitions=partitions,
        **options,
    )
    expected = ma.protect(table, 4, blocks="median", **options)
    assert_same(found, expected, pq.read_table(found.path))


def of_firms():
    """A frame in which one firm has most rows, and most of the weight of many groups, but no single record has."""
    table = with_units(900, 5)
    rng = np.random.default_rng(6)
    units = np.where(rng.random(900) < 0.6, 0, np.arange(900))
    weights = np.where(units == 0, rng.uniform(6, 9, 900), rng.uniform(1, 3, 900))
    return table.set_column(table.column_names.index("unit"), "unit", pa.array(units)).append_column(
        "weight", pa.array(weights)
    )


FIRMS = {"unit": "unit", "unit_share": "any", "weight": "weight", "max_block": 80, **ROW, **CHOICES, **ROLES}


@pytest.mark.parametrize("nominal", ["mode", "draw"])
@pytest.mark.parametrize("engine", first_few(1, ["disk", "dask"]))
def test_units_with_most_of_the_weight_are_refused_or_cut_as_in_memory(tmp_path, by_engine, engine, nominal):
    table = of_firms()
    path = saved(table, tmp_path)
    seed = {"nominal_seed": 3} if nominal == "draw" else {}
    how = {**FIRMS, "nominal": nominal, **seed}
    there = by_engine(engine) | ({"partitions": 3} if engine == "dask" else {})
    with pytest.raises(InvalidData, match="hold one unit with more than 80 %") as in_memory:
        ma.protect(table, 4, blocks="median", **how)
    with pytest.raises(InvalidData) as beyond:
        ma.protect_file(path, tmp_path / "out.parquet", 4, **there, **how)
    assert str(beyond.value) == str(in_memory.value)
    found = ma.protect_file(path, tmp_path / "out.parquet", 4, weight_cap=True, **there, **how)
    expected = ma.protect(table, 4, blocks="median", weight_cap=True, **how)
    assert_same(found, expected, pq.read_table(found.path))
    assert found.weights == expected.weights
    assert expected.weights.dominated > 5


def test_many_ranges_of_units_are_counted_as_one(tmp_path, monkeypatch):
    monkeypatch.setattr("microagg.mask.engines.census._AT_ONCE", 50)
    table = with_units(400, 5)
    found = ma.protect_file(saved(table, tmp_path), tmp_path / "out.parquet", 3, unit="unit", **ROW, **CHOICES, **ROLES)
    expected = ma.protect(table, 3, blocks="median", max_block=50_000, unit="unit", **ROW, **CHOICES, **ROLES)
    assert_same(found, expected, pq.read_table(tmp_path / "out.parquet"))


@pytest.mark.parametrize("engine", first_few(1, ["disk", "dask"]))
def test_files_whose_units_cannot_be_kept_apart_are_refused_as_in_memory(tmp_path, by_engine, engine):
    where = by_engine(engine)
    base = pa.table({"x": np.arange(60.0), "unit": np.repeat(np.arange(12), 5)})
    cases = [
        (base.set_column(1, "unit", pa.array([None] * 2 + [1] * 58)), InvalidData, "missing values in 1 column"),
        (base.set_column(1, "unit", pa.array([0] * 30 + list(range(30)))), TooFewRecords, "more than 1/3 of the rows"),
        (base.set_column(1, "unit", pa.array([0] * 30 + [1] * 30)), TooFewRecords, "fewer than k=3 different units"),
    ]
    for table, error, message in cases:
        path = saved(table, tmp_path)
        with pytest.raises(error, match=message) as told:
            ma.protect_file(path, tmp_path / "out.parquet", 3, unit="unit", **where)
        with pytest.raises(error) as memory:
            ma.protect(table, 3, unit="unit")
        assert str(told.value) == str(memory.value)
        assert not (tmp_path / "out.parquet").exists()


def test_whole_units_are_refused_beyond_memory(tmp_path):
    path = saved(with_units(100, 0), tmp_path)
    with pytest.raises(
        InputError, match="cannot be combined with files larger than memory, where whole units are not brought"
    ):
        ma.protect_file(path, tmp_path / "out.parquet", 3, unit="unit", unit_release="pseudonym", **CHOICES, **ROLES)
