"""Numbers that do not fit into a column's type are refused before any work, and never wrap."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InvalidData

AGES = np.tile([1, 30, 60, 90, 120], 40)
HIGH = np.where(np.arange(200) < 100, AGES, AGES + 7)

MAKE = {
    "numpy uint8": lambda: pd.DataFrame({"x": (2 * HIGH).astype(np.uint8)}),
    "nullable UInt8": lambda: pd.DataFrame({"x": pd.array(2 * HIGH, dtype="UInt8")}),
    "pandas of arrow": lambda: pd.DataFrame({"x": pd.array(2 * HIGH, dtype="uint8[pyarrow]")}),
    "polars": lambda: pl.DataFrame({"x": (2 * HIGH).astype(np.uint8)}),
    "arrow": lambda: pa.table({"x": pa.array(2 * HIGH, pa.uint8())}),
    "decimal": lambda: pa.table({"x": pa.array([decimal.Decimal(int(v)) / 4 + 65 for v in HIGH], pa.decimal128(4, 2))}),
}


@pytest.mark.parametrize("case", MAKE)
def test_a_step_that_leaves_the_range_of_the_type_is_refused(case):
    with pytest.raises(InvalidData, match="rounded to multiples of 100 do not all fit") as caught:
        ma.protect(MAKE[case](), 3, rounding={"x": 100})
    assert (caught.value.parameter, caught.value.columns) == ("rounding", ("x",))
    assert "254" not in str(caught.value)  # the highest value is a cell
    assert ma.protect(MAKE[case](), 3, rounding={"x": 1}).k_achieved >= 3


def test_a_step_that_fits_the_values_is_taken_though_the_type_has_higher_ones():
    frame = pd.DataFrame({"x": AGES.astype(np.int8)})
    released = ma.protect(frame, 3, rounding={"x": 10}).data["x"]
    assert released.dtype == np.int8
    assert released.max() == 120
    assert not (released % 10).any()
    with pytest.raises(InvalidData, match="is stored as Int8, which goes from -128 to 127"):
        ma.protect(pd.DataFrame({"x": HIGH.astype(np.int8)}), 3, rounding={"x": 10})


def test_a_mean_that_is_kept_off_the_spike_must_fit_too():
    near = np.repeat([120, 123, 124, 0], 50)
    frame = pa.table({"x": pa.array(near, pa.int8())})
    with pytest.raises(InvalidData, match="rounded to multiples of 10"):
        ma.protect(frame, 3, kinds={"x": {"spike": 120}}, rounding={"x": 10})


def test_files_beyond_memory_refuse_the_same(tmp_path):
    pq.write_table(MAKE["arrow"](), tmp_path / "in.parquet")
    with pytest.raises(InvalidData, match="rounded to multiples of 100 do not all fit"):
        ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 3, rounding={"x": 100})
    assert not (tmp_path / "out.parquet").exists()
