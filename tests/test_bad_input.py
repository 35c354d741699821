"""Every bad input to protect() gets a clear error, and no message shows a cell of the data."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microagg as ma
from microagg.errors import InputError, InvalidData, InvalidParameter, RoleError, TooFewRecords

SECRET = 87654.321


def frame(**more):
    rng = np.random.default_rng(0)
    columns = {"a": rng.random(12) * SECRET, "b": rng.random(12), "c": np.arange(12), **more}
    return pd.DataFrame(columns)


def with_cell(value):
    data = frame()
    data.loc[4, "a"] = value
    return data


CASES = {
    "k of one": (lambda: ma.protect(frame(), 1), InvalidParameter, "k=1 protects nobody"),
    "k not an integer": (lambda: ma.protect(frame(), 3.0), InvalidParameter, "without decimals, not a float"),
    "k as text": (lambda: ma.protect(frame(), "3"), InvalidParameter, "not a str"),
    "k above n": (lambda: ma.protect(frame(), 13), TooFewRecords, "12 record.*k=13"),
    "no rows": (lambda: ma.protect(frame().iloc[:0], 3), InvalidData, "no records"),
    "no columns": (lambda: ma.protect(pd.DataFrame(index=range(5)), 3), InputError, "no column is left to mask"),
    "nan": (lambda: ma.protect(with_cell(np.nan), 3, missing="error"), InvalidData, r"'a' \(1\).*missing='drop'"),
    "a column without a value": (lambda: ma.protect(frame(d=[None] * 12), 3), InvalidData, "'d' has no value at all"),
    "classes of pd.cut": (
        lambda: ma.protect(frame(d=pd.cut(np.arange(12), 3)), 3),
        InvalidData,
        r"'d' holds values of a special type \(pandas.interval\).*text",
    ),
    "intervals": (
        lambda: ma.protect(frame(d=pd.interval_range(0, 12)), 3),
        InvalidData,
        "'d' holds values of a special type",
    ),
    "periods": (
        lambda: ma.protect(frame(d=pd.period_range("2020-01", periods=12, freq="M")), 3),
        InvalidData,
        r"\(pandas.period\).*turn periods into dates",
    ),
    "a step for categories": (
        lambda: ma.protect(frame(d=["x", "y", "z"] * 4), 3, rounding={"d": 10}),
        InvalidParameter,
        "column 'd' is of kind 'nominal', which is not rounded",
    ),
    "a spike that nobody has": (
        lambda: ma.protect(frame(), 3, kinds={"c": {"spike": 999}}),
        InvalidData,
        "fewer than 3 records have the spike of column 'c'.*Name in kinds a value that many have",
    ),
    "a mean of text": (
        lambda: ma.protect(frame(d=["secret"] * 12), 3, kinds={"d": "number"}),
        InvalidData,
        "'d' is not numeric .*nominal, ordinal or date in kinds",
    ),
    "a spike of text": (
        lambda: ma.protect(frame(d=["secret"] * 12), 3, kinds={"d": "semi"}),
        InvalidData,
        "'d' is not numeric",
    ),
    "a date of numbers": (
        lambda: ma.protect(frame(), 3, kinds={"a": "date"}),
        InvalidData,
        "is a number, not a date",
    ),
    "a date of words": (
        lambda: ma.protect(frame(d=["secret"] * 12), 3, kinds={"d": "date"}),
        InvalidData,
        "'d' is text, and not all its values are dates",
    ),
    "text without levels": (
        lambda: ma.protect(frame(d=["secret", "b"] * 6), 3, kinds={"d": "ordinal"}),
        InvalidData,
        "'d' is text, and the order of its values is not known",
    ),
    "levels that the file lacks": (
        lambda: ma.protect(frame(d=["secret", "b"] * 6), 3, kinds={"d": ["a", "b"]}),
        InvalidData,
        "'d' has 6 value.* not among its 2 levels",
    ),
    "too many categories": (
        lambda: ma.protect(pd.DataFrame({"d": [f"secret{i}" for i in range(2000)]}), 3),
        InvalidData,
        "'d' has 2000 categories, more than 1000",
    ),
    "a kind of no column": (
        lambda: ma.protect(frame(), 3, kinds={"zz": "nominal"}),
        RoleError,
        "'zz'.*not in the file",
    ),
    "an unknown kind": (
        lambda: ma.protect(frame(), 3, kinds={"a": "nominel"}),
        InvalidParameter,
        "Did you mean 'nominal'",
    ),
    "codes of another type": (
        lambda: ma.protect(frame(), 3, missing_codes={"a": ["x"]}),
        InvalidParameter,
        "missing_codes of column 'a' must be numbers",
    ),
    "sorting categories": (
        lambda: ma.protect(pd.DataFrame({"d": ["secret", "b"] * 6}), 3, method="univariate"),
        InvalidParameter,
        "sorts numbers, and column 'd' is of kind 'nominal'",
    ),
    "an axis without an order": (
        lambda: ma.protect(frame(d=["secret", "b"] * 6), 3, method="projection", axis="d"),
        InvalidParameter,
        "axis='d' is a column without an order",
    ),
    "unscaled categories": (
        lambda: ma.protect(frame(d=["secret", "b"] * 6), 3, scale="none"),
        InvalidParameter,
        "scale='none' works only with numbers",
    ),
    "a taxonomy with gaps": (
        lambda: ma.protect(frame(d=["secret", "b"] * 6), 3, taxonomy={"d": {"b": ["x"]}}),
        InvalidData,
        "does not hold 1 of its 2 categories",
    ),
    "infinite": (lambda: ma.protect(with_cell(np.inf), 3), InvalidData, "'a' has 1 infinite"),
    "minus infinite": (lambda: ma.protect(with_cell(-np.inf), 3), InvalidData, "'a' has 1 infinite"),
    "all missing": (
        lambda: ma.protect(frame(a=np.nan), 3, missing="drop"),
        InvalidData,
        "every record has a missing value",
    ),
    "too few left": (
        lambda: ma.protect(frame(a=[1.0, 2.0] + [np.nan] * 10), 3, missing="drop"),
        TooFewRecords,
        "2 record.*k=3",
    ),
    "object": (
        lambda: ma.protect(frame(d=pd.Series([1, "secret"] * 6, dtype=object)), 3),
        InvalidData,
        "'d' mixes types",
    ),
    "complex": (lambda: ma.protect(frame(d=np.arange(12) * 1j), 3), InvalidData, "'d' mixes types"),
    "huge integers": (lambda: ma.protect(frame(d=2**60 + np.arange(12)), 3), InvalidData, r"'d' has integers beyond"),
    "unknown column": (lambda: ma.protect(frame(), 3, quasi=["aa"]), RoleError, "'aa' in quasi.*Did you mean 'a'"),
    "unknown identifier": (lambda: ma.protect(frame(), 3, identifiers=["zzz"]), RoleError, "has 3 columns"),
    "two roles": (
        lambda: ma.protect(frame(), 3, quasi=["a", "b"], keep=["b", "c"]),
        RoleError,
        "'b' in quasi is already in keep",
    ),
    "named twice": (
        lambda: ma.protect(frame(), 3, quasi=["a", "a"], rest="keep"),
        RoleError,
        "'a' in quasi is named twice",
    ),
    "no role": (lambda: ma.protect(frame(), 3, quasi=["a"]), RoleError, "2 column.*'b', 'c'.*rest='keep'"),
    "nothing to mask": (
        lambda: ma.protect(frame(), 3, keep=["a", "b", "c"]),
        RoleError,
        "no column is left to mask",
    ),
    "duplicate pandas columns": (
        lambda: ma.protect(pd.concat([frame(), frame()[["a"]]], axis=1), 3),
        RoleError,
        "more than one column called 'a'",
    ),
    "duplicate arrow columns": (
        lambda: ma.protect(pa.table([pa.array([1.0] * 5)] * 2, names=["x", "x"]), 3),
        RoleError,
        "more than one column called 'x'",
    ),
    "an array": (lambda: ma.protect(np.eye(4), 3), InvalidData, "ndarray is not a dataframe"),
    "a list": (lambda: ma.protect([[1, 2]], 3), InvalidData, "list is not a dataframe"),
    "nothing": (lambda: ma.protect(None, 3), InvalidData, "NoneType is not a dataframe"),
    "lazy": (lambda: ma.protect(pl.DataFrame({"a": [1.0]}).lazy(), 3), InvalidData, r"\.collect\(\)"),
    "unknown method": (lambda: ma.protect(frame(), 3, method="mdva"), InvalidParameter, "method='mdva'.*'mdav'"),
    "method of no use": (lambda: ma.protect(frame(), 3, method=7), InvalidParameter, "method is an int"),
    "method for another k": (
        lambda: ma.protect(frame(), 3, method=ma.CBFS(4)),
        InvalidParameter,
        "k=3 was asked for, but the method is set to k=4",
    ),
    "options beside an estimator": (
        lambda: ma.protect(frame(), 3, method=ma.VMDAV(), gamma=1),
        InvalidParameter,
        "Set them on the estimator",
    ),
    "unknown option": (
        lambda: ma.protect(frame(), 3, method="vmdav", gama=1),
        InvalidParameter,
        "'gama' is not an option of method 'vmdav'. It takes gamma",
    ),
    "bad option": (lambda: ma.protect(frame(), 3, method="vmdav", gamma=-1), InvalidParameter, "gamma=-1"),
    "unknown scale": (lambda: ma.protect(frame(), 3, scale="log"), InvalidParameter, "scale='log'"),
    "unknown aggregate": (lambda: ma.protect(frame(), 3, aggregate="mode"), InvalidParameter, "aggregate='mode'"),
    "unknown integers": (lambda: ma.protect(frame(), 3, rounding="up"), InvalidParameter, "rounding='up'"),
    "unknown missing": (lambda: ma.protect(frame(), 3, missing="skip"), InvalidParameter, "missing='skip'"),
    "unknown rest": (lambda: ma.protect(frame(), 3, quasi=["a"], rest="mask"), InvalidParameter, "rest='mask'"),
    "unscaled and far apart": (
        lambda: ma.protect(pd.DataFrame({"a": np.arange(9) * 1e300, "b": np.arange(9.0)}), 3, scale="none"),
        InvalidData,
        "column 1 varies",
    ),
    "null in polars": (
        lambda: ma.protect(pl.DataFrame({"a": [1, 2, None, 4]}), 2, missing="error"),
        InvalidData,
        r"'a' \(1\)",
    ),
    "null in a stratum": (
        lambda: ma.protect(frame(s=["x"] * 11 + [None]), 3, strata=["s"]),
        TooFewRecords,
        "1 of 2 strata by 's'",
    ),
    "null in a unit": (lambda: ma.protect(frame(u=[1.0] * 11 + [None]), 3, unit="u"), InvalidData, r"'u' \(1\)"),
    "mixed stratum": (
        lambda: ma.protect(frame(s=pd.Series([1, "secret"] * 6, dtype=object)), 3, strata=["s"]),
        InvalidData,
        "'s' mixes types",
    ),
    "a little beyond exact": (
        lambda: ma.protect(frame(d=2**53 + 2 + np.arange(12)), 3),
        InvalidData,
        "integers beyond",
    ),
    "large decimals": (
        lambda: ma.protect(pa.table({"d": [decimal.Decimal(10**25 + i) for i in range(9)]}), 3),
        InvalidData,
        "decimals beyond",
    ),
    "misspelt role": (lambda: ma.protect(frame(), 3, identifers=["a"]), InvalidParameter, "Did you mean 'identifiers'"),
    "rest alone": (lambda: ma.protect(frame(), 3, rest="keep"), InvalidParameter, "rest works only with quasi"),
    "a class for a method": (lambda: ma.protect(frame(), 3, method=ma.MDAV), InvalidParameter, "method is a "),
    "levels of column names": (
        lambda: ma.protect(pd.DataFrame(np.eye(4), columns=pd.MultiIndex.from_product([["x", "y"], [1, 2]])), 3),
        InvalidData,
        "2 levels of column names",
    ),
    "numbers beyond all types": (
        lambda: ma.protect(frame(s=pd.Series([10**30] * 12, dtype=object)), 3, strata=["s"]),
        InvalidData,
        "'s' mixes types",
    ),
    "n_jobs of nothing": (lambda: ma.protect(frame(), 3, n_jobs=0), InvalidParameter, "n_jobs=0"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_refused(case):
    call, error, says = CASES[case]
    with pytest.raises(error, match=says) as caught:
        call()
    message = str(caught.value)
    assert "secret" not in message
    assert not any(f"{value:.4f}" in message for value in frame()["a"])
    assert len(message) > 20


def test_decimals_are_numbers():
    values = pa.array([decimal.Decimal(i) / 4 for i in range(9)], type=pa.decimal128(10, 2))
    assert ma.protect(pa.table({"a": values}), 3).k_achieved == 3


def test_dates_may_be_kept():
    dates = [dt.date(2020, 1, day) for day in range(1, 13)]
    assert ma.protect(frame(d=dates), 3, keep=["d"]).data["d"].tolist() == dates
