"""A run can be had again: by its recipe, by the printed command, and by the printed script, to the last byte."""

import json
import shlex
import subprocess
import sys

import pyarrow as pa
import pytest

import microagg as ma
from microagg.jobs.again import command, script

RECIPE = """k = 4  # agreed

[roles]
quasi = ["age", "wage", "income"]
identifiers = ["person"]
strata = ["region"]
keep = ["education"]
rest = "drop"

[refine]
effort = 2000
seed = 3

[output]
same_order = {same_order}
"""


def run(*words, where):
    program = [sys.executable, "-c", "from microagg.cli import main; main()"]
    done = subprocess.run([*program, *words[1:]], cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def long(*values):
    return pytest.param(*values, marks=pytest.mark.campaign)


@pytest.mark.parametrize(
    ("suffix", "same_order"),
    [
        (".csv", "true"),
        long(".sav", "false"),
        long(".csv", "false"),
        long(".parquet", "true"),
        long(".parquet", "false"),
        long(".sav", "true"),
    ],
)
def test_every_way_gives_the_same_bytes(tmp_path, suffix, same_order):
    survey = ma.datasets.survey(200, seed=1)
    ma.write(survey, tmp_path / f"survey{suffix}")
    (tmp_path / "mine.toml").write_text(RECIPE.format(same_order=same_order))
    made = run("microagg", "mask", f"survey{suffix}", "--recipe", "mine.toml", "-o", "out", "--json", where=tmp_path)
    told = json.loads(made)
    masked = tmp_path / "out" / "release" / f"survey_masked{suffix}"
    bytes_of_first = masked.read_bytes()
    recipe = (tmp_path / "out" / "internal" / "recipe.toml").read_text()

    again = shlex.split(told["command"])
    assert again[0] == "microagg"
    run(*again, where=tmp_path)
    assert masked.read_bytes() == bytes_of_first
    assert (tmp_path / "out" / "internal" / "recipe.toml").read_text() == recipe

    (tmp_path / "again.py").write_text(told["script"])
    masked.unlink()
    subprocess.run([sys.executable, "again.py"], cwd=tmp_path, check=True, capture_output=True)
    assert masked.read_bytes() == bytes_of_first

    program = (
        "import microagg as ma\n"
        "recipe = ma.Recipe.read('mine.toml')\n"
        f"source = ma.read('survey{suffix}')\n"
        "frame = source.typed(recipe.masked(source.table.column_names))\n"
        "release = ma.protect(frame, recipe=recipe)\n"
        f"ma.write(release, 'own{suffix}', like=source)\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / f"own{suffix}").read_bytes() == bytes_of_first


def test_what_is_printed_shows_no_password():
    address = "postgresql://ann:secret@host/db?table=t"
    for text in (command(address, "r.toml", "out"), script(address, "r.toml", "masked.parquet")):
        assert "secret" not in text
        assert "host" in text
    assert command("a b.csv", "r.toml", "out", to="x.csv", engine="disk", overwrite=True) == (
        "microagg mask 'a b.csv' --recipe r.toml -o out --to x.csv --engine disk --same-order --force"
    )


def test_tables_are_written_and_frames_refused(tmp_path):
    ma.write(pa.table({"a": [1, 2]}), tmp_path / "t.csv")
    assert ma.read(tmp_path / "t.csv").typed()["a"].to_pylist() == [1, 2]
    with pytest.raises(ma.errors.InvalidParameter, match="Pass a Release or an Arrow table"):
        ma.write([1, 2], tmp_path / "u.csv")


def test_the_recipe_of_a_release_reads_its_file_in_the_same_way(tmp_path):
    rows = "".join(f"{row};{row}.{row % 7}00\n" for row in range(1, 31))  # 1.100 may be a thousand and more, or not
    (tmp_path / "pay.csv").write_text(rows, "utf-16")
    source = ma.read(tmp_path / "pay.csv", decimal=",", thousands=".", header=False)
    release = ma.protect(source, k=3)
    recipe = ma.Recipe.read(release.recipe.write(tmp_path / "recipe.toml"))
    assert (recipe.reading.delimiter, recipe.reading.encoding) == (";", "utf-16-le")
    assert (recipe.reading.decimal, recipe.reading.thousands, recipe.reading.header) == (",", ".", False)
    again = ma.protect(ma.read(tmp_path / "pay.csv", recipe=recipe), recipe=recipe)
    assert again.data.equals(release.data)
    assert again.recipe == release.recipe == recipe
    assert ma.protect(source.typed(), k=3).recipe.reading == ma.Recipe(3).reading


@pytest.mark.parametrize("name", ["new\nForged: kept.csv", "a\x1b'b\\\r.csv", "it's.csv", "é\u2028ü\x07c.csv"])
def test_the_command_is_one_line_that_a_shell_reads_as_it_was(name):
    said = command(name, f"{name}.toml", f"out/{name}")
    assert said.isprintable()
    read = subprocess.run(["bash", "-c", f"printf '%s\\0' {said}"], capture_output=True, check=True).stdout.decode()
    words = ["microagg", "mask", name, "--recipe", f"{name}.toml", "-o", f"out/{name}"]
    assert read.split("\0")[:-1] == words
