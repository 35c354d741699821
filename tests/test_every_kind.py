"""Frames of every kind of column, drawn at random: k holds on what is written, and types come back."""

import datetime as dt
import re

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import microagg as ma
from microagg.errors import InvalidData
from tests.reference.alike import fewest_alike

METHODS = ("mdav", "vmdav", "cbfs", "iamat", "maximum-distance", "projection")
LEVELS = ["low", "mid", "high"]
CELLS = {
    "whole": (st.integers(-50, 50), pa.int64(), None),
    "amount": (st.floats(0, 1e4).map(lambda value: round(value, 2)), pa.float64(), None),
    "semi": (st.just(0.0) | st.integers(1, 900).map(float), pa.float64(), "semi"),
    "text": (st.sampled_from(["a", "b", "c", "ä", ""]), pa.string(), None),
    "flag": (st.booleans(), pa.bool_(), None),
    "code": (st.sampled_from([11, 12, 31, 99]), pa.int32(), "nominal"),
    "level": (st.sampled_from(LEVELS), pa.string(), LEVELS),
    "size": (st.integers(1, 6), pa.int8(), "ordinal"),
    "day": (st.dates(dt.date(1930, 1, 1), dt.date(2030, 1, 1)), pa.date32(), None),
    "instant": (
        st.datetimes(dt.datetime(1990, 1, 1), dt.datetime(2030, 1, 1)).map(lambda one: one.replace(microsecond=0)),
        pa.timestamp("us", "Europe/Vienna"),
        None,
    ),
}


REFUSED = "holds categories that fewer than|have the spike of column 'semi'|has no level that"


@st.composite
def frames(draw):
    """Draw a table, the kinds of its columns, k and the choices of a run."""
    k = draw(st.integers(2, 5))
    n = draw(st.integers(k, 40))
    names = draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=4, unique=True))
    columns, kinds = {}, {}
    for name in names:
        cells, type_, kind = CELLS[name]
        some = draw(st.sampled_from([cells, cells, st.none() | cells]))
        values = draw(st.lists(some, min_size=n, max_size=n))
        if all(value is None for value in values):
            values[0] = draw(cells)
        columns[name] = pa.array(values, type_)
        if kind is not None:
            kinds[name] = kind
    weights = [0.0, 1.0, 3.0] if len(names) > 1 else [1.0, 3.0]  # one column must form groups
    choices = {
        "method": draw(st.sampled_from(METHODS)),
        "missing": draw(st.sampled_from(["pattern", "state"])),
        "nominal": draw(st.sampled_from(["mode", "balanced", "draw"])),
        "nominal_seed": 0,
        "spike_totals": draw(st.sampled_from(["safe", "exact"])),
        "rounding": draw(st.sampled_from(["auto", "none"])),
        "scale": draw(st.sampled_from(["standard", "range"])),
        "refine": draw(st.sampled_from([None, None, 50])),
        "importance": draw(st.dictionaries(st.sampled_from(names), st.sampled_from(weights), max_size=1)),
        "kinds": kinds,
    }
    if 2 * k <= n and draw(st.booleans()):
        columns["stratum"] = pa.array(
            ["x"] * k + draw(st.lists(st.just("x"), min_size=n - 2 * k, max_size=n - 2 * k)) + ["y"] * k
        )
        choices["strata"] = ["stratum"]
    return pa.table(columns), k, choices


def as_library(table, library):
    if library == "polars":
        return pl.from_arrow(table)
    return (
        table if library == "pyarrow" else pd.DataFrame({name: table[name].to_pandas() for name in table.column_names})
    )


def check(drawn, library, folder):
    table, k, choices = drawn
    frame = as_library(table, library)
    try:
        release = ma.protect(frame, k, **choices)
    except InvalidData as error:  # a group of categories, or a spike, that nobody else has
        assert re.search(REFUSED, str(error))  # noqa: PT017
        assume(False)
    before, after = (nw.from_native(one, eager_only=True) for one in (frame, release.data))
    assert list(after.columns) == list(before.columns)
    assert after.shape == before.shape
    for name in before.columns:
        same = choices["rounding"] == "auto" or not before[name].dtype.is_integer() or name in choices["kinds"]
        own, other = (getattr(one[name], "type" if library == "pyarrow" else "dtype") for one in (frame, release.data))
        assert not same or own == other, name
    written = folder / "masked.parquet"
    ma.write(release, written, overwrite=True)
    found = pq.read_table(written)
    assert fewest_alike([[str(cell) for cell in found[name].to_pylist()] for name in found.column_names]) >= k
    alone = ma.protect(frame, k, n_jobs=1, **choices)
    assert np.array_equal(alone.groups, release.groups)
    assert nw.from_native(alone.data, eager_only=True).to_arrow().equals(after.to_arrow())


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(drawn=frames(), library=st.sampled_from(["pandas", "polars", "pyarrow"]))
def test_every_kind_of_frame(drawn, library, tmp_path_factory):
    check(drawn, library, tmp_path_factory.mktemp("kinds"))


@pytest.mark.campaign
@settings(max_examples=2000, suppress_health_check=list(HealthCheck))
@given(drawn=frames(), library=st.sampled_from(["pandas", "polars", "pyarrow"]))
def test_two_thousand_frames_of_every_kind(drawn, library, tmp_path_factory):
    check(drawn, library, tmp_path_factory.mktemp("kinds"))
