"""Cases that once failed and are shorter as a program than as a file."""

import io
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat

from adversary.case import Case

GONE = "qzwxkvjhbp"
"""A word of somebody who is left out of the release, in a label, a category or below a null."""


def cases() -> list[tuple[str, Case]]:
    """Give each case with its name."""
    named = [
        ("labels of rows left out", [_labels(".sav"), _labels(".dta")]),
        ("categories of rows left out", [_nested(".arrow"), _nested(".parquet")]),
        ("formulas", _formulas()),
        ("views of polars", _views()),
        ("metadata that pandas has not written", _metadata()),
        ("ends of float64", [_numbers([1.7e308, -1.7e308, 1e300, 5.0]), _numbers([1e-300, 1e300, 5e-324, 0.0])]),
        ("narrow floats and hundreds", _narrow()),
        ("names that begin with a point", _points()),
        ("names of files that are no text", [_file_name(b"in\xff.csv")]),
        ("damaged text", [_damaged_text(["--engine", "disk"]), _damaged_text([])]),
        ("recipes without end", [_recipe("quasi = " + "[" * 3000), _recipe(f"quasi = {['a]' * 9000, ']' * 9000]}")]),
        ("codes for terminals", [*_codes(), _file_name(b"in\x1b[31m.csv"), _file_name(b"\x1b]0;x\x07.csv")]),
        ("views of lists, and runs", _folded()),
    ]
    return [(f"{name} {number}", case) for name, own in named for number, case in enumerate(own, 1)]


def _as_parquet(table: pa.Table) -> bytes:
    room = io.BytesIO()
    pq.write_table(table, room, compression="none", use_dictionary=False)
    return room.getvalue()


def _as_arrow(table: pa.Table) -> bytes:
    room = io.BytesIO()
    with pa.ipc.new_file(room, table.schema) as writer:
        writer.write_table(table)
    return room.getvalue()


def _as_csv(columns: dict[str, list[object]]) -> bytes:
    rows = [[*columns], *zip(*columns.values(), strict=True)]
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in rows).encode()


def _ages(n: int = 12) -> list[float]:
    return [float(x) for x in np.random.default_rng(0).integers(20, 60, n)]


def _labels(suffix: str) -> Case:
    frame = pd.DataFrame({"age": [*_ages(), None], "job": [1.0] * 12 + [2.0]})
    labels = {"job": {1.0: "plain", 2.0: GONE, 3.0: f"{GONE} too"}}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"in{suffix}"
        write = pyreadstat.write_dta if suffix == ".dta" else pyreadstat.write_sav
        write(frame, str(path), variable_value_labels=labels)
        content = path.read_bytes()
    words = ["mask", f"in{suffix}", "-k", "3", "--quasi", "age", "--keep", "job", "--missing", "drop"]
    return Case("made", {f"in{suffix}": content}, [words], absent=[GONE])


def _nested(suffix: str) -> Case:
    words = pa.DictionaryArray.from_arrays(pa.array([0] * 12 + [1], pa.int8()), ["plain", GONE])
    texts = pa.array(["plain"] * 12 + [GONE])
    listed = pa.ListArray.from_arrays(pa.array(range(14), pa.int32()), words)
    below = pa.StructArray.from_arrays([texts], ["one"], mask=pa.array([False] * 12 + [True]))
    table = pa.table({"age": [*_ages(), None], "listed": listed, "below": below, "word": words})
    content = _as_arrow(table) if suffix == ".arrow" else _as_parquet(table)
    command = ["mask", f"in{suffix}", "-k", "3", "--quasi", "age", "--rest", "keep", "--missing", "drop"]
    return Case("made", {f"in{suffix}": content}, [command], absent=[GONE])


