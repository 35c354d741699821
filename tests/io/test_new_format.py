"""A file format of the test's own: one file, and one line that lists it. Files of it are read, written and counted."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "microagg"

FORMAT = '''"""Columns, each a line of JSON."""

import json

import pyarrow as pa

from microagg.files.files import whole_file
from microagg.files.formats.kinds import Stored, to_path


def read(address, reading, progress):
    return Stored(pa.table(dict(map(json.loads, to_path(address).read_text().splitlines()))), {"lines": "one a column"})


def write(table, path, how):
    lines = [json.dumps([name, table[name].to_pylist()]) + "\\n" for name in table.column_names]
    with whole_file(path, check=how.check) as fresh:
        fresh.write_text("".join(lines))


def read_back(path, target, schema, names, dialect):
    yield read(path, {}, None).table.select(names)


def size(path, reading):
    return len(path.read_text()), 1
'''
LINE = '    Format("jsoncolumns", "JSON by columns", (".jcol",), "jsoncolumns"),\n)\nFORMAT = '
USE = """
import microagg as ma
from microagg.errors import PromiseBroken
from microagg.files.addresses import extent_of
from microagg.files.formats.kinds import known_addresses
from microagg.files.promise import Promise
from microagg.files.sources import read_source, write_target
import pyarrow as pa
table = pa.table({"pay": [1.5, 1.5, 2.5], "town": ["a", "b", None]})
ma.write(table, "t.jcol")
source = read_source("t.jcol")
assert (source.kind, dict(source.details)) == ("jsoncolumns", {"lines": "one a column"})
assert source.table.equals(table)
assert "JSON by columns" in known_addresses()
assert extent_of("t.jcol").records > 10
write_target(table, "kept.jcol", source, promise=Promise(1, ["pay"]))
try:
    write_target(table, "broken.jcol", source, promise=Promise(2, ["pay"]))
except PromiseBroken:
    print("counted")
"""


@pytest.fixture
def package(tmp_path):
    """Copy the source, with one file more and one line."""
    shutil.copytree(SOURCE, tmp_path / "src" / "microagg", ignore=shutil.ignore_patterns("__pycache__"))
    formats = tmp_path / "src" / "microagg" / "files" / "formats"
    (formats / "jsoncolumns.py").write_text(FORMAT)
    listed = (formats / "kinds.py").read_text()
    assert listed.count(")\nFORMAT = ") == 1
    (formats / "kinds.py").write_text(listed.replace(")\nFORMAT = ", LINE))
    return tmp_path


def test_a_new_format_is_one_file_and_one_line(package):
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(package / 'src')!r})\n{USE}"],
        cwd=package, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stderr, done.stdout) == ("", "counted\n")
    assert {path.name for path in package.iterdir()} == {"src", "t.jcol", "kept.jcol"}
