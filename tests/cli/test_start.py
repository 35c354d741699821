"""What a command imports: a small file should be masked in a second, and half of that is imports."""

import subprocess
import sys

import pytest

import microagg as ma

CODE = """
import sys
from microagg.cli import main
sys.argv[1:] = {words!r}
try:
    main()
except SystemExit as end:
    assert not end.code, end
print(*sys.modules, file=sys.stderr)
"""

NEVER = {"pandas", "polars", "sklearn", "matplotlib", "dask", "duckdb", "formulaic", "unittest"}
COMPILING = {"scipy.linalg", "numba.np.arrayobj", "numba.np.linalg", "numba.cpython.unicode"}


def modules_after(*words):
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(words=list(words))], capture_output=True, text=True, check=True
    )
    return {*done.stderr.splitlines()[-1].split()}


@pytest.fixture
def survey(tmp_path):
    path = tmp_path / "survey.csv"
    ma.write(ma.datasets.survey(300, seed=0), path)
    return path


def test_help_imports_nothing_that_works_on_a_file():
    found = modules_after("--help")
    assert "typer" in found
    assert not found & {
        *NEVER,
        *COMPILING,
        "numpy",
        "numba",
        "pyarrow",
        "narwhals",
        "scipy",
        "jinja2",
        "microagg.jobs.writing",
    }


def test_inspecting_imports_no_page_and_nothing_that_compiles(survey, tmp_path):
    words = "inspect", str(survey), "-q", "--force", "-o", str(tmp_path / "recipe.toml")
    modules_after(*words)  # its kernels are kept now
    found = modules_after(*words)
    assert "microagg.study.inspection" in found
    assert not found & {*NEVER, *COMPILING, "jinja2", "microagg.report.html", "microagg.study.comparison"}


@pytest.mark.parametrize("records", [300, 6_000])  # by brute force, and by the searches of a larger file
def test_masking_loads_kept_kernels_and_nothing_that_compiles(records, tmp_path):
    survey = tmp_path / "survey.csv"
    columns = ["age", "education", "hours", "wage", "capital", "pension", "income", "tax"]
    ma.write(ma.datasets.survey(records, seed=0).select(columns), survey)
    words = "mask", str(survey), "-k", "3", "--yes", "-q", "--force", "-o", str(tmp_path / "out")
    modules_after(*words)
    found = modules_after(*words)
    assert {"jinja2", "microagg.algorithms.kernels.partitioners"} <= found
    assert not found & {*NEVER, *COMPILING, "microagg.study.comparison", "microagg.file_release"}


def test_a_database_says_nothing_at_the_end(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "survey.duckdb")) as connection:
        connection.execute("create table people as select range % 7 as age, range % 5 as wage from range(60)")
    words = ["inspect", f"duckdb:///{tmp_path}/survey.duckdb?table=people", "-q", "-o", str(tmp_path / "recipe.toml")]
    done = subprocess.run([sys.executable, "-m", "microagg", *words], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert (tmp_path / "recipe.toml").is_file()
