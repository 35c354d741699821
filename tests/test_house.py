"""The house keeps its order: imports run one way, and nothing heavy is imported or compiled early."""

import ast
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from benchmarks.house import counts
from tests.warm_up import PARTS

ROOT = Path(__file__).parent.parent


def lint(folder):
    command = [str(Path(sys.executable).parent / "lint-imports"), "--config", "pyproject.toml", "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env={"PYTHONPATH": "src"})


def copied(folder):
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def copy(tmp_path):
    return copied(tmp_path)


def test_the_import_contract_holds_on_a_copy(copy):
    result = lint(copy)
    assert result.returncode == 0, result.stdout


REACHES = [
    ("algorithms/mdav.py", "microagg.measures.loss"),
    ("measures/loss.py", "microagg.mask.method"),
    ("columns/embedding.py", "microagg.files.sources"),
    ("algorithms/kernels/brute.py", "microagg.columns.table"),
    ("algorithms/cbfs.py", "microagg.pipeline"),
    ("algorithms/cbfs.py", "microagg.recipe"),
    ("recipe/_parts.py", "microagg.mask.method"),
    ("recipe/_parts.py", "microagg.pipeline"),
    ("mask/form.py", "microagg.judge"),
    ("report/html.py", "microagg.jobs"),
    ("study/comparison.py", "microagg.jobs"),
    ("jobs/masking.py", "microagg.cli"),
    ("jobs/masking.py", "microagg.app"),
    ("app/session.py", "microagg.cli"),
    ("pipeline.py", "microagg.estimators"),
    ("pipeline.py", "sklearn"),
    ("report/model.py", "numpy"),
    ("report/pictures/tree.py", "matplotlib"),
]
"""A room's file, and what it may not import."""


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """Return what one run says of a copy in which all these rooms reach into others."""
    folder = copied(tmp_path_factory.mktemp("reaching"))
    for file, imported in REACHES:
        path = folder / "src" / "microagg" / file
        path.write_text(path.read_text() + f"\nimport {imported}\n")
    result = lint(folder)
    assert result.returncode == 1
    return " ".join(result.stdout.split())


@pytest.mark.parametrize(("file", "imported"), REACHES)
def test_the_import_contract_fails_when_a_room_reaches_into_another(complaints, file, imported):
    module = f"microagg.{file.removesuffix('.py').replace('/', '.')}"
    assert f" is not allowed to import {'.'.join(imported.split('.')[:2])}: - {module} -> {imported} (l." in complaints


def test_a_new_room_must_be_given_its_place(copy):
    (copy / "src" / "microagg" / "attic.py").write_text('"""Nowhere."""\n')
    assert lint(copy).returncode == 1


def test_the_house_can_be_held_in_mind():
    """Counted by the benchmark that says how each version stands; public signatures and kernels are apart."""
    found = counts(ROOT / "src" / "microagg")
    assert found["modules in the root"] <= 10
    assert found["class names used twice or more"] == 0
    assert found["functions of more than 8 arguments"] == 0
    assert found["functions of more than 60 lines"] == 0


def test_oracles_import_nothing_of_microagg():
    for path in (ROOT / "tests" / "reference").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not any(name.split(".")[0] == "microagg" for name in names), path.name


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"HOME": "/nowhere", "PYTHONPATH": str(ROOT / "src"), **environment},
    ).stdout


def test_importing_microagg_imports_nothing_heavy():
    heavy = "{'numpy', 'numba', 'sklearn', 'pyarrow', 'narwhals', 'scipy'}"
    assert run(f"import sys, microagg; print({heavy} & set(sys.modules))").strip() == "set()"
    assert run(f"import sys, microagg.cli; print({heavy} & set(sys.modules))").strip() == "set()"


def test_nothing_compiles_at_import(tmp_path):
    code = (
        "import numba.core.event as event\n"
        "with event.install_recorder('numba:compile') as recorder:\n"
        "    import microagg.pipeline, microagg.estimators\n"
        "print(len(recorder.buffer))"
    )
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)).strip() == "0"


CALL = """
import numpy as np
from microagg.algorithms.kernels.groups import place_leftovers_together
labels = np.array([0, 1, -1])
place_leftovers_together(np.array([[5.0, 1.0, 1.0]]), np.empty(0), np.array([1]), np.array([1.0]), labels)
print(labels[2])
"""


@pytest.mark.campaign
def test_the_first_call_says_that_it_compiles(tmp_path):
    """Whichever kernel is the first: those that only prepare a file compile too."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PATH": "", "PYTHONPATH": str(ROOT / "src")}
    code = f"{CALL}\nfrom microagg.algorithms.kernels.groups import number_groups\nnumber_groups(np.array([1, 0]))"
    for announced in (1, 0):
        command = [sys.executable, "-c", code]
        result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        assert result.stderr.count("compiling kernels") == announced


def test_no_writable_cache_is_no_error(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert run(CALL, NUMBA_CACHE_DIR=str(blocked)).strip() == "1"


@pytest.mark.campaign
def test_a_changed_kernel_file_invalidates_what_calls_it(copy, tmp_path):
    environment = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(copy / "src")}
    assert run(CALL, **environment).strip() == "1"
    called = copy / "src" / "microagg" / "algorithms" / "kernels" / "records.py"
    source = called.read_text()
    assert "vector[j] += entries[j, i]" in source
    called.write_text(source.replace("vector[j] += entries[j, i]", "vector[j] += 0.0"))
    assert run(CALL, **environment).strip() == "0"


def test_the_edge_leaves_the_work_to_the_desk():
    """No command and no page masks, compares, reads or writes data by itself."""
    work = {"protect", "protect_file", "compare", "read_source", "write_target", "read_table", "write_table", "Batches"}
    rooms = [ROOT / "src" / "microagg" / room for room in ("cli", "app")]
    for path in sorted(path for room in rooms for path in room.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                assert called not in work, f"{path.name}, line {node.lineno}: {called}"


@pytest.mark.parametrize("part", ["estimators", "stages"])  # as conftest.py asks for them
def test_kernels_can_be_compiled_before_the_tests(part):
    PARTS[part]()


def test_one_place_holds_the_version():
    import microagg

    assert f"\nversion: {microagg.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert microagg.__version__ in (ROOT / "docs" / "cite.md").read_text()
    assert 'path = "src/microagg/__init__.py"' in (ROOT / "pyproject.toml").read_text()
    assert metadata.version("microagg") == microagg.__version__
