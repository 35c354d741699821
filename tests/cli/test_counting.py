"""k is counted on the file that a masking leaves: one that was spoilt as it was written does not appear."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from microagg.cli import main
from microagg.files.sources import read_source
from tests.cli import call
from tests.io.faults import FAULTS, spoil_duckdb
from tests.reference.alike import fewest_alike

RECIPE = 'k = 3\n[roles]\nquasi = ["a", "b"]\nstrata = ["s"]\nkeep = ["note"]\n[masking]\nrounding = "auto"\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a folder to work in, with a file in which many records are alike."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    a, b, s = rng.integers(0, 3, 600), rng.integers(0, 2, 600), rng.choice(["x", "y"], 600)
    table = pa.table({"note": [f"n{i}" for i in range(600)], "a": a, "b": b, "s": s})
    pq.write_table(table, "f.parquet", row_group_size=100)
    Path("f.csv").write_text(
        "note,a,b,s\n" + "".join(f"{','.join(map(str, row.values()))}\n" for row in table.to_pylist())
    )
    Path("r.toml").write_text(RECIPE + '[blocks]\nby = "median"\nmax_block = 50\n')
    return tmp_path


def refused(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["microagg", *words])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 1
    return capsys.readouterr().err


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("suffix", sorted(FAULTS))
def test_a_file_that_was_spoilt_does_not_appear(folder, monkeypatch, capsys, suffix):
    FAULTS[suffix](monkeypatch, "a")
    mask = ("mask", "f.csv", "--recipe", "r.toml", "-o", "out")
    said = refused(monkeypatch, capsys, *mask, "--to", f"masked{suffix}")
    assert said.startswith(f"PromiseBroken: 'masked{suffix}' was read back, and a combination")
    assert names_in(folder) == ["f.csv", "f.parquet", "r.toml"]
    if suffix == ".csv":
        assert "'f_masked.csv' was read back" in refused(monkeypatch, capsys, *mask)
        assert names_in(folder) == ["f.csv", "f.parquet", "r.toml"]


def test_a_table_that_was_spoilt_does_not_appear(folder, monkeypatch, capsys):
    spoil_duckdb(monkeypatch, "b")
    mask = ("mask", "f.csv", "--recipe", "r.toml", "-o", "out", "--to", "duckdb:///new.db?table=t")
    assert "table=t' was read back" in refused(monkeypatch, capsys, *mask)
    assert names_in(folder) == ["f.csv", "f.parquet", "r.toml"]


@pytest.mark.parametrize("name", ["f.csv", "f.parquet"])
def test_a_file_beyond_memory_that_was_spoilt_does_not_appear(folder, monkeypatch, capsys, name):
    FAULTS[Path(name).suffix](monkeypatch, "a")
    mask = ("mask", name, "--recipe", "r.toml", "--engine", "disk", "--same-order", "-o", "out")
    for more in ((), ("--to", f"masked{Path(name).suffix}")):
        assert "was read back" in refused(monkeypatch, capsys, *mask, *more)
    assert names_in(folder) == ["f.csv", "f.parquet", "r.toml"]


def test_k_is_the_same_in_memory_and_on_disk(folder):
    found = {}
    for name in ("f.csv", "f.parquet"):
        for engine in ("memory", "disk"):
            told = call(
                "mask",
                name,
                "--recipe",
                "r.toml",
                "--same-order",
                "--engine",
                engine,
                "-o",
                f"{engine}-{name}",
                "--json",
            )
            found[name, engine] = json.loads(told.stdout)
    assert len({told["k_reached"] for told in found.values()}) == 1
    told = found["f.csv", "disk"]
    table = read_source(told["masked"]).table
    assert told["k_reached"] == fewest_alike([table[name].to_pylist() for name in ("a", "b", "s")])
    assert told["k_reached"] > 600 // told["groups"] + 2  # the smallest group has 3 or 4
    assert names_in(folder)[:2] == ["disk-f.csv", "disk-f.parquet"]
