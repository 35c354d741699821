"""Bad inputs: one paragraph, the right exit code, nothing left, and no cell of the data shown."""

import gzip
import os
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.cli import main
from microagg.files.databases import write_table

CELL = "71.2593"  # a value that must never be shown
GOOD = "a,b,c\n" + "".join(f"{i},{i * 7 % 11},{CELL}\n" for i in range(40))
ROLES = '[roles]\nquasi = ["a", "b", "c"]\n'


def parquet(name):
    pq.write_table(ma.datasets.survey(50), name)


def truncated_parquet():
    parquet("t.parquet")
    Path("t.parquet").write_bytes(Path("t.parquet").read_bytes()[:900])


def duplicate_columns():
    Path("d.csv").write_text(f"a,a\n1,{CELL}\n2,3\n4,5\n")


def truncated_gz():
    Path("g.csv.gz").write_bytes(gzip.compress(GOOD.encode() * 50)[:200])


def write(name, content):
    return lambda: Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def recipe(text, data=GOOD):
    def prepare():
        Path("good.csv").write_text(data)
        Path("r.toml").write_text(text)

    return prepare


def hard_link(name):
    def prepare():
        Path("good.csv").write_text(GOOD)
        os.link("good.csv", name)

    return prepare


def database(name="x.db"):
    def made():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        write_table(pa.table({column: range(40) for column in "abc"}), f"duckdb:///{name}?table=t", False)

    return made


