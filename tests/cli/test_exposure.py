"""Files from which originals could get out: refused, or masked without a trace of them."""

import pytest
from typer.testing import CliRunner

from microagg.cli import app
from microagg.files.sources import read_source
from tests.cli import call, files_in

ROLES = 'k = 3\n[roles]\nquasi = ["age", "income"]\nidentifiers = ["person"]\nkeep = ["note"]\n'


def refused(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code != 0
    return f"{result.output}{result.stderr}{result.exception}"


@pytest.mark.parametrize("engine", ["memory", "disk"])
@pytest.mark.parametrize("second", ['"quoted badly', '"'])
def test_two_stray_quotes_release_nobody(tmp_path, monkeypatch, engine, second):
    monkeypatch.chdir(tmp_path)
    notes = {20: '"quoted badly', 60: second}
    rows = [f"secret{i},{20 + i % 50},{1000 + 7 * i % 900},{notes.get(i, 'fine')}\n" for i in range(100)]
    (tmp_path / "d.csv").write_text("person,age,income,note\n" + "".join(rows))
    (tmp_path / "r.toml").write_text(ROLES)
    said = refused("mask", "d.csv", "--recipe", "r.toml", "-o", "out", "--same-order", "--engine", engine)
    assert "line 22" in said
    assert "secret" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.csv", "r.toml"]


HEADLESS = "".join(f"secret{i},{20 + i % 50},{1000 + 7 * i % 900},fine{i}\n" for i in range(100))


@pytest.mark.parametrize("words", [["mask", "--yes"], ["mask", "--recipe", "r.toml"], ["inspect"], ["tree"]])
def test_a_file_without_a_header_is_asked_about(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(HEADLESS)
    (tmp_path / "r.toml").write_text(ROLES)
    said = refused(words[0], "d.csv", *words[1:])
    assert "--no-header" in said
    assert "secret" not in said
    assert "fine" not in said


def test_no_error_lists_names_that_may_be_cells(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("secret,personal\n" + "".join(f"{i},{i}x\n" for i in range(20)))
    (tmp_path / "r.toml").write_text('k = 3\n[roles]\nquasi = ["secre"]\nidentifiers = ["person"]\n')
    said = refused("mask", "d.csv", "--recipe", "r.toml")
    assert "'secret'" not in said
    assert "personal" not in said


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_without_a_header_the_first_person_is_masked_like_the_others(tmp_path, monkeypatch, engine):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(HEADLESS)
    (tmp_path / "r.toml").write_text(
        'k = 3\n[roles]\nquasi = ["column_2", "column_3"]\nidentifiers = ["column_1"]\ndrop = ["column_4"]\n'
    )
    more = ["--public"] if engine == "memory" else []
    call("mask", "d.csv", "--recipe", "r.toml", "--no-header", "-o", "out", "--same-order", "--engine", engine, *more)
    for name in files_in(tmp_path / "out"):
        assert b"secret0" not in (tmp_path / "out" / name).read_bytes()
    assert "header = false" in (tmp_path / "out" / "internal" / "recipe.toml").read_text()
    masked = read_source(tmp_path / "out" / "release" / "d_masked.csv", header=False)
    assert masked.table.num_rows == 100
    call("mask", "d.csv", "--recipe", "out/internal/recipe.toml", "-o", "again", "--same-order", "--engine", engine)
    again, out = (tmp_path / folder / "release" / "d_masked.csv" for folder in ("again", "out"))
    assert again.read_bytes() == out.read_bytes()


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-le", "utf-32-be", "utf-16", "utf-8-sig"])
def test_one_mark_of_the_byte_order_is_enough(tmp_path, monkeypatch, encoding):
    """A mark before each part of a file would make values of their own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(
        "age,income\n" + "".join(f"{20 + i % 50},{1000 + 7 * i % 900}\n" for i in range(300)), encoding
    )
    monkeypatch.setattr("microagg.files.formats.text._ROWS", 50)
    told = [] if encoding in ("utf-8-sig", "utf-16", "utf-32") else ["--encoding", encoding]
    call("mask", "d.csv", "--quasi", "age,income", "-k", 3, "-o", "out", *told)
    written = (tmp_path / "out" / "release" / "d_masked.csv").read_bytes()
    source = (tmp_path / "d.csv").read_bytes()
    assert written[:4] == source[:4]
    lines = written.decode(encoding).splitlines()
    assert lines[0] == "age,income"
    assert not any("\ufeff" in line for line in lines)
    assert min(lines[1:].count(line) for line in set(lines[1:])) >= 3
