"""The recipe that a run leaves behind holds every choice, and gives the same bytes again."""

import json
import sys
import tomllib
from pathlib import Path

import pytest

import microagg as ma
from microagg.cli import main
from tests.cli import call, complaint, files_in
from tests.lengths import first_few

ROLES = """
[roles]
quasi = ["age", "wage", "income", "tax"]  # what the register has
identifiers = ["person"]
weight = "weight"
drop = ["education", "hours", "business", "capital", "pension", "contributions"]
"""


def refused(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["microagg", *words])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    return capsys.readouterr().err


CASES = {
    "defaults": ("", {"method": {"name": "mdav", "tail": "3k", "search": "brute"}, "blocks": {"by": "none"}}),
    "options": (
        "[method]\nname = 'vmdav'\ngamma = 1.1\n[masking]\nscale = 'range'\nrounding = 'auto'",
        {"method": {"name": "vmdav", "gamma": 1.1, "search": "brute"}},
    ),
    "ama": (
        "[method]\nname = 'ama'",
        {"method": {"name": "mdav", "tail": "2k", "search": "brute"}, "select": {"by": "ama", "measure": "vi"}},
    ),
    "ama of wider categories": (
        "[select]\nwidth = 2000\n[method]\nname = 'ama'",
        {
            "method": {"name": "mdav", "tail": "2k", "search": "brute"},
            "select": {"by": "ama", "measure": "vi", "width": 2000},
        },
    ),
    "emad": (
        "[select]\nwidth = [5, 1000.0, 1000.0, 500.0]",
        {"select": {"by": "emad", "measure": "emim", "count": 3, "width": [5, 1000.0, 1000.0, 500.0]}},
    ),
    "columns": ("[select]\ncolumns = ['tax', 'age']", {"select": {"columns": ["age", "tax"]}}),
    "blocks": ("[blocks]\nmax_block = 150", {"blocks": {"by": "median", "max_block": 150}}),
    "refined": ("[refine]\nseed = 3", {"refine": {"effort": "fast", "seed": 3}}),
    "judged": (
        "[risk]\nkeys = ['age', 'tax']\nsample = 100",
        {"risk": {"keys": ["age", "tax"], "sample": 100, "seed": 0}},
    ),
    "per column": (
        "[method]\nname = 'univariate'\n[masking]\nper_column = true",
        {"method": {"name": "univariate"}},
    ),
    "in order": (
        "[output]\nsame_order = true",
        {"output": {"same_order": True, "excel_safe": False, "public": False}},
    ),
}


@pytest.mark.usefixtures("survey")
@pytest.mark.parametrize("case", first_few(6, CASES))
def test_every_choice_is_written_and_gives_the_same_bytes(case):
    more, expected = CASES[case]
    strata = 'strata = ["region"]\n' if case != "blocks" else 'keep = ["region"]\n'
    Path("mine.toml").write_text(f"# Signed.\n\nk = 3 # agreed\n{ROLES}{strata}{more}\n")
    call("mask", "survey.csv", "--recipe", "mine.toml", "-o", "one", "--quiet")
    text = Path("one/internal/recipe.toml").read_text()
    written = tomllib.loads(text)
    assert written["k"] == 3
    masking = {"scale": "standard", "aggregate": "mean", "rounding": "auto", "missing": "pattern", "per_column": False}
    masking |= {"nominal": "mode", "spike": 4.0, "spike_totals": "safe", "moments": "none", "moments_clip": False}
    assert written["masking"] == masking | tomllib.loads(more).get("masking", {})
    assert written["read"] == {"delimiter": ",", "encoding": "utf-8", "decimal": ".", "thousands": ""}
    for table, keys in expected.items():
        assert written[table] == keys
    assert "risk" in written
    for remark in ("# Signed.\n", "k = 3  # agreed\n", "# what the register has\n", "# the decimal mark of"):
        assert text.count(remark) == 1
    call("mask", "survey.csv", "--recipe", "one/internal/recipe.toml", "-o", "two", "--quiet")
    for name in files_in("one"):
        assert (Path("one") / name).read_bytes() == (Path("two") / name).read_bytes(), name


def test_what_was_found_in_a_text_file_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i};1.{i:03},5;caf\xe9\r\n" for i in range(40))
    Path("d.csv").write_bytes(f"a;b;place\r\n{rows}".encode("cp1252"))
    Path("r.toml").write_text('k = 3\nroles = {quasi = ["a", "b"], keep = ["place"]}\n')
    call("mask", "d.csv", "--recipe", "r.toml", "-o", "one")
    read = tomllib.loads(Path("one/internal/recipe.toml").read_text())["read"]
    assert read == {"delimiter": ";", "encoding": "cp1252", "decimal": ",", "thousands": "."}
    call("mask", "d.csv", "--recipe", "one/internal/recipe.toml", "-o", "two")
    for name in {*files_in("one")} - {"internal/report.html"}:  # which tells what was found, and what was said
        assert (Path("one") / name).read_bytes() == (Path("two") / name).read_bytes()


