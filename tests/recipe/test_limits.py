"""A recipe that is longer or deeper than any is refused within a second, with its line; so is what has no end."""

import os
import socket
import time
from pathlib import Path

import pyarrow as pa
import pytest

import microagg as ma
from microagg.checks import MOST_OF_A_TABLE
from microagg.cli import app  # noqa: F401 - imported before the clock runs
from microagg.errors import InvalidData, InvalidParameter
from microagg.recipe._file import read_candidates
from tests.cli import complaint

ANALYSIS = '[[analysis]]\nkind = "mean"\ncolumns = ["a"]\n'

DOTS = ".".join(["a"] * 50_000)
LONG = {
    "parts of a name": ("k = 3\n" + DOTS + " = 1\n", "line 2: a name has 50000 parts"),
    "parts in quotes": ("k = 3\n" + DOTS.replace("a", '"a"') + " = 1\n", "line 2: a name has 50000 parts"),
    "parts of a head": ("k = 3\n[" + DOTS + "]\n", "line 2: a name has 50000 parts"),
    "parts in braces": ("k = 3\n\nroles = {" + DOTS.replace(".", " . ") + " = 1}\n", "line 3: a name has 50000 parts"),
    "analyses": ("k = 3\n" + ANALYSIS * 10_000, r"line 3002: there are more than 1000 tables \[\[analysis\]\]"),
    "analyses in a list": (
        "k = 3\nanalysis = [" + '{kind = "mean", columns = ["a"]}, ' * 10_000 + "]\n",
        r"line 2: there are 10000 tables \[\[analysis\]\], and at most 1000 are possible",
    ),
    "candidates": ("k = 3\n" + '[[candidates]]\nname = "a"\nk = 3\n' * 10_000, r"more than 1000 tables \[\[candidates"),
    "digits": ("\nk = " + "1" * 5000, "line 2: a number has 5000 digits, and at most 400 are possible"),
    "digits of a float": ("k = 3\nx = 0." + "1" * 5000, "line 2: a number has 5000 digits"),
    "hexadecimal digits": ("k = 0x" + "f" * 5000, "line 1: a number has 5002 digits"),
    "lists": (
        "k = 3\nx = " + "[" * 50_000 + "]" * 50_000,
        "line 2: more than 20 lists",
    ),
    "lists in lines": (
        "k = 3\nx = " + "[\n" * 15_000 + "]\n" * 15_000,
        "line 22: more than 20 lists",
    ),
    "tables": (
        "k = 3\nx = " + "{a = " * 50_000 + "1" + "}" * 50_000,
        "line 2: more than 20 lists",
    ),
    "bytes": ("k = 3\n#" + "x" * 2_000_000, "'recipe.toml' has more than 2000000 bytes"),
    "quotation marks": ("k = 3\n" + '"' * 1_000_001, "line 2"),
    "spaces in a head": ("k = 3\n[[ " + " " * 200_000, "recipe.toml: the file ends too early"),
    "heads": ("k = 3\n" + '[["my list"]] # [[x]]\n' * 2000, r'line 1002: .* 1000 tables \[\["my list"\]\]\. Leave'),
    "escapes": ('k = 3\nx = "' + '\\"' * 600_000, "recipe.toml: the file ends too early"),
    "escapes in a text of lines": ('k = 3\nx = """\n' + '\\"' * 600_000 + '\n"""\n', "line 2: 'x' is not a part"),
    "digits beside a text of lines": (
        'k = 3\ny = ["""\n""", ' + "9" * 5000 + "]\n",
        "line 3: a number has 5000 digits",
    ),
    "parts beside a text of lines": ('k = 3\nx = {b = """\n""", ' + DOTS + " = 1}\n", "line 3: a name has 50000 parts"),
    "tables of parts": (
        "k = 3\n" + "".join(f"[a.b.c.d.e.f.g{i}]\n" for i in range(39_000)),
        "line 14287: more than 100000 names and values",
    ),
    "keys": ("k = 3\n" + "".join(f"a{i} = 1\n" for i in range(39_000)), "line 2: 'a0' is not a part"),
    "lines": ("k = 3\nx = [\n" + "[],\n" * 400_000 + "]\n", "has 400003 lines, and at most 40000 are possible"),
    "values": ("k = 3\nx = [" + "[]," * 400_000 + "]\n", "line 2: more than 100000 names and values"),
    "remarks": ("#\n\n" * 19_000 + "#\n" * 1900 + "k = 1\n", "line 39901: k=1 protects nobody"),
    "candidates far below": (
        "k = 3\n" + "\n" * 36_000 + '[[candidates]]\nname = "a"\nk = 3\n' * 999 + "x = 1\n",
        "line 38999: 'x' is not a part",
    ),
    "letters": ("k = 3\n" + "a" * 1_000_000, "recipe.toml: the file ends too early"),
}


@pytest.mark.parametrize("what", LONG)
def test_a_recipe_that_is_too_long_is_refused_within_a_second(tmp_path, what):
    text, said = LONG[what]
    (tmp_path / "recipe.toml").write_text(text)
    began = time.process_time()
    with pytest.raises(InvalidParameter, match=said):
        read_candidates(tmp_path / "recipe.toml")
    assert time.process_time() - began < 1.5  # on a machine that does other things too