def _formulas() -> list[Case]:
    begun = ["=1+1", "+1", "-cmd", "@x", "\t=1", "\r=1", "\n=1", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201"]
    cells = (begun * 2)[:12]
    kept = {
        "binary": pa.array([cell.encode() for cell in cells], pa.binary()),
        "categories": pa.array([cell.encode() for cell in cells], pa.binary()).dictionary_encode(),
        "text": pa.array(cells),
    }
    command = [
        "mask",
        "in.parquet",
        "-k",
        "3",
        "--quasi",
        "age",
        "--rest",
        "keep",
        "--excel-safe",
        "--file-kind",
        "csv",
    ]
    return [
        Case("made", {"in.parquet": _as_parquet(pa.table({"age": _ages(), name: own}))}, [command])
        for name, own in kept.items()
    ]


def _views() -> list[Case]:
    frame = pl.DataFrame({"age": _ages(), "job": ["a", "b"] * 6, "listed": [["q"], None] * 6, "bytes": [b"x"] * 12})
    room = io.BytesIO()
    frame.write_ipc(room)
    command = ["mask", "in.arrow", "-k", "3", "--quasi", "age,job", "--rest", "keep"]
    return [Case("made", {"in.arrow": room.getvalue()}, [command, ["inspect", "in.arrow"]])]


def _metadata() -> list[Case]:
    stored = [b"not json", b"[1, 2]", b"null", b"\xff\xfe", b'{"index_columns": 5}', b"[" * 9999]
    table = pa.table({"age": _ages(), "b": _ages()})
    return [
        Case(
            "made", {"in.parquet": _as_parquet(table.replace_schema_metadata({b"pandas": one}))}, [_usual("in.parquet")]
        )
        for one in stored
    ]


def _usual(name: str, *more: str) -> list[str]:
    return ["mask", name, "-y", "-k", "3", *more]


def _numbers(ends: list[float]) -> Case:
    table = pa.table({"ends": (ends * 8)[:24], "b": _ages(24)})
    command = ["mask", "in.parquet", "-k", "3", "--quasi", "ends,b", "--json"]
    moments = [*command, "--moments", "variance", "-o", "moments"]
    return Case("made", {"in.parquet": _as_parquet(table)}, [command, moments])


def _narrow() -> list[Case]:
    hundreds = pa.array([100 * (i % 7) for i in range(12)]).cast(pa.decimal128(30, 0)).cast(pa.decimal128(20, -2))
    table = pa.table({"age": _ages(), "half": pa.array(np.arange(12).astype(np.float16)), "hundreds": hundreds})
    masked = ["mask", "in.arrow", "-k", "3", "--quasi", "age,half,hundreds"]
    return [Case("made", {"in.arrow": _as_arrow(table)}, [["inspect", "in.arrow"], masked])]


def _points() -> list[Case]:
    return [
        Case(
            "made",
            {"in.parquet": _as_parquet(pa.table({name: _ages(), "b": _ages()}))},
            [_usual("in.parquet")],
        )
        for name in (".a", ".", "[a", "a.b[0]")
    ]


def _file_name(name: bytes) -> Case:
    shown = os.fsdecode(name)
    content = _as_csv({"age": [*_ages()], "wage": [*_ages()]})
    return Case("made", {shown: content}, [["mask", shown, "--quasi", "age,wage", "-k", "3"]])


def _damaged_text(more: list[str]) -> Case:
    content = bytearray(_as_parquet(pa.table({"age": _ages(), "text": ["plain", "wordy"] * 6})))
    at = content.index(b"wordy", content.index(b"plain"))
    content[at : at + 2] = b"w\xff"
    return Case(
        "made",
        {"in.parquet": bytes(content)},
        [["mask", "in.parquet", "-k", "3", "--quasi", "age", "--rest", "keep", *more]],
    )


def _recipe(line: str) -> Case:
    files = {"asked.toml": f"k = 3\n[roles]\n{line}\n".encode(), "in.csv": _as_csv({"age": [*_ages()]})}
    return Case("made", files, [["mask", "in.csv", "--recipe", "asked.toml"]])


def _codes() -> list[Case]:
    table = pa.table({"\x1b[31mage": _ages(), "\u202ewage": _ages()[::-1], "b\x07": ["x", "y"] * 6})
    names = ["\\u001b[31mage", "\\u202ewage", "b\\u0007"]
    listed = ", ".join(f'"{name}"' for name in names)
    roles = f'k = 3\n[roles]\nquasi = [{listed}]\n[select]\ncolumns = ["{names[0]}"]\n'
    files = {"in.parquet": _as_parquet(table), "asked.toml": roles.encode()}
    command = ["mask", "in.parquet", "--recipe", "asked.toml"]
    return [Case("made", files, [command]), Case("made", files, [[*command, "--json"]])]


def _folded() -> list[Case]:
    lists = pa.array([["a"], None, []] * 4, pa.list_view(pa.string()))
    runs = pa.compute.run_end_encode(pa.array(["a"] * 6 + ["b"] * 6))
    command = ["mask", "in.arrow", "-k", "3", "--quasi", "age", "--rest", "keep"]
    return [
        Case("made", {"in.arrow": _as_arrow(pa.table({"age": _ages(), "kept": own}))}, [command])
        for own in (lists, runs)
    ]
