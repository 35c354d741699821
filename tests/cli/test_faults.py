"""Odd files and recipes that once ended in a fault: they are masked, or refused in a sentence."""

import io
import json
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.cli import main
from microagg.errors import InvalidData, InvalidParameter
from microagg.jobs import told
from microagg.recipe import Recipe
from tests.cli import call, complaint


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def columns(n=30):
    return {name: np.random.default_rng(seed).random(n) for seed, name in enumerate("ab")}


MALFORMED = [
    b"not json",
    b"[1, 2]",
    b"null",
    b"\xff\xfe",
    b'{"index_columns": 5}',
    b'{"index_columns": null}',
    b"[" * 9999,
]


@pytest.mark.parametrize("stored", MALFORMED, ids=range(len(MALFORMED)))
def test_what_pandas_has_not_written_says_nothing_of_an_index(stored):
    table = pa.table({**columns(), "__index_level_0__": [f"person {i}" for i in range(30)]})
    pq.write_table(table.replace_schema_metadata({b"pandas": stored}), "in.parquet")
    source = ma.read("in.parquet")
    assert source.table.num_rows == 30
    assert source.details["pandas index"] == "__index_level_0__"


@pytest.mark.parametrize(
    ("deep", "said"),
    [
        ("quasi = " + "[" * 2000 + "]" * 2000, "line 3: more than 20 lists or tables are inside each other"),
        ("x = " + "{a = " * 2000, "line 3: more than 20 lists or tables are inside each other"),
        ("a" + ".a" * 2000 + " = 1", "line 3: a name has 2001 parts with dots between, and at most 8 are possible"),
    ],
    ids=["brackets", "braces", "dots"],
)
def test_a_recipe_that_is_nested_without_end_is_refused(deep, said):
    with pytest.raises(InvalidParameter, match=said):
        Recipe.parse(f"k = 3\n[roles]\n{deep}\n")


def test_floats_of_two_bytes_and_decimals_of_negative_scale_are_inspected_and_masked():
    hundreds = pa.array([100 * (i % 7) for i in range(30)]).cast(pa.decimal128(30, 0)).cast(pa.decimal128(20, -2))
    halves = pa.array(np.arange(30).astype(np.float16))
    table = pa.table({**columns(), "half": halves, "hundreds": hundreds})
    with pa.OSFile("in.arrow", "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    call("inspect", "in.arrow")
    call("mask", "in.arrow", "-k", 3, "--quasi", "a,half,hundreds", "--rest", "drop", "-o", "masked")
    call(
        "mask",
        "in.arrow",
        "-k",
        3,
        "--quasi",
        "a",
        "--keep",
        "half,hundreds",
        "--rest",
        "drop",
        "-o",
        "kept",
        "--same-order",
    )
    kept = ma.read("kept/release/in_masked.arrow").table
    assert kept["half"].to_pylist() == list(range(30))
    assert [int(value) for value in kept["hundreds"].to_pylist()] == [100 * (i % 7) for i in range(30)]
    assert ma.protect(table, 3, quasi=["half"], rest="keep").k_achieved >= 3


@pytest.mark.parametrize("name", [".a", ".", "[a", "a.b[0]"])
def test_rows_are_sorted_by_columns_whatever_they_are_called(name):
    pq.write_table(pa.table({name: columns()["a"], "b": columns()["b"]}), "in.parquet")
    call("mask", "in.parquet", "-y", "-k", 3)
    written = ma.read("out/release/in_masked.parquet").table[name].to_pylist()
    assert written == sorted(written)


def test_a_file_name_that_is_not_text_is_refused():
    name = os.fsdecode(b"in\xff.parquet")
    try:
        pq.write_table(pa.table(columns()), "in.parquet")
        Path("in.parquet").rename(name)
    except OSError:
        pytest.skip("this file system takes text only")
    for words in (
        ["inspect", name],
        ["mask", name, "-y"],
        ["mask", name, "--quasi", "a,b", "--engine", "disk", "--same-order"],
    ):
        assert "is not UTF-8" in complaint(*words)


def test_damaged_text_of_parquet_is_refused_in_memory_and_on_disk():
    text = ["plain", "wordy"] * 15
    pq.write_table(pa.table({**columns(), "text": text}), "in.parquet", compression="none", use_dictionary=False)
    with Path("in.parquet").open("rb+") as file:
        whole = file.read()
        file.seek(whole.index(b"wordy", whole.index(b"plain")))
        file.write(b"w\xff")
    with pytest.raises(InvalidData, match="cannot be read completely"):
        ma.read("in.parquet")
    with pytest.raises(InvalidData, match="cannot be read completely"):
        ma.protect_file("in.parquet", "out.parquet", 3, quasi=["a"], rest="keep")
    assert not Path("out.parquet").exists()


def test_values_at_both_ends_of_float64_are_masked_judged_and_drawn():
    ends = np.random.default_rng(0).random(30) * 1.7e308 * np.resize([1, -1], 30)
    pq.write_table(pa.table({"ends": ends, "b": columns()["b"]}), "in.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        call("mask", "in.parquet", "-y", "-k", 3)
        call("mask", "in.parquet", "-y", "-k", 3, "--moments", "variance", "-o", "moments")
        call("assess", "in.parquet", "out/release/in_masked.parquet")
    assert "<svg" in Path("out/internal/report.html").read_text("utf-8")


def run(monkeypatch, *words, out, err):
    """Run a command as the program does, with streams of one's own; give its exit code."""
    monkeypatch.setattr(sys, "argv", ["microagg", *words])
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        try:
            main()
        except SystemExit as end:
            return end.code
    return 0


def test_a_terminal_that_does_not_know_all_characters_keeps_nothing_from_being_done(monkeypatch):
    unknown = "Ż東 größe"  # of which Latin-1 knows a part
    pq.write_table(pa.table({unknown: columns()["a"], "b": columns()["b"]}), "in.parquet")
    for more in ([], ["--json", "--force"]):
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="latin-1") for _ in range(2))
        assert run(monkeypatch, "mask", "in.parquet", "-y", "-k", "3", *more, out=out, err=err) == 0
    out.flush()
    assert unknown in str(json.loads(out.buffer.getvalue().decode("latin-1")))


class Full(io.StringIO):
    """A stream of a disk that is full."""

    def write(self, _):
        raise OSError(28, "No space left on device")


def test_what_was_written_is_not_said_not_to_be(monkeypatch):
    pq.write_table(pa.table(columns()), "in.parquet")
    err = io.StringIO()
    assert run(monkeypatch, "mask", "in.parquet", "-y", "-k", "3", "--json", out=Full(), err=err) == 1
    assert Path("out/release/in_masked.parquet").exists()
    assert (
        "No space left on device: something could not be read or written. An output is written as a whole"
        in err.getvalue()
    )
    with pytest.raises(ZeroDivisionError) as caught:
        _ = 1 / 0
    assert told(caught.value).text.endswith(
        "in the program. Please report it. An output is written as a whole or not at all, so that no half of one is "
        "left."
    )


@pytest.mark.parametrize("effort", [10**20, 2**62, 10**12 + 1])
def test_an_effort_without_end_is_refused_as_such(effort):
    table = pa.table(columns())
    with pytest.raises(InvalidParameter, match=f"{effort} must be .*whole number, .*to 1000000000000"):
        ma.protect(table, 3, refine=effort)
    X = np.column_stack(list(columns().values()))
    with pytest.raises(InvalidParameter, match=f"effort={effort} must be a whole number, from 1 to 1000000000000"):
        ma.refine(X, np.arange(30) // 3, k=3, effort=effort)