def test_a_recipe_goes_from_memory_to_disk_and_back(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i};1.{i:03},5;caf\xe9\r\n" for i in range(60))
    Path("d.csv").write_bytes(f"a;b;place\r\n{rows}".encode("cp1252"))
    roles = 'k = 3\nroles = {quasi = ["a", "b"], keep = ["place"]}\n'
    Path("r.toml").write_text(f"{roles}blocks = {{max_block = 20}}\n")
    beyond = ("--engine", "disk", "--same-order")
    call("mask", "d.csv", "--recipe", "r.toml", "-o", "memory", "--same-order")
    call("mask", "d.csv", "--recipe", "memory/internal/recipe.toml", "-o", "disk", "--engine", "disk")
    assert "that is not used" not in call("mask", "d.csv", "--recipe", "r.toml", "-o", "own", *beyond).stderr
    for one in ("disk", "own"):
        read = tomllib.loads(Path(one, "internal/recipe.toml").read_text())["read"]
        assert read == {"delimiter": ";", "encoding": "cp1252", "decimal": ",", "thousands": "."}
        assert Path(one, "release/d_masked.csv").read_bytes() == Path("memory/release/d_masked.csv").read_bytes()
    assert Path("disk/internal/recipe.toml").read_text() == Path("memory/internal/recipe.toml").read_text()
    call("mask", "d.csv", "--recipe", "disk/internal/recipe.toml", "-o", "again")
    for name in {*files_in("again")} - {"internal/report.html"}:
        assert Path("again", name).read_bytes() == Path("memory", name).read_bytes()
    Path("r.toml").write_text(f"{roles}blocks = {{by = 'none'}}\n")
    said = refused(monkeypatch, capsys, *"mask d.csv --recipe r.toml -o new --engine disk --same-order".split())
    assert "r.toml, line 3: in [blocks], blocks='none' cannot be combined with files larger than memory" in said
    assert "in a way that has a name: median, orthants, univariate. Choose --blocks median, or leave it out" in said


@pytest.mark.usefixtures("survey")
def test_reasons_of_guessed_roles_go_from_recipe_to_recipe():
    call("inspect", "survey.csv", "-k", 4)
    call("mask", "survey.csv", "--recipe", "recipe.toml", "-k", 3)
    given, written = Path("recipe.toml").read_text(), Path("out/internal/recipe.toml").read_text()
    reasons = [line for line in given.splitlines() if line.startswith('    "')]
    assert len(reasons) == 13
    assert all("# " in line and line in written for line in reasons)
    assert "\nk = 3  # " in written
    call("mask", "survey.csv", "-k", 3, "--yes", "-o", "guessed")
    assert Path("guessed/internal/recipe.toml").read_text() == written


def test_a_table_without_roles_says_which_columns_were_masked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    import pyarrow.parquet as pq

    pq.write_table(ma.datasets.survey(100).select(["age", "wage"]), "t.parquet")
    Path("r.toml").write_text("k = 3")
    call("mask", "t.parquet", "--recipe", "r.toml")
    written = tomllib.loads(Path("out/internal/recipe.toml").read_text())
    assert written["roles"] == {"quasi": ["age", "wage"]}
    assert "read" not in written


@pytest.mark.usefixtures("survey")
@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ('"tax"]', '"tacks"]', 4, "column 'tacks' in quasi is not in the file."),
        ('"wage"', '"wagge"', 4, "Did you mean 'wage'?"),
        ("k = 3", "k = 1", 1, "k=1"),
        ("# more", "[method]\ntail = '4k'", 10, "Pass one of '3k', '2k'"),
        ("# more", "[blocks]\nmax_block = 5", 10, "max_block=5 must be a whole number, at least 6"),
        ("# more", "[read]\nencoding = 'utf-99'", 10, "encoding='utf-99'"),
        ("# more", "[select]\nby = 'ama'\ncount = 3", 11, "count works only with"),
    ],
)
def test_a_wrong_value_is_named_with_its_line(monkeypatch, capsys, old, new, line, words):
    text = f"k = 3\n{ROLES}keep = ['region']\n# more\n".replace(old, new)
    Path("mine.toml").write_text(text)
    said = refused(monkeypatch, capsys, "mask", "survey.csv", "--recipe", "mine.toml")
    assert f"mine.toml, line {line}: " in said
    assert words in said
    assert not Path("out").exists()


