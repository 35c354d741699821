import csv
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from microagg import __version__
from microagg.cli import app, main
from microagg.files.formats.kinds import KINDS, TITLES
from tests.cli import complaint


def test_demo_prints_a_table_and_writes_a_masked_file(tmp_path):
    result = CliRunner().invoke(app, ["demo", "-o", str(tmp_path), "-n", "1000"])
    assert result.exit_code == 0, result.output
    for words in ("mdav", "iamat", "groups", "IL %", "seconds", "households_masked.csv", "report.html"):
        assert words in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["households_masked.csv", "report.html"]
    with (tmp_path / "households_masked.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1000
    assert list(rows[0]) == ["region", "sex", "age", "education", "status", "wage", "income", "diagnosis"]
    masked = Counter(tuple(v for name, v in row.items() if name != "diagnosis") for row in rows)
    assert min(masked.values()) >= 5
    assert all(row["wage"].isdigit() or row["wage"] == "" for row in rows)
    assert not any(row["wage"] for row in rows if row["status"] == "")  # children have neither
    assert any(row["wage"] == "0" for row in rows)
    assert any(row["status"] == "" for row in rows)


@pytest.mark.parametrize("seed", range(3))
def test_the_very_first_demo_compiles_first(tmp_path, monkeypatch, seed):
    monkeypatch.setattr("microagg.jobs.samples.is_cold", lambda: True)
    result = CliRunner().invoke(app, ["demo", "-o", str(tmp_path), "-n", "1000", "--seed", str(seed)])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "report.html").exists()


@pytest.mark.campaign
def test_the_demo_works_where_nothing_is_compiled_yet(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "microagg", "demo", "-o", str(tmp_path / "demo")],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "compiling kernels for this machine" in done.stderr
    assert (tmp_path / "demo" / "report.html").exists()


def test_demo_replaces_only_when_asked_and_speaks_as_asked(tmp_path):
    words = ["demo", "-o", str(tmp_path), "-n", "1000"]
    first = CliRunner().invoke(app, [*words, "--json"])
    found = json.loads(first.stdout)
    assert found["masked"] == str(tmp_path / "households_masked.csv")
    assert found["k_reached"] >= found["k"] == 5
    assert len(found["candidates"]) == 12
    before = (tmp_path / "report.html").read_bytes()
    assert "--force" in complaint(*words, "--seed", "1")
    assert (tmp_path / "report.html").read_bytes() == before
    again = CliRunner().invoke(app, [*words, "--seed", "1", "--force", "--quiet"])
    assert (again.exit_code, again.output) == (0, "")
    assert (tmp_path / "report.html").read_bytes() != before


def test_help_and_version():
    assert "microagg demo -o out" in CliRunner().invoke(app, ["demo", "--help"]).output
    assert CliRunner().invoke(app, ["--version"]).output.strip() == f"microagg {__version__}"


@pytest.mark.parametrize("command", ["inspect", "mask", "compare", "tree"])
def test_help_lists_every_kind_of_file_that_is_read(command):
    shown = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output
    said = " ".join(shown.replace("│", " ").split())
    for kind in KINDS.values():
        assert TITLES[kind] in said
    assert "CSV, TSV (.gz, .zst), Parquet (file or folder, also s3://, gs://, abfs://, hdfs://), Feather, SPSS" in said
    assert "SPSS, Stata, SAS, Excel, duckdb:///" in said


def test_the_version_imports_nothing_heavy():
    code = (
        "import sys\nfrom microagg.cli import main\nsys.argv[1:] = ['--version']\n"
        "try:\n    main()\nexcept SystemExit:\n    print({'numpy', 'numba', 'pyarrow', 'narwhals'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == [f"microagg {__version__}", "set()"]


def test_wrong_usage_exits_with_2():
    assert CliRunner().invoke(app, ["demo", "-n", "999"]).exit_code == 2
    assert CliRunner().invoke(app, ["dmeo"]).exit_code == 2


@pytest.mark.parametrize("output", ["file", "file/folder"])
def test_a_file_where_the_output_should_go_is_refused_before_any_work(tmp_path, monkeypatch, capsys, output):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(sys, "argv", ["microagg", "demo", "-n", "1000", "-o", str(tmp_path / output)])
    with pytest.raises(SystemExit) as caught:
        main()
    said = capsys.readouterr()
    assert caught.value.code == 2
    assert said.out == ""
    assert "'file' is a file" in said.err
    assert said.err.count("\n") == 1


def test_the_installed_command_runs():
    command = Path(sys.executable).parent / "microagg"
    assert "demo" in subprocess.run([command, "--help"], capture_output=True, text=True, check=True).stdout
