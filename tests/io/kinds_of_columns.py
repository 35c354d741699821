"""Columns of every type that a library or a file can hold, with and without missing values."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa

N = 48
LEVELS = ["low", "mid", "high"]

_draw = np.random.default_rng(7)
WORDS = [LEVELS[place] for place in _draw.integers(0, 3, N)]
WHOLE = [int(number) for number in _draw.integers(1, 60, N)]
DAYS = [dt.date(1980, 1, 1) + dt.timedelta(days=int(days)) for days in _draw.integers(0, 9000, N)]
INSTANTS = [dt.datetime(1980, 1, 1) + dt.timedelta(seconds=int(s)) for s in _draw.integers(0, 10**9, N)]
LENGTHS = [dt.timedelta(seconds=int(seconds)) for seconds in _draw.integers(0, 10**6, N)]
TIMES = [instant.time() for instant in INSTANTS]
FLAGS = [bool(flag) for flag in _draw.integers(0, 2, N)]
AMOUNTS = [Decimal(int(cents)) / 100 for cents in _draw.integers(0, 10_000, N)]


def some(values, missing):
    """Give values, the first of them missing where that is asked for."""
    return [None if missing and row < 9 else value for row, value in enumerate(values)]


def arrow_table(missing):
    """Give a table of Arrow's types."""
    codes = pa.array([None if word is None else LEVELS.index(word) for word in some(WORDS, missing)], pa.int8())
    columns = {
        "category": pa.array(some(WORDS, missing)).dictionary_encode(),
        "levels": pa.DictionaryArray.from_arrays(codes, pa.array(LEVELS), ordered=True),
        "date64": pa.array(some(DAYS, missing), pa.date64()),
        "date32": pa.array(some(DAYS, missing), pa.date32()),
        "time": pa.array(some(TIMES, missing), pa.time64("us")),
        "flag": pa.array(some(FLAGS, missing)),
        "amount": pa.array(some(AMOUNTS, missing), pa.decimal128(10, 2)),
        "wide": pa.array(some(AMOUNTS, missing), pa.decimal256(40, 3)),
        "half": pa.array([None if one is None else one / 2 for one in some(WHOLE, missing)], pa.float32()),
    }
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        columns[str(kind)] = pa.array(some(WORDS, missing), kind)
    for unit in ("s", "ms", "us", "ns"):
        columns[f"instant_{unit}"] = pa.array(some(INSTANTS, missing), pa.timestamp(unit))
        columns[f"zoned_{unit}"] = pa.array(some(INSTANTS, missing), pa.timestamp(unit, "Europe/Vienna"))
        columns[f"length_{unit}"] = pa.array(some(LENGTHS, missing), pa.duration(unit))
    for bits in (8, 16, 32, 64):
        columns[f"int{bits}"] = pa.array(some(WHOLE, missing), f"int{bits}")
        columns[f"uint{bits}"] = pa.array(some(WHOLE, missing), f"uint{bits}")
    return pa.table(columns)


def polars_frame(missing):
    """Give a frame of polars' types."""
    import polars as pl

    columns = {
        "category": pl.Series(some(WORDS, missing), dtype=pl.Categorical),
        "fixed": pl.Series(some(WORDS, missing), dtype=pl.Enum(LEVELS)),
        "text": pl.Series(some(WORDS, missing)),
        "date": pl.Series(some(DAYS, missing)),
        "time": pl.Series(some(TIMES, missing)),
        "flag": pl.Series(some(FLAGS, missing)),
        "amount": pl.Series(some(AMOUNTS, missing), dtype=pl.Decimal(10, 2)),
    }
    for unit in ("ms", "us", "ns"):
        instants = pl.Series(some(INSTANTS, missing)).cast(pl.Datetime(unit))
        columns[f"instant_{unit}"] = instants
        columns[f"zoned_{unit}"] = instants.dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Vienna")
        columns[f"length_{unit}"] = pl.Series(some(LENGTHS, missing)).cast(pl.Duration(unit))
    for kind in (pl.Int8, pl.Int64, pl.UInt8, pl.UInt64, pl.Float32, pl.Float64):
        columns[str(kind)] = pl.Series(some(WHOLE, missing), dtype=kind)
    return pl.DataFrame(columns)


def pandas_frame(missing):
    """Give a frame of pandas' types, Arrow's among them."""
    import pandas as pd

    columns = {
        "category": pd.Series(some(WORDS, missing), dtype="category"),
        "levels": pd.Series(pd.Categorical(some(WORDS, missing), categories=LEVELS, ordered=True)),
        "dates": pd.Series(some(DAYS, missing), dtype=object),
        "times": pd.Series(some(TIMES, missing), dtype=object),
        "amounts": pd.Series(some(AMOUNTS, missing), dtype=object),
    }
    for kind in (object, "string", "string[python]"):
        columns[f"text {kind}"] = pd.Series(some(WORDS, missing), dtype=kind)
    for kind in ("boolean", object, *([] if missing else ["bool"])):
        columns[f"flag {kind}"] = pd.Series(some(FLAGS, missing), dtype=kind)
    for unit in ("s", "ns"):
        instants = pd.Series(some(INSTANTS, missing)).astype(f"datetime64[{unit}]")
        columns[f"instant_{unit}"] = instants
        columns[f"zoned_{unit}"] = instants.dt.tz_localize("UTC").dt.tz_convert("Europe/Vienna")
        columns[f"length_{unit}"] = pd.Series(some(LENGTHS, missing)).astype(f"timedelta64[{unit}]")
    numbers = ("Int8", "Int64", "UInt64", "Float32", "Float64", "float32", "float64")
    for kind in (*numbers, *([] if missing else ["int8", "int64", "uint8"])):
        columns[kind] = pd.Series(some(WHOLE, missing), dtype=kind)
    table = arrow_table(missing)
    for name in table.column_names:
        if name != "string_view":  # of which pandas cannot take rows
            columns[f"arrow {name}"] = pd.Series(pd.arrays.ArrowExtensionArray(table[name]))
    return pd.DataFrame(columns)
