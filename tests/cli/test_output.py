"""A private output stays private, and a shared folder is no trap."""

import os
import platform
import stat
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from tests.cli import call

RECIPE = 'k = 3\n[roles]\nquasi = ["a", "b"]\n'


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Work in a folder with a small file and its recipe."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("microagg.files.files.umask", lambda: 0o022)
    before = os.umask(0o022)
    pq.write_table(pa.table({"a": [i * i % 17 for i in range(30)], "b": [i / 7 for i in range(30)]}), "f.parquet")
    Path("r.toml").write_text(RECIPE)
    yield tmp_path
    os.umask(before)


def mask(*more):
    call("mask", "f.parquet", "--recipe", "r.toml", *more)


def modes_in(folder):
    paths = (Path(folder), *sorted(Path(folder).rglob("*")))
    return {str(path): oct(stat.S_IMODE(path.stat().st_mode)) for path in paths}


ENGINES = [[], ["--engine", "disk", "--same-order"]]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_internal_is_private_and_what_is_released_follows_the_umask(engine):
    mask(*engine, *([] if engine else ["--public"]))
    modes = modes_in("out")
    released = {name for name in modes if name.startswith("out/release/")}
    assert released >= {"out/release/f_masked.parquet", "out/release/recipe.toml"}
    assert {modes.pop(name) for name in released} == {"0o644"}
    assert (modes.pop("out"), modes.pop("out/release"), modes.pop("out/internal")) == ("0o755", "0o755", "0o700")
    assert set(modes.values()) == {"0o600"}
    assert {"out/internal/recipe.toml", "out/internal/rows.parquet"} <= {*modes}


def test_a_recipe_and_a_report_by_themselves_are_private():
    call("inspect", "f.parquet", "-o", "made.toml")
    release = ma.protect(pq.read_table("f.parquet"), 3)
    release.report("report.html")
    release.report("public.html", public=True)
    modes = {name: oct(stat.S_IMODE(Path(name).stat().st_mode)) for name in ("made.toml", "report.html", "public.html")}
    assert modes == {"made.toml": "0o600", "report.html": "0o600", "public.html": "0o644"}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_private_output_stays_private(engine):
    Path("out").mkdir(mode=0o700)
    for more in ([], ["--force"]):
        mask(*engine, *more)
        modes = modes_in("out")
        assert {modes.pop(name) for name in ("out", "out/release", "out/internal")} == {"0o700"}
        assert len(modes) >= 2
        assert set(modes.values()) == {"0o600"}


def test_files_keep_their_modes_and_new_ones_get_no_more_than_the_folder():
    mask()
    Path("out").chmod(0o750)
    Path("out/release").chmod(0o750)
    mask("--public", "--force")
    assert modes_in("out") == {
        "out": "0o750",
        "out/internal": "0o700",
        "out/internal/recipe.toml": "0o600",
        "out/internal/report.html": "0o600",
        "out/internal/rows.parquet": "0o600",
        "out/release": "0o750",
        "out/release/f_masked.parquet": "0o644",
        "out/release/recipe.toml": "0o644",
        "out/release/report_public.html": "0o640",
    }


@pytest.mark.parametrize("to", ["m.csv", "m.parquet", "m.feather", "m.dta", "duckdb:///m.db?table=t"])
def test_a_private_target_stays_private(to):
    mask("--to", to)
    written = next(Path().glob("m.*"))
    written.chmod(0o600)
    before = written.stat().st_mtime_ns
    mask("--to", to, "--force")
    assert written.stat().st_mtime_ns > before
    assert modes_in(written) == {written.name: "0o600"}


def test_a_demonstration_in_a_private_folder_is_private():
    Path("shown").mkdir(mode=0o700)
    call("demo", "-o", "shown", "-n", 1000)
    assert set(modes_in("shown").values()) == {"0o700", "0o600"}
    Path("shown/report.html").chmod(0o640)
    call("demo", "-o", "shown", "-n", 1000, "--force")
    assert modes_in("shown")["shown/report.html"] == "0o640"


def test_a_recipe_that_is_replaced_keeps_its_mode():
    Path("r.toml").chmod(0o600)
    call("inspect", "f.parquet", "-o", "r.toml", "--force")
    assert modes_in("r.toml") == {"r.toml": "0o600"}


def test_somebody_who_plants_scratch_beside_an_output_gets_nothing(tmp_path):
    own, shared = tmp_path / "own", tmp_path / "shared"
    own.mkdir(mode=0o700)
    (own / "thesis.txt").write_text("all of it")
    planted = shared / ".microagg-a"
    planted.mkdir(parents=True)
    (planted / "owner.lock").write_text(platform.node())
    (planted / "replaced").symlink_to(own)
    if os.getuid() == 0:
        for path in (planted, planted / "owner.lock", planted / "replaced"):
            os.chown(path, 65534, 65534, follow_symlinks=False)
    mask("-o", shared / "out")
    assert (own / "thesis.txt").exists()
    assert sorted(path.name for path in shared.iterdir()) == [".microagg-a", "out"]


def test_a_umask_for_a_group_takes_nothing_from_recovery():
    """What a run that was killed had moved aside comes back under any umask."""
    mask()
    former = Path("out/internal/recipe.toml").read_bytes()
    code = (
        "import os, signal, microagg.files.scratch as scratch\n"
        "from pathlib import Path\n"
        "os.umask(0o002)\n"
        "with scratch.private_folder(Path()) as private:\n"
        "    (private / 'whole').mkdir()\n"
        "    def rename(path, to, before=Path.rename):\n"
        "        if path.name == 'whole':\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return before(path, to)\n"
        "    Path.rename = rename\n"
        "    scratch.put_in_place(private / 'whole', Path('out').resolve(), overwrite=True)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    assert not Path("out").exists()
    mask("-o", "another")
    assert Path("out/internal/recipe.toml").read_bytes() == former
    assert not list(Path().glob(".microagg-*"))


def test_the_masked_file_can_be_of_another_kind_than_the_source(place):
    mask("--file-kind", "csv", "--excel-safe")
    assert sorted(path.name for path in (place / "out" / "release").iterdir()) == ["f_masked.csv", "recipe.toml"]
    again = call("mask", "f.parquet", "--recipe", "out/internal/recipe.toml", "-o", "again")
    assert "that is not used" not in again.stderr
    assert Path("again/release/f_masked.csv").read_bytes() == Path("out/release/f_masked.csv").read_bytes()
    mask("--file-kind", "parquet", "--force")  # a former output of another kind is ours too
    assert (place / "out" / "release" / "f_masked.parquet").exists()