@pytest.mark.usefixtures("survey")
@pytest.mark.parametrize(
    ("more", "words", "table", "expected"),
    [
        ("[method]\nname = 'vmdav'", ["--gamma", "1.1"], "method", {"name": "vmdav", "gamma": 1.1, "search": "brute"}),
        ("[select]\nby = 'emad'", ["--count", "2"], "select", {"by": "emad", "count": 2, "measure": "emim"}),
        ("[blocks]\nby = 'orthants'", ["--max-block", "8"], "blocks", {"by": "orthants", "max_block": 8}),
        ("[refine]\neffort = 'fast'", ["--seed", "4"], "refine", {"effort": "fast", "seed": 4}),
    ],
)
def test_what_the_command_line_adds_goes_with_what_the_recipe_says(more, words, table, expected):
    Path("mine.toml").write_text(f"k = 3\n{ROLES}keep = ['region']\n{more}\n")
    call("mask", "survey.csv", "--recipe", "mine.toml", *words)
    assert tomllib.loads(Path("out/internal/recipe.toml").read_text())[table] == expected


@pytest.mark.usefixtures("survey")
def test_the_command_line_is_not_blamed_on_the_recipe(monkeypatch, capsys):
    Path("mine.toml").write_text(f"k = 3\n{ROLES}keep = ['region']\n[read]\nencoding = 'utf-8'\n")
    said = refused(monkeypatch, capsys, "mask", "survey.csv", "--recipe", "mine.toml", "--encoding", "utf-99")
    assert "encoding='utf-99'" in said
    assert "mine.toml" not in said
    for words in (["mask", "survey.csv", "--method", "mdva"], ["compare", "survey.csv", "--methods", "cbfs,mdva"]):
        assert "Did you mean 'mdav'?" in refused(monkeypatch, capsys, *words)


@pytest.mark.usefixtures("survey")
def test_digits_name_a_column_where_any_word_will_do():
    table = ma.datasets.survey(60, seed=0).select(["age", "wage", "tax"])
    ma.write(table.rename_columns(["2019", "2020", "1"]), "years.csv")
    for axis in ("2020", "1"):
        call("mask", "years.csv", "--header", "-k", "3", "--yes", "--quasi", "2019,2020,1", "--method", "projection",
             "--axis", axis, "--refine", "50", "--force")  # fmt: skip
        left = tomllib.loads(Path("out/internal/recipe.toml").read_text())
        assert left["method"] == {"name": "projection", "axis": axis}
        assert left["refine"]["effort"] == 50


@pytest.mark.usefixtures("survey")
def test_cuts_and_joined_categories_are_options_too():
    places = sorted(set(ma.read("survey.csv").table["region"].to_pylist()))
    rules = f"age=cuts:0/30/60|as:label,region=join:rest={places[0]}/{places[1]}"
    call(
        "mask",
        "survey.csv",
        "--quasi",
        "age,wage",
        "--strata",
        "region",
        "--rest",
        "drop",
        "--recode",
        rules,
        "-k",
        3,
        "-o",
        "one",
    )
    written = tomllib.loads(Path("one/internal/recipe.toml").read_text())["recode"]
    assert written == {
        "age": {"cuts": [0, 30, 60], "as": "label"},
        "region": {"join": {"rest": [places[0], places[1]]}},
    }
    table = ma.read("one/release/survey_masked.csv").table
    assert set(table["age"].to_pylist()) <= {"0-29", "30-59", "60 or more"}
    assert "rest" in table["region"].to_pylist()


def test_a_unit_that_is_named_stands_in_the_recipe_and_a_mistyped_one_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call("datasets", "make", "households", "-n", 300, "-o", "people.csv")
    result = call("inspect", "people.csv", "--unit", "household", "--weight", "weight", "--json")
    roles = {one["name"]: one["role"] for one in json.loads(result.stdout)["columns"]}
    assert (roles["household"], roles["weight"]) == ("unit", "weight")
    assert 'unit = "household"\n' in Path("recipe.toml").read_text()
    assert "units" in call("mask", "people.csv", "--recipe", "recipe.toml", "-o", "out", "--weight-cap").stdout
    said = complaint("inspect", "people.csv", "--unit", "houshold", "--force")
    assert said == "RoleError: column 'houshold' in unit is not in the file. Did you mean 'household'?"


def test_what_a_recipe_counts_is_called_internal_and_is_in_no_public_report(survey):
    """Beside what was guessed stands why, with counts of the original."""
    call("inspect", survey.name, "-o", "recipe.toml")
    former = Path("recipe.toml").read_text()
    first = former.partition("\n")[0]
    Path("recipe.toml").write_text(former.replace(first, first.replace("hold counts,", "name")))  # as it was before
    call("mask", survey.name, "--recipe", "recipe.toml", "-o", "out", "--public")
    for path in (Path("recipe.toml"), Path("out/internal/recipe.toml")):
        counted = [line for line in path.read_text().splitlines() if " different values" in line]
        assert counted
        page = Path("out/release/report_public.html").read_text()
        assert not [line for line in counted if line.partition("# ")[2] in page]
    title = [line for line in Path("out/internal/recipe.toml").read_text().splitlines() if "nternal" in line]
    assert title == [first]
    assert first.startswith("# Internal: this may hold counts")
