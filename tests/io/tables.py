"""Tables and files that the tests of reading and writing share."""

import base64
import datetime as dt
import json
from pathlib import Path

import pyarrow as pa

from microagg.files.sources import Source, read_source, write_target

TEXT = [".csv", ".tsv", ".txt", ".csv.gz", ".csv.zst"]
ARROW = [".parquet", ".pq", ".feather", ".arrow"]
STATISTICS = [".sav", ".zsav", ".dta"]

AWKWARD = pa.table(
    {
        "k": ["007", "010", "000"],
        "date": ["2020-01-05", "5.1.2020", "1/5/20"],
        "large": ["9007199254740993", "12345678901234567890123", "-1"],
        "שם": ["דנה", "=1+1", 'a "quoted", one'],
        "größe": ["", None, "two\nlines"],
        "x;y|z\tw,v": [" padded ", "NA", "."],
    }
)

STORED = pa.table(
    {
        "k": pa.array([1, None, 3], pa.int64()),
        "code": ["007", "010", "x"],
        "größe": [1.5, -0.1, None],
        "שם": ["דנה", "a", "b"],
        "day": pa.array([dt.date(2020, 1, 5), None, dt.date(1950, 12, 31)]),
        "moment": pa.array([dt.datetime(2020, 1, 5, 3, 4, 5, 250000), None, dt.datetime(1950, 1, 1)]),
    }
)


def source_of(table, **rest):
    return Source(table, "made", "parquet", **rest)


def write_bytes(path, data):
    path.write_bytes(data)
    return path


def write_crashing(path):
    """Write a damaged .zsav that crashes the library that reads it."""
    corpus = Path(__file__).parents[2] / "adversary" / "corpus"
    case = json.loads((corpus / "crashes-the-reader-of-spss.json").read_text("utf-8"))
    return write_bytes(path, base64.b64decode(case["files"]["in.zsav"]["base64"]))


def rewrite(path, target, **rest):
    source = read_source(path)
    write_target(source.table, target, source, **rest)
    return read_source(target)


def check_message(caught, folder):
    message = str(caught.value)
    assert "secret" not in message
    assert str(folder) not in message
    assert "\n" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