TABLE = "duckdb:///x.db?table=t"
MASK = ("mask", "--yes", "-k", "3")
BY_RECIPE = ("mask", "good.csv", "--recipe", "r.toml")
CASES = {
    "no such file": (None, (*MASK, "none.csv"), 1, "no file 'none.csv'"),
    "a folder": (lambda: Path("folder").mkdir(), (*MASK, "folder"), 1, "folder"),
    "an empty file": (write("e.csv", ""), (*MASK, "e.csv"), 1, "e.csv"),
    "a header alone": (write("h.csv", "a,b\n"), (*MASK, "h.csv"), 1, "no records"),
    "an unknown kind": (write("x.xls", "PK"), (*MASK, "x.xls"), 2, "x.xls"),
    "truncated parquet": (truncated_parquet, (*MASK, "t.parquet"), 1, "t.parquet"),
    "truncated gzip": (truncated_gz, (*MASK, "g.csv.gz"), 1, "g.csv.gz"),
    "not parquet at all": (write("n.parquet", GOOD), (*MASK, "n.parquet"), 1, "n.parquet"),
    "ragged rows": (write("r.csv", GOOD + f"1,2,{CELL},4,5\n"), (*MASK, "r.csv"), 1, "r.csv"),
    "duplicate headers": (duplicate_columns, (*MASK, "d.csv"), 1, "d.csv"),
    "a header without a name": (write("d.csv", f"a,\n1,{CELL}\n"), (*MASK, "d.csv"), 1, "has no name"),
    "a table that exists": (
        lambda: (Path("good.csv").write_text(GOOD), write_table(pa.table({"a": [1]}), TABLE, False)),
        (*MASK, "good.csv", "--to", TABLE),
        2,
        "--force",
    ),
    "wrong encoding": (
        write("l.csv", "a,é\n1,2\n3,4\n5,6\n".encode("latin-1")),
        (*MASK, "l.csv", "--encoding", "utf-8"),
        1,
        "l.csv",
    ),
    "no such encoding": (write("good.csv", GOOD), (*MASK, "good.csv", "--encoding", "utf-99"), 2, "utf-99"),
    "a delimiter of two": (write("good.csv", GOOD), (*MASK, "good.csv", "--delimiter", "ab"), 2, "delimiter"),
    "only names": (
        write("w.csv", "a,b\n" + "".join(f"x{i},y{i}\n" for i in range(40))),
        (*MASK, "w.csv"),
        1,
        "no column is left to mask",
    ),
    "all missing": (write("m.csv", "a,b\n" + ",\n" * 20), (*MASK, "m.csv"), 1, ""),
    "k too large": (write("good.csv", GOOD), ("mask", "--yes", "-k", "41", "good.csv"), 1, "k=41"),
    "k of 1": (write("good.csv", GOOD), ("mask", "--yes", "-k", "1", "good.csv"), 2, "k=1"),
    "k in words": (write("good.csv", GOOD), ("mask", "--yes", "-k", "three", "good.csv"), 2, "-k"),
    "roles not confirmed": (write("good.csv", GOOD), ("mask", "-k", "3", "good.csv"), 2, "--yes"),
    "unknown method": (write("good.csv", GOOD), (*MASK, "good.csv", "--method", "mdva"), 2, "mdva"),
    "unknown engine": (write("good.csv", GOOD), (*MASK, "good.csv", "--engine", "spark"), 2, "spark"),
    "unknown option": (write("good.csv", GOOD), (*MASK, "good.csv", "--kk", "3"), 2, "--kk"),
    "output is a file": (write("good.csv", GOOD), (*MASK, "good.csv", "-o", "good.csv"), 2, "not a folder"),
    "no folder for the output": (
        write("good.csv", GOOD),
        (*MASK, "good.csv", "-o", "no/where"),
        2,
        "'where' is to be in does not exist",
    ),
    "target is the source": (
        write("good.csv", GOOD),
        (*MASK, "good.csv", "--to", "good.csv", "--force"),
        2,
        "source",
    ),
    "target is a hard link to the source": (
        hard_link("hard.csv"),
        (*MASK, "good.csv", "--to", "hard.csv", "--force"),
        2,
        "source itself",
    ),
    "target on disk is a hard link to the source": (
        lambda: (hard_link("hard.csv")(), recipe("k = 3\n" + ROLES)()),
        (*BY_RECIPE, "--engine", "disk", "--same-order", "--to", "hard.csv", "--force"),
        2,
        "the target is the source",
    ),
    "target is the source's table": (
        database(),
        (*MASK, TABLE, "--to", "duckdb:///./x.db?table=MAIN.T", "--force"),
        2,
        "source itself",
    ),
    "target is the source's database": (
        database("x.csv"),
        (*MASK, "duckdb:///x.csv?table=t", "--to", "x.csv", "--force"),
        2,
        "source itself",
    ),
    "the output holds the source's database": (
        database("out/release/masked.parquet"),
        (*MASK, "duckdb:///out/release/masked.parquet?table=t", "--force"),
        2,
        "the output is the source, or contains it",
    ),
    "target's database in the output": (
        lambda: (Path("out").mkdir(), Path("good.csv").write_text(GOOD)),
        (*MASK, "good.csv", "--to", "duckdb:///out/report.html?table=t"),
        2,
        "is the output folder, or is in it",
    ),
    "target in the output": (
        lambda: (Path("out").mkdir(), Path("good.csv").write_text(GOOD)),
        (*MASK, "good.csv", "--to", "out/m.csv"),
        2,
        "is the output folder, or is in it",
    ),
    "target of no kind": (write("good.csv", GOOD), (*MASK, "good.csv", "--to", "m.docx"), 2, "m.docx"),
    "recipe without k": (recipe(ROLES), BY_RECIPE, 2, "k"),
    "recipe typo": (recipe("k = 3\n[role]\n"), BY_RECIPE, 2, "'roles'"),
    "recipe no TOML": (recipe("k: 3\n"), BY_RECIPE, 2, "line 1"),
    "recipe column unknown": (recipe("k = 3\n" + ROLES.replace('"c"', '"cc"')), BY_RECIPE, 2, "'cc'"),
    "recipe column twice": (recipe("k = 3\n" + ROLES + 'keep = ["a"]\n'), BY_RECIPE, 2, "'a'"),
    "recipe column left over": (recipe('k = 3\n[roles]\nquasi = ["a", "b"]\n'), BY_RECIPE, 2, "'c'"),
    "text to mask": (recipe("k = 3\n" + ROLES + '[kinds]\nc = "number"\n', GOOD + "1,2,words\n"), BY_RECIPE, 1, "'c'"),
    "missing to mask": (
        recipe("k = 3\n" + ROLES + '[masking]\nmissing = "error"\n', GOOD + "1,,4\n"),
        BY_RECIPE,
        1,
        "'b'",
    ),
    "no such recipe": (write("good.csv", GOOD), ("mask", "good.csv", "--recipe", "x.toml"), 2, "x.toml"),
    "secrets of an address": (
        None,
        (*MASK, "postgresql://annabel:S3cret!x@127.0.0.1:9/db?table=t"),
        1,
        "127.0.0.1",
    ),
    "an address without a table": (None, (*MASK, "duckdb:///x.db"), 2, "table"),
    "files that differ": (
        lambda: (Path("a.csv").write_text(GOOD), Path("b.csv").write_text("x,y\n" + "1,2\n" * 40)),
        ("assess", "a.csv", "b.csv"),
        1,
        "in common",
    ),
    "files of different length": (
        lambda: (Path("a.csv").write_text(GOOD), Path("b.csv").write_text("x,y\n1,2\n3,4\n")),
        ("assess", "a.csv", "b.csv"),
        1,
        "40 records and the masked one 2",
    ),
    "levels in words": (write("good.csv", GOOD), ("compare", "good.csv", "--yes", "-k", "3,x"), 2, "'3,x'"),
    "a picture of no kind": (write("good.csv", GOOD), ("tree", "good.csv", "-o", "t.gif"), 2, "t.gif"),
    "unknown measure": (write("good.csv", GOOD), ("tree", "good.csv", "--measure", "emin"), 2, "emin"),
    "more columns than there are": (
        recipe("k = 3\n" + ROLES),
        ("tree", "good.csv", "--recipe", "r.toml", "--count", "50"),
        2,
        "count=50 must be a whole number, from 1 to 3. There are no more columns.",
    ),
    "a spreadsheet's formulas in Parquet": (
        write("good.csv", GOOD),
        (*MASK, "good.csv", "--excel-safe", "--to", "m.parquet"),
        2,
        "--excel-safe works only with text files",
    ),
    "the recipe over the source": (
        write("good.csv", GOOD),
        ("inspect", "good.csv", "-o", "good.csv", "--force"),
        2,
        "good.csv",
    ),
    "the recipe over a hard link to the source": (
        hard_link("hard.toml"),
        ("inspect", "good.csv", "-o", "hard.toml", "--force"),
        2,
        "source itself",
    ),
    "the recipe over the source's database": (
        database(),
        ("inspect", TABLE, "-o", "x.db", "--force"),
        2,
        "source itself",
    ),
    "a picture over the source's database": (
        database("x.svg"),
        ("tree", "duckdb:///x.svg?table=t", "-o", "x.svg", "--force"),
        2,
        "source itself",
    ),
    "the recipe into nowhere": (write("good.csv", GOOD), ("inspect", "good.csv", "-o", "no/r.toml"), 2, "r.toml"),
    "the output holds the source": (
        lambda: (Path("d/release").mkdir(parents=True), parquet("d/release/d_masked.parquet")),
        (*MASK, "d", "-o", "d", "--force"),
        2,
        "source",
    ),
    "no such data set": (None, ("datasets", "fetch", "censes", "-o", "c.csv"), 2, "censes"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input(case, tmp_path, monkeypatch, capsys):
    prepare, words, code, said = CASES[case]
    monkeypatch.chdir(tmp_path)
    if prepare is not None:
        prepare()
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    monkeypatch.setattr(sys, "argv", ["microagg", *words])
    with pytest.raises(SystemExit) as caught:
        main()
    captured = capsys.readouterr()
    assert caught.value.code == code, captured.err
    complaint = captured.err.strip()
    assert said in complaint
    assert complaint
    assert "Traceback" not in complaint
    assert "\n\n" not in complaint
    assert CELL not in captured.err
    assert "S3cret" not in captured.err + captured.out
    assert "annabel" not in captured.err
    assert str(tmp_path) not in captured.err
    assert sorted(str(path) for path in tmp_path.rglob("*")) == before


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch, capsys):
    import microagg.jobs.tables as module

    monkeypatch.chdir(tmp_path)
    Path("good.csv").write_text(GOOD)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_target", full)
    monkeypatch.setattr(sys, "argv", ["microagg", *MASK, "good.csv"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 1
    assert "No space left" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["good.csv"]


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch, capsys):
    import microagg.files.scratch as module

    monkeypatch.chdir(tmp_path)
    Path("good.csv").write_text(GOOD)

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module.tempfile, "mkdtemp", refuse)
    monkeypatch.setattr(sys, "argv", ["microagg", *MASK, "good.csv"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["good.csv"]


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_data_elsewhere_goes_again_if_the_folder_cannot_be_put_in_place(tmp_path, monkeypatch, capsys, engine):
    import microagg.jobs.outputs as module

    monkeypatch.chdir(tmp_path)
    recipe(f"k = 3\n{ROLES}")()

    def refuse(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "put_in_place", refuse)
    words = ["microagg", *BY_RECIPE, "--engine", engine, "--same-order", "--to"]
    monkeypatch.setattr(sys, "argv", [*words, "m.csv"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 1
    assert "so that no half of one is left" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.csv", "r.toml"]
    elsewhere = {"m.csv": ["--force"]} | ({"duckdb:///m.db?table=t": []} if engine == "memory" else {})
    Path("m.csv").write_text("former")
    for target, more in elsewhere.items():  # what cannot be taken back is told
        monkeypatch.setattr(sys, "argv", [*words, target, *more])
        with pytest.raises(SystemExit) as caught:
            main()
        assert caught.value.code == 1
        said = capsys.readouterr().err
        assert f"No space left on device. The masked data is already in {target!r}, but the output 'out'" in said
        assert "--force" in said
    assert not Path("out").exists()


def test_a_broken_promise_writes_nothing(tmp_path, monkeypatch, capsys):
    """A group that is too small is refused, and so is everything beside it."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"a": [float(i // 5) for i in range(40)]}), "in.parquet")
    Path("r.toml").write_text('k = 3\n[roles]\nquasi = ["a"]\n')
    monkeypatch.setattr("microagg.mask.masked.fewest_sharing", lambda *_, **__: 2)
    monkeypatch.setattr(sys, "argv", ["microagg", "mask", "in.parquet", "--recipe", "r.toml"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 1
    assert "only 2 record(s) would share a combination" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.parquet", "r.toml"]
