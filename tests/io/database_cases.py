"""What the tests of databases share: a table of awkward columns, and a look at what an error says."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from tests.io.server import PASSWORD, USER

duckdb = pytest.importorskip("duckdb")
dbapi = pytest.importorskip("adbc_driver_postgresql.dbapi")

WHEN = dt.datetime(2020, 2, 29, 23, 59, 59, 123456)
AWKWARD = pa.table(
    {
        "k": pa.array([3, None], pa.int32()),
        "big": pa.array([2**63 - 1, -(2**63)], pa.int64()),
        "unsigned": pa.array([2**64 - 1, 0], pa.uint64()),
        "code": ["007", None],
        "empty": ["", None],
        "שם המשפחה": ["כהן", "naïve 🙂"],
        'quote " and; drop': [1.5, float("nan")],
        "flag": [True, None],
        "price": pa.array([Decimal("1.10"), Decimal("-99999999.99")], pa.decimal128(10, 2)),
        "wide": pa.array([Decimal("1" * 38), None], pa.decimal128(38, 0)),
        "born": pa.array([dt.date(1899, 12, 31), None]),
        "seen": pa.array([WHEN, None], pa.timestamp("us")),
        "zoned": pa.array([WHEN, None], pa.timestamp("us", "UTC")),
        "noon": pa.array([dt.time(12), None], pa.time64("us")),
        "bytes": [b"\0\xff", b""],
        "kind": pa.array(["a", "b"]).dictionary_encode(),
        "nothing": pa.nulls(2),
    }
)


def refused(kind, work, *arguments):
    """Give the message of an error that shows no secret, nor has any behind it."""
    with pytest.raises(kind) as caught:
        work(*arguments)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None or not isinstance(error.__context__, (duckdb.Error, dbapi.Error, OSError))
    while error is not None:
        for secret in (PASSWORD, PASSWORD.replace("/", "%2F"), USER, "hush"):
            assert secret not in str(error)
        error = error.__context__
    return str(caught.value)
