"""How large files are, and how they begin, without reading them whole."""

import gzip
import subprocess
import sys

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from microagg.files.addresses import Extent, extent_of, in_parts
from microagg.files.formats.dialect import SAMPLE
from microagg.files.sources import read_beginning
from microagg.jobs import memory
from microagg.recipe import Recipe

TABLE = pa.table({"a": range(1000), "b": [f"word{i % 7}" for i in range(1000)]})


@pytest.fixture
def files(tmp_path):
    pa.parquet.write_table(TABLE, tmp_path / "t.parquet", row_group_size=100)
    pa.feather.write_feather(TABLE, tmp_path / "t.feather", chunksize=250)
    lines = "".join(f"{i};word{i % 7}\n" for i in range(1000))
    (tmp_path / "t.csv").write_text(f"a;b\n{lines}")
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(f"a;b\n{lines}".encode()))
    return tmp_path


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.csv", "t.csv.gz"])
def test_the_extent_of_a_small_file_is_exact(files, name):
    assert extent_of(files / name) == Extent(1000, 2)


def test_of_a_feather_file_in_one_part_only_one_column_is_read(tmp_path):
    wide = pa.table({f"c{i}": [float(i * j % 977) for j in range(10_000)] for i in range(20)})
    pa.feather.write_feather(wide, tmp_path / "wide.feather", chunksize=10_000, compression="lz4")
    code = f"""if True:
        import pyarrow as pa
        from microagg.files.addresses import extent_of
        found = extent_of({str(tmp_path / "wide.feather")!r})
        print(found.records, found.columns, pa.default_memory_pool().max_memory())"""
    records, columns, most = map(int, subprocess.check_output([sys.executable, "-c", code], text=True).split())
    assert (records, columns) == (10_000, 20)
    assert most < 5 * 8 * 10_000


def test_the_extent_of_a_long_text_is_told_from_its_first_lines(tmp_path):
    line = "1234567,12.50,word\n"
    rows = 3 * SAMPLE // len(line)
    (tmp_path / "long.csv").write_text("a,b,c\n" + line * rows)
    found = extent_of(tmp_path / "long.csv")
    assert found.columns == 3
    assert abs(found.records - rows) < 0.001 * rows


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.csv.gz"])
def test_the_first_records_are_those_of_the_file(files, name):
    start = read_beginning(files / name, 150)
    assert in_parts(files / name)
    assert start.typed(["a"]).equals(TABLE.slice(0, 150)) if "csv" in name else start.table.equals(TABLE.slice(0, 150))
    assert start.table.num_rows == 150


def test_what_is_no_parquet_and_no_text_is_not_read_in_parts(files):
    assert not in_parts(files / "t.feather")
    assert not in_parts("duckdb:///t.db?table=t")
    assert extent_of("duckdb:///t.db?table=t") is None


def test_free_memory_is_that_of_the_machine_or_of_the_container(tmp_path, monkeypatch):
    whole = memory.free_memory()
    for name, text in {"max": "5000\n", "current": "3000\n", "stat": "anon 1\ninactive_file 500\n"}.items():
        (tmp_path / f"memory.{name}").write_text(text)
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    assert memory.free_memory() == 2500 < whole


def test_a_file_of_another_kind_that_does_not_fit_is_to_be_converted(files, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 1000)
    found = memory.beyond_memory(str(files / "t.feather"))
    assert (found.recipe, found.needed, found.masked) == (None, 300_000, None)
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    assert memory.beyond_memory(str(files / "t.feather")) is None


def test_columns_that_are_not_masked_need_less(files, monkeypatch):
    recipe = Recipe(3).replace(quasi=["a"], drop=["b"])
    monkeypatch.setattr(memory, "free_memory", lambda: 200_000)
    assert memory.beyond_memory(str(files / "t.csv"), recipe) is None
    assert memory.beyond_memory(str(files / "t.csv"), Recipe(3).replace(quasi=["a", "b"])).needed == 300_000
