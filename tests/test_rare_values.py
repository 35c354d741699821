"""Codes for missing values and levels that fewer than three have tell who these are, and are not released."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InvalidData
from tests.lengths import first_few

N = 60
RNG = np.random.default_rng(0)
LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def with_code(code, holders, kind=float):
    """Make columns of which the first `holders` records lack one by a code of their own."""
    values = [code if i < holders else kind(100 + i % 17) for i in range(N)]
    return {"x": values, "y": [float(v) for v in RNG.integers(0, 9, N)], "unit": [i // 3 for i in range(N)]}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kind", ["number", "nominal", "ordinal", "semi"])
@pytest.mark.parametrize("missing", ["pattern", "state"])
def test_a_code_that_fewer_than_three_records_have_becomes_plainly_missing(library, kind, missing):
    columns = with_code(-77123, 2, int)
    frame = LIBRARIES[library](columns)
    chosen = {"quasi": ["x", "y"], "kinds": {"x": kind}, "missing_codes": {"x": [-77123]}, "missing": missing}
    released = ma.protect(frame, 3, drop=["unit"], **chosen).data
    cells = pa.table(released)["x"].to_pylist() if library == "pyarrow" else list(released["x"])
    assert -77123 not in cells
    common = LIBRARIES[library](columns | {"x": [-77123] * 9 + columns["x"][9:]})
    released = ma.protect(common, 3, drop=["unit"], **chosen).data
    assert -77123 in list(released["x"] if library != "pyarrow" else released["x"].to_pylist())


@pytest.mark.parametrize("nominal", ["mode", "balanced", "draw"])
@pytest.mark.parametrize("engine", first_few(3, ["memory", "disk", "whole", "dask"]))
def test_a_code_that_fewer_than_three_units_have_becomes_plainly_missing(tmp_path, engine, nominal, by_engine):
    columns = with_code(-77123.0, 6) | {"c": ["code" if i < 6 else f"c{i % 4}" for i in range(N)]}
    table = pa.table(columns)
    chosen = {"quasi": ["x", "y", "c"], "unit": "unit", "missing_codes": {"x": [-77123], "c": ["code"]}}
    chosen |= {"nominal": nominal} | ({"nominal_seed": 3} if nominal == "draw" else {})
    if engine in ("memory", "whole"):
        chosen |= {"unit_release": "pseudonym"} if engine == "whole" else {}
        data = ma.protect(table, 3, **chosen).data
    else:
        pq.write_table(table, tmp_path / "in.parquet", row_group_size=7)
        ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 3, **by_engine(engine), **chosen)
        data = pq.read_table(tmp_path / "out.parquet")
    assert -77123 not in data["x"].to_pylist()
    assert "code" not in data["c"].to_pylist()


def test_a_level_that_fewer_than_three_have_is_not_released(tmp_path):
    levels = ["low", "lower mid", "mid", "upper mid", "high"]
    grade = [levels[i % 2 * 4] if i % 3 else levels[0] for i in range(N)]
    grade[7], grade[8] = "mid", "mid"
    table = pa.table({"grade": grade, "y": np.arange(N) % 5.0})
    chosen = {"quasi": ["grade", "y"], "kinds": {"grade": levels}}
    pq.write_table(table, tmp_path / "in.parquet")
    ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 5, max_block=20, **chosen)
    for data in (ma.protect(table, 5, **chosen).data, pq.read_table(tmp_path / "out.parquet")):
        assert set(data["grade"].to_pylist()) == {"low", "high"}


def test_levels_that_are_all_of_one_person_are_refused():
    table = pa.table({"grade": [f"g{i:02}" for i in range(N)], "y": np.arange(N) % 5.0})
    with pytest.raises(InvalidData, match="column 'grade' has no level that 3 records or more have"):
        ma.protect(table, 3, kinds={"grade": [f"g{i:02}" for i in range(N)]})


def test_a_relation_does_not_give_back_what_a_spike_hides():
    parts = ["wage", "business", "capital", "pension"]
    table = ma.datasets.survey(2000, seed=0).select([*parts, "income", "age"])
    chosen = {"kinds": {name: {"spike": 0} for name in parts}}
    with pytest.raises(InvalidData, match=r"would disclose the amounts of 'wage' that [0-9]+ group"):
        ma.protect(table, 3, relations=["wage = income - business - capital - pension"], **chosen)
    release = ma.protect(table, 3, relations=["income = wage + business + capital + pension"], **chosen)
    rows = release.data.to_pandas()
    assert (rows["income"] == rows[parts].sum(axis=1)).all()
    exact = ma.protect(
        table, 3, relations=["wage = income - business - capital - pension"], spike_totals="exact", **chosen
    )
    assert exact.k_achieved >= 3


def test_a_masked_file_of_whole_levels_is_assessed_by_levels_that_are_not():
    grades = np.array([1.0, 2.0, 3.0, 2.5])
    before = pa.table({"grade": np.append(np.tile(grades[:3], 19), [2.5, 2.5, 3.0]), "y": np.arange(N) % 5.0})
    after = before.set_column(
        0, "grade", pa.array(np.where(before["grade"].to_numpy() == 2.5, 2, before["grade"]), "int64")
    )
    found = ma.disclosure_risk(before, after, kinds={"grade": "ordinal"})
    assert found.n_records == N
