"""Weights beyond memory: the same bytes, figures and refusals as in memory."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InvalidData, InvalidParameter
from microagg.files.sources import read_source, write_target
from tests.beyond.frames import CHOICES, NOMINAL_AND_MISSING, ROLES, WAYS, assert_same, mixed, weighted
from tests.lengths import first_few
from tests.reference import weights as by_the_book


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("nominal", "missing"), first_few(3, NOMINAL_AND_MISSING))
def test_mixed_frames_come_out_as_in_memory(tmp_path, way, nominal, missing):
    table = weighted(mixed(900, 3), 3, whole=nominal == "draw")
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=170)
    options = {"missing": missing, "nominal": nominal, "nominal_seed": 0, "max_block": 80, **CHOICES, **ROLES}
    options |= WAYS[way]
    found = ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 4, **options)
    expected = ma.protect(table, 4, blocks="median", **options)
    assert_same(found, expected, pq.read_table(tmp_path / "out.parquet"))
    assert found.weights == expected.weights


@pytest.mark.parametrize("way", WAYS)
def test_text_files_come_out_as_in_memory_to_the_byte(tmp_path, way):
    path = tmp_path / "in.csv"
    table = weighted(mixed(700, 1, plain=True), 1)
    pyarrow.csv.write_csv(table, path, pyarrow.csv.WriteOptions(quoting_style="needed", delimiter=";"))
    options = {"max_block": 90, **CHOICES, **ROLES, **WAYS[way]}
    found = ma.protect_file(path, tmp_path / "out.csv", 4, **options)
    source = read_source(path)
    expected = ma.protect(source, 4, blocks="median", **options)
    write_target(expected.data, tmp_path / "memory.csv", source)
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "memory.csv").read_bytes()
    assert (found.information, found.weights) == (expected.information, expected.weights)
    if way == "as it is":
        assert pyarrow.csv.read_csv(tmp_path / "out.csv", parse_options=pyarrow.csv.ParseOptions(delimiter=";"))[
            "w"
        ].equals(table["w"])


def test_totals_stay_to_twelve_digits_before_weights_are_rounded(tmp_path):
    rng = np.random.default_rng(0)
    n = 4000
    table = pa.table({"x": rng.lognormal(8, 1, n), "y": rng.normal(50, 9, n), "w": rng.uniform(100, 300, n)})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=600)
    options = {"weight": "w", "weight_release": "group", "rounding": "none", "max_block": 300}
    ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 5, **options)
    masked = pq.read_table(tmp_path / "out.parquet").to_pandas()
    before = table.to_pandas()
    assert {value % 5 for value in masked["w"]} == {0.0}
    exact = before["w"].groupby([masked["x"], masked["y"]]).transform("mean")
    assert exact.sum() == pytest.approx(before["w"].sum(), rel=1e-12)
    for name in ("x", "y"):
        assert (exact * masked[name]).sum() == pytest.approx((before["w"] * before[name]).sum(), rel=1e-12)


def half_weighs_nothing(n=900, seed=0):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(50, 150, n).round(1) * (rng.random(n) > 0.4)
    columns = {"x": rng.normal(size=n), "y": rng.lognormal(3, 1, n), "job": rng.choice(["a", "b", "c"], n)}
    return pa.table({**columns, "u": rng.integers(0, n // 2, n), "w": weights})


@pytest.mark.parametrize(
    "choices",
    first_few(
        3,
        [
            {},
            {"refine": "fast"},
            {"unit": "u"},
            {"unit": "u", "refine": "fast", "unit_share": "any"},
            {"weight_release": "group"},
        ],
    ),
)
def test_k_of_every_group_weigh_something(tmp_path, choices):
    table = half_weighs_nothing()
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=170)
    options = {"quasi": ["x", "y", "job"], "weight": "w", "weight_cap": True, "max_block": 150, "rest": "drop"}
    options |= {"rounding": "none", **choices}
    found = ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 4, **options)
    written = pq.read_table(tmp_path / "out.parquet")
    assert_same(found, ma.protect(table, 4, blocks="median", **options), written)
    shared = list(map(str, written.select(["x", "y", "job"]).to_pylist()))
    units = table["u"].to_pylist() if "unit" in choices else None
    assert by_the_book.light_groups(shared, table["w"].to_pylist(), 4, units) == 0


@pytest.mark.parametrize("engine", first_few(1, ["disk", "dask"]))
def test_a_block_without_k_who_weigh_something_is_refused(tmp_path, engine):
    table = half_weighs_nothing(300)
    weights = np.where(table["x"].to_numpy() < -0.5, 0.0, 100.0)  # of some blocks nobody weighs anything
    table = table.set_column(4, "w", pa.array(weights))
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=100)
    options = {"quasi": ["x"], "weight": "w", "max_block": 30, "rest": "drop"}
    with pytest.raises(InvalidData, match=r"of \d+ groups have fewer than k=5 records with a weight above 0"):
        ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 5, engine=engine, n_jobs=1, **options)
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]
    assert ma.protect(table, 5, blocks="median", **options).k_achieved >= 5  # where blocks can be joined


@pytest.mark.parametrize("engine", first_few(1, ["disk", "dask"]))
def test_a_weight_that_dominates_is_refused_alike(tmp_path, engine):
    rng = np.random.default_rng(0)
    weights = rng.uniform(1, 2, 300)
    weights[[7, 200]] = 1e5
    table = pa.table({"x": rng.normal(size=300), "w": weights})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=100)
    options = {"weight": "w", "max_block": 60}
    with pytest.raises(InvalidData, match="2 of 60 groups hold one record") as in_memory:
        ma.protect(table, 5, blocks="median", **options)
    with pytest.raises(InvalidData) as beyond:
        ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 5, engine=engine, n_jobs=1, **options)
    assert str(beyond.value) == str(in_memory.value)
    assert beyond.value.parameter == "weight_cap"
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


@pytest.mark.parametrize(
    ("values", "what"),
    [([1.0, -1.0, 2.0, 1.0], "negative"), ([1.0, None, 2.0, 1.0], "missing"), (["a", "b", "c", "d"], "not numeric")],
)
def test_what_is_no_weight_is_refused(tmp_path, values, what):
    table = pa.table({"x": [1.0, 2.0, 3.0, 4.0], "w": values})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=2)
    with pytest.raises(InvalidData, match=what) as in_memory:
        ma.protect(table, 2, weight="w")
    with pytest.raises(InvalidData) as beyond:
        ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 2, weight="w")
    assert str(beyond.value) == str(in_memory.value)
    ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 2, weight="w", weighted=False)


def test_choices_that_do_not_go_together_are_refused(tmp_path):
    pq.write_table(pa.table({"x": [1.0, 2.0, 3.0, 4.0]}), tmp_path / "in.parquet")
    with pytest.raises(InvalidParameter, match="no column is named"):
        ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 2, weight_release="group")