def test_what_is_just_short_enough_is_read(tmp_path):
    named = '", "'.join(["a." * 500, "1" * 500])
    text = f'k = 3\n[roles]\nquasi = ["{named}"] # {"b." * 500}\n{ANALYSIS * 1000}'
    (tmp_path / "recipe.toml").write_text(text)
    read = ma.Recipe.read(tmp_path / "recipe.toml")
    assert (len(read.analyses.analyses), read.roles.quasi) == (1000, ("a." * 500, "1" * 500))
    assert ma.Recipe.parse(f"k = 3\n[importance]\nx = 1.{'1' * 300}\n").importance.importance["x"] > 1
    (tmp_path / "recipe.toml").write_bytes(b"\xef\xbb\xbfk = 3\r\n[roles]\r\nquasi = ['a']\r\nkeep = 1\r\n")
    with pytest.raises(InvalidParameter, match="line 4"):
        ma.Recipe.read(tmp_path / "recipe.toml")


def test_a_recipe_of_thousands_of_columns_is_read_with_its_candidates(tmp_path):
    names = [f"column {i}.{i}" for i in range(8000)]
    quasi = "".join(f'    "{name}",  # a number\n' for name in names)
    profile = "".join(f'"{name}" = {{type = "numbers", missing = 3, median = 1.5, high = 30}}\n' for name in names)
    present = f"k = 3\n[roles]\nquasi = [\n{quasi}]\n[profile]\n{profile}"
    listed = ", ".join(f'"{name}"' for name in names[:3000])
    candidate = f'[[candidates]]\nname = "a"\nk = 4\n[candidates.roles]\nquasi = [{listed}]\n'
    (tmp_path / "recipe.toml").write_text(present + candidate)
    recipe, (saved,) = read_candidates(tmp_path / "recipe.toml")
    assert (recipe.roles.quasi, saved.recipe.roles.quasi) == (tuple(names), tuple(names[:3000]))
    assert recipe.comments.beside["roles", "quasi", names[-1]] == "a number"


def test_remarks_are_kept_beside_texts_of_many_lines():
    text = "# over\nk = 3\n[roles]\nquasi = [\n'a', # it's \"one\"\n'b', '''c''', # of three\n]\n".replace("\\", "")
    text += '[[analysis]]\nkind = "mean"\nname = """it\'s\n# no remark\nthe end\'s""" # a remark\ncolumns = ["a"]\n'
    comments = ma.Recipe.parse(text).comments
    assert dict(comments.beside) == {
        ("roles", "quasi", "a"): 'it\'s "one"',
        ("roles", "quasi", "c"): "of three",
        ("analysis", "1", "name"): "a remark",
    }


def endless(tmp_path):
    """What can be named like a file, and is none."""
    os.mkfifo(tmp_path / "pipe.csv")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(os.path.relpath(tmp_path / "socket.csv"))
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    (tmp_path / "folder.csv").mkdir()
    with (tmp_path / "huge.csv").open("wb") as file:
        file.truncate(50 * MOST_OF_A_TABLE)
    return [tmp_path / f"{name}.csv" for name in ("pipe", "socket", "zero", "folder", "huge")] + [Path("/dev/zero")]


def test_no_table_that_a_recipe_names_and_no_recipe_is_read_without_end(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ma.write(pa.table({"job": ["a", "b", "c", "a"], "x": [1, 2, 3, 4]}), "in.csv")
    for path in endless(tmp_path):
        said = "has more than" if path.stem == "huge" else "is a folder, a device or a pipe"
        began = time.process_time()
        (tmp_path / "tree.toml").write_text(
            f'k = 2\n[roles]\nquasi = ["job"]\nrest = "drop"\n[taxonomy]\njob = "{path}"\n'
        )
        assert f"tree.toml, line 6: in [taxonomy], {path.name!r} {said}" in complaint(
            "mask", "in.csv", "--recipe", "tree.toml", "-o", "out"
        )
        (tmp_path / "recode.toml").write_text(f'k = 2\n[recode]\njob = {{join = "{path}"}}\n')
        with pytest.raises(InvalidParameter, match=f"line 3: .*{said}"):
            ma.Recipe.read(tmp_path / "recode.toml")
        with pytest.raises(InvalidParameter, match=said):
            ma.Recipe.read(path)
        assert said in complaint("mask", "in.csv", "--quasi", "x", "--rest", "drop", "--analyses", path, "-o", "out")
        assert time.process_time() - began < 1.5


@pytest.mark.parametrize("name", ["a\0b", "a" * 5000, "nobody/a.csv"])
def test_a_name_that_no_file_has_is_refused(name):
    with pytest.raises(InvalidParameter, match="cannot be read"):
        ma.Recipe.read(Path(name))
    with pytest.raises(InvalidParameter, match="taxonomy of column 'job' cannot be read"):
        ma.protect(pa.table({"job": ["a", "b"]}), 2, taxonomy={"job": name})


def test_a_taxonomy_that_is_no_table_is_refused(tmp_path):
    (tmp_path / "tree.csv").write_text("a," + "b" * 200_000 + "\n")
    with pytest.raises(InvalidParameter, match="cannot be read"):
        ma.protect(pa.table({"job": ["a", "b"]}), 2, taxonomy={"job": tmp_path / "tree.csv"})


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_data_is_not_read_from_a_pipe_or_a_device(tmp_path, engine):
    for path in endless(tmp_path)[:3]:
        read = ma.read if engine == "memory" else lambda one: ma.protect_file(one, tmp_path / "out.csv", 2)
        with pytest.raises(InvalidData, match="is a device or a pipe, which may have no end"):
            read(path)


def test_a_number_of_many_digits_on_the_command_line_is_refused(tmp_path):
    ma.write(pa.table({"x": [1, 2, 3, 4]}), tmp_path / "in.csv")
    said = complaint("mask", tmp_path / "in.csv", "--quasi", "x", "--refine", "1" * 5000, "-o", tmp_path / "out")
    assert "refine" in said
