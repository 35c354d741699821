"""Each command does its job, says so in the form asked, and leaves nothing half done."""

import json
import random
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import microagg as ma
from microagg.cli import app, main
from microagg.files.sources import read_source
from tests.cli import call, complaint, files_in

QUASI = ["age", "education", "hours", "wage", "business", "capital", "pension", "income", "tax", "contributions"]


def names_in(folder):
    return sorted(path.name for path in Path(folder).iterdir())


INTERNAL = ["internal/recipe.toml", "internal/report.html", "internal/rows.parquet"]


def text_of(path):
    options = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(header(path), pa.string()))
    return pyarrow.csv.read_csv(path, convert_options=options)


def header(path):
    return Path(path).read_text().splitlines()[0].replace('"', "").split(",")


@pytest.mark.usefixtures("survey")
def test_from_a_raw_file_to_a_report():
    result = call("inspect", "survey.csv", "-k", 4)
    assert "identifiers" in result.stdout
    assert "are unique: no other has the same values" in result.stdout
    recipe = Path("recipe.toml").read_text()
    assert '"person",' in recipe
    assert "numbers the records" in recipe or "by its name" in recipe
    drop = recipe[recipe.index("drop = [") : recipe.index("]\n", recipe.index("drop = ["))] + "]\n"
    assert '"weight",  # by its name it may be a sampling weight or a body weight' in drop
    recipe = recipe.replace(drop, 'weight = "weight"\n').replace('name = "mdav"', 'name = "iamat"')
    Path("recipe.toml").write_text(recipe)
    result = call("mask", "survey.csv", "--recipe", "recipe.toml", "-o", "out", "--public", "--same-order")
    assert "k=4 asked, 4 reached" in result.stdout
    released = ["recipe.toml", "report_public.html", "survey_masked.csv"]
    assert files_in("out") == [*INTERNAL, *(f"release/{name}" for name in released)]
    before, after = text_of("survey.csv"), text_of("out/release/survey_masked.csv")
    assert after.column_names == [name for name in before.column_names if name != "person"]
    for name in ("region", "weight"):
        assert after[name].equals(before[name])
    rows = Counter(zip(*(after[name].to_pylist() for name in [*QUASI, "region"]), strict=True))
    assert min(rows.values()) >= 4
    expected = ma.protect(ma.read("survey.csv"), recipe=ma.Recipe.read("recipe.toml")).data
    for name in QUASI:
        assert after[name].cast(pa.float64()).equals(expected[name].cast(pa.float64()))


@pytest.mark.usefixtures("survey")
def test_the_same_recipe_and_file_give_the_same_bytes():
    call("mask", "survey.csv", "-k", 3, "-o", "one", "--yes")
    call("mask", "survey.csv", "--recipe", "one/internal/recipe.toml", "-o", "two")
    assert files_in("one") == files_in("two") == [*INTERNAL, "release/recipe.toml", "release/survey_masked.csv"]
    for name in files_in("one"):
        assert (Path("one") / name).read_bytes() == (Path("two") / name).read_bytes()
    ordered = text_of("one/release/survey_masked.csv")
    call("mask", "survey.csv", "-k", 3, "-o", "three", "--yes", "--same-order")
    as_it_was = text_of("three/release/survey_masked.csv")
    assert "in the original order" in Path("three/internal/report.html").read_text()
    assert "in the original order" not in Path("one/internal/report.html").read_text()
    assert not ordered.equals(as_it_was)
    keys = [tuple(row.values()) for row in ordered.to_pylist()]
    assert Counter(keys) == Counter(tuple(row.values()) for row in as_it_was.to_pylist())
    regions = ordered["region"].to_pylist()
    assert regions == sorted(regions)


@pytest.mark.usefixtures("survey")
def test_json_is_all_that_standard_output_holds():
    found = json.loads(call("inspect", "survey.csv", "--json").stdout)
    assert found["records"] == 600
    assert {column["name"]: column["role"] for column in found["columns"]}["person"] == "identifiers"
    masked = json.loads(call("mask", "survey.csv", "-k", 3, "--yes", "--json").stdout)
    assert masked["k_reached"] == 3
    assert len(masked["sha256"]) == 64
    judged = json.loads(
        call("assess", "survey.csv", "out/release/survey_masked.csv", "--json", "--columns", "age,income").stdout
    )
    assert judged["columns"] == ["age", "income"]
    assert judged["information_loss_percent"] > 0
    compared = json.loads(
        call("compare", "survey.csv", "-k", "3,5", "--methods", "mdav,cbfs", "--yes", "--json", "-o", "map.svg").stdout
    )
    assert [(one["method"], one["k"]) for one in compared["candidates"]] == [
        ("mdav", 3),
        ("mdav", 5),
        ("cbfs", 3),
        ("cbfs", 5),
    ]
    tree = json.loads(call("tree", "survey.csv", "--json", "-o", "tree.png").stdout)
    assert len(tree["edges"]) == 9
    assert len(tree["chosen"]) == 3
    made = json.loads(call("datasets", "make", "normal", "-n", 9, "-d", 2, "-o", "n.csv", "--json").stdout)
    assert made == {"name": "normal", "written": "n.csv", "records": 9, "columns": ["v1", "v2"]}
    people = json.loads(call("datasets", "make", "households", "-n", 50, "-o", "h.parquet", "--json").stdout)
    assert (people["records"], len(people["columns"])) == (50, 19)
    assert pq.read_table("h.parquet").to_pydict() == ma.datasets.households(50, seed=0).to_pydict()
    listed = json.loads(call("datasets", "list", "--json").stdout)
    assert "census" in listed["fetch"]
    assert listed["make"] == ["survey", "households", "panel", "uniform", "normal"]
    assert names_in(".") == ["h.parquet", "map.svg", "n.csv", "out", "recipe.toml", "survey.csv", "tree.png"]


@pytest.mark.usefixtures("survey")
def test_quiet_says_nothing():
    make = ["datasets", "make", "-o", "made.csv"]
    for words in (["inspect", "survey.csv"], ["mask", "survey.csv", "-k", "3", "--yes"], ["tree", "survey.csv"], make):
        result = call(*words, "--quiet")
        assert result.output == ""


@pytest.mark.usefixtures("survey")
def test_people_see_tables():
    call("mask", "survey.csv", "-k", 3, "--yes")
    assert "scoring index" in call("assess", "survey.csv", "out/release/survey_masked.csv").stdout
    said = call("compare", "survey.csv", "-k", "3,3", "--methods", "mdav", "--yes").stdout
    assert "The lowest score" in said
    assert len([line for line in said.splitlines() if line.startswith("mdav ")]) == 1
    assert "would represent all 10 columns" in call("tree", "survey.csv").stdout
    assert "census" in call("datasets", "list").stdout


@pytest.mark.usefixtures("survey")
@pytest.mark.parametrize("kind", ["parquet", "feather", "csv.gz", "tsv", "sav", "dta"])
def test_other_kinds_of_files(kind):
    call("datasets", "make", "survey", "-n", 300, "-o", f"s.{kind}")
    call("mask", f"s.{kind}", "-k", 3, "-o", "out", "--yes", "--quiet")
    assert f"release/s_masked.{kind}" in files_in("out")
    judged = json.loads(call("assess", f"s.{kind}", f"out/release/s_masked.{kind}", "--json").stdout)
    assert 5 < judged["information_loss_percent"] < 40


@pytest.mark.parametrize("suffix", ["sav", "dta"])
def test_labels_survive_rows_left_out_and_sorted(tmp_path, monkeypatch, suffix):
    pyreadstat = pytest.importorskip("pyreadstat")
    polars = pytest.importorskip("polars")
    monkeypatch.chdir(tmp_path)
    ages = [None, *(20.0 + i % 50 for i in range(60))]
    write = pyreadstat.write_sav if suffix == "sav" else pyreadstat.write_dta
    write(
        polars.DataFrame({"sex": [1 + i % 2 for i in range(61)], "age": ages}),
        f"p.{suffix}",
        column_labels={"sex": "Sex of person", "age": "Age in years"},
        variable_value_labels={"sex": {1: "male", 2: "female"}, "age": {20: "twenty"}},
    )
    Path("r.toml").write_text('k = 3\n[roles]\nquasi = ["age"]\nkeep = ["sex"]\n[masking]\nmissing = "drop"\n')
    call("mask", f"p.{suffix}", "--recipe", "r.toml", "-o", "out")
    read = read_source(f"out/release/p_masked.{suffix}")
    assert read.table.num_rows == 60
    assert read.labels.columns == {"sex": "Sex of person", "age": "Age in years"}
    assert read.labels.values == {"sex": {1: "male", 2: "female"}}


@pytest.mark.usefixtures("survey")
def test_another_target():
    call("mask", "survey.csv", "-k", 3, "--yes", "--to", "masked.parquet")
    assert files_in("out") == [*INTERNAL, "release/recipe.toml"]
    assert pq.read_table("masked.parquet").num_rows == 600
    call("mask", "survey.csv", "-k", 3, "--yes", "--to", "duckdb:///made.db?table=masked", "-o", "again")
    by = ("--recipe", "again/internal/recipe.toml", "--json")  # beside which the order of rows is told
    judged = json.loads(call("assess", "survey.csv", "duckdb:///made.db?table=masked", *by).stdout)
    assert judged["information_loss_percent"] > 0


@pytest.mark.usefixtures("survey")
def test_json_names_everything_that_was_written():
    found = json.loads(call("mask", "survey.csv", "-k", 3, "--yes", "--json", "--public").stdout)
    names = ("masked", "report", "recipe", "public_report", "public_recipe", "rows")
    assert sorted(found[name] for name in names) == [f"out/{name}" for name in files_in("out")]
    address = "duckdb:///made.db?table=masked"
    found = json.loads(call("mask", "survey.csv", "-k", 3, "--yes", "--json", "--to", address, "-o", "b").stdout)
    assert found["masked"] == address
    assert found["public_report"] is None


def test_an_infinite_weight_is_no_number_of_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("same.csv").write_text("a,b\n" + "".join(f"{i}.5,{2 * i}.0\n" for i in range(30)))
    Path("r.toml").write_text("k = 3")
    text = call("tree", "same.csv", "--recipe", "r.toml", "--measure", "normal", "--json").stdout
    assert "Infinity" not in text
    assert json.loads(text)["edges"] == [{"first": "a", "second": "b", "weight": None}]


def test_names_that_a_shell_would_cut_are_quoted_in_hints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a folder").mkdir()
    call("datasets", "make", "-n", 50, "-o", "a folder/it's.csv")
    said = call("inspect", "a folder/it's.csv", "-o", "a folder/r.toml").stdout
    command = said[said.index("microagg mask") :].strip()
    assert shlex.split(command) == ["microagg", "mask", "a folder/it's.csv", "--recipe", "a folder/r.toml", "-o", "out"]
    call(*shlex.split(command)[1:])


def test_text_files_are_read_as_told_by_every_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{i};1,{i:03};{i * i % 7},25\n" for i in range(60))
    Path("d.csv").write_text(f"a;b;c\n{rows}")
    how = ["--delimiter", ";", "--decimal", ",", "--thousands", "", "--encoding", "utf-8"]
    Path("r.toml").write_text("k = 3")
    by = ["--recipe", "r.toml", "--json", *how]
    assert len(json.loads(call("tree", "d.csv", *by).stdout)["edges"]) == 2
    found = json.loads(call("compare", "d.csv", "-k", 3, "--methods", "mdav", *by).stdout)
    assert found["candidates"][0]["groups"] == 20
    wrong = CliRunner().invoke(app, ["compare", "d.csv", "--recipe", "r.toml", "--delimiter", ","])
    assert wrong.exit_code != 0


@pytest.mark.usefixtures("survey")
def test_compare_obeys_the_recipe_or_says_what_it_does_not_use():
    roles = "k = 3\n[roles]\nquasi = ['age', 'wage', 'tax']\n"
    others = [name for name in header("survey.csv") if name not in ("age", "wage", "tax")]
    roles += f"drop = {json.dumps(others)}\n"
    Path("r.toml").write_text(
        f"{roles}[method]\nname = 'vmdav'\ngamma = 5.0\n[risk]\nkeys = ['age']\nsample = 200\nseed = 4\n"
    )
    words = ["compare", "survey.csv", "-k", "3", "--recipe", "r.toml", "--json", "--methods"]
    result = call(*words, "mdav,vmdav")
    found = json.loads(result.stdout)
    table = pyarrow.csv.read_csv("survey.csv").select(["age", "wage", "tax"])
    for one, options in zip(found["candidates"], ({"method": "mdav"}, {"method": "vmdav", "gamma": 5.0}), strict=True):
        release = ma.protect(table, 3, **options)
        assert one["groups"] == release.n_groups
        assert one["rld"] == release.risk_for(["age"], 200, 4).rld
    assert found["sampled"] == 200
    assert found["candidates"][1]["groups"] != ma.protect(table, 3, method="vmdav").n_groups
    assert "that is not used" not in result.stderr
    result = call(*words, "mdav", "--keys", "age,tax", "--sample", "100")
    assert "the method vmdav and its gamma" in result.stderr
    release = ma.protect(table, 3)
    assert json.loads(result.stdout)["candidates"][0]["rld"] == release.risk_for(["age", "tax"], 100, 4).rld


@pytest.mark.campaign
@pytest.mark.usefixtures("survey")
def test_beyond_memory():
    call("datasets", "make", "survey", "-n", 3000, "-o", "big.parquet")
    call("inspect", "big.parquet", "-k", 3)
    recipe = Path("recipe.toml").read_text()
    large = ("mask", "big.parquet", "--recipe", "recipe.toml", "--same-order", "--engine")
    found = json.loads(call(*large, "disk", "-o", "b", "--json").stdout)
    assert found["k_reached"] == 3
    assert (found["masked"], found["recipe"]) == ("b/release/big_masked.parquet", "b/internal/recipe.toml")
    Path("recipe.toml").write_text(recipe.replace("[blocks]\n", "[blocks]\nmax_block = 500\n"))
    call(*large, "disk", "-o", "c", "--to", "c.parquet")
    call(*large, "dask", "-o", "d")
    assert pq.read_table("c.parquet").equals(pq.read_table("d/release/big_masked.parquet"))
    left = ["internal/recipe.toml", "internal/report.html", "internal/rows.parquet", "release/recipe.toml"]
    assert files_in("b") == sorted([*left, "release/big_masked.parquet"])
    assert files_in("d") == sorted([*left, "release/big_masked.parquet/part-00000.parquet"])
    assert files_in("c") == left
    assert "max_block = 500 " in Path("d/internal/recipe.toml").read_text()
    assert 'search = "brute" ' in Path("d/internal/recipe.toml").read_text()
    assert Path("c/internal/recipe.toml").read_text() == Path("d/internal/recipe.toml").read_text()
    call("mask", "big.parquet", "--recipe", "d/internal/recipe.toml", "--engine", "dask", "-o", "d", "--force")
    assert pq.read_table("c.parquet").equals(pq.read_table("d/release/big_masked.parquet"))
    for engine in ("disk", "dask"):
        call("mask", "survey.csv", "--recipe", "recipe.toml", "--same-order", "--engine", engine, "-o", engine)
    text = [Path(engine, "release", "survey_masked.csv").read_bytes() for engine in ("disk", "dask")]
    assert text[0] == text[1]
    assert names_in(".") == ["b", "big.parquet", "c", "c.parquet", "d", "dask", "disk", "recipe.toml", "survey.csv"]


def test_text_beyond_memory_is_as_in_memory(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"0{i}|{i % 9},5|{i * i % 17}\n" for i in range(60))
    Path("f.txt").write_text(f"code|a|b\n{rows}")
    Path("r.toml").write_text(
        'k = 3\n[roles]\nquasi = ["a", "b"]\nkeep = ["code"]\n[blocks]\nby = "median"\nmax_block = 20\n'
    )
    same = ("--recipe", "r.toml", "--same-order")
    call("mask", "f.txt", *same, "-o", "memory")
    said = call("mask", "f.txt", *same, "-o", "disk", "--engine", "disk", "--delimiter", "|").stdout
    assert "delimiter '|'" in said
    assert Path("disk/release/f_masked.txt").read_bytes() == Path("memory/release/f_masked.txt").read_bytes()
    assert 'delimiter = "|"' in Path("disk/internal/recipe.toml").read_text()
    call("mask", "f.txt", "--recipe", "disk/internal/recipe.toml", "-o", "again", "--engine", "disk")
    assert Path("again/release/f_masked.txt").read_bytes() == Path("disk/release/f_masked.txt").read_bytes()
    monkeypatch.setattr(
        sys, "argv", ["microagg", "mask", "duckdb://me:pw@h?table=t", "--recipe", "r.toml", "--engine", "disk"]
    )
    with pytest.raises(SystemExit):
        main()
    assert "--engine disk works on files, not on tables of databases" in capsys.readouterr().err
    for words, expected in (
        (["--to", "duckdb:///a.db?table=t"], "--engine disk works on files, not on tables of databases"),
        (["--excel-safe"], "--excel-safe cannot be combined with files larger than memory"),
        (["--decimal", ";"], "decimal=';' is not a decimal mark"),
        (["-o", "disk"], "the output 'disk' exists"),
    ):
        monkeypatch.setattr(sys, "argv", ["microagg", "mask", "f.txt", *same, "-o", "new", "--engine", "disk", *words])
        with pytest.raises(SystemExit) as caught:
            main()
        assert caught.value.code == 2
        assert expected in capsys.readouterr().err
    assert names_in(".") == ["again", "disk", "f.txt", "memory", "r.toml"]


def test_formulas_are_defused_where_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{i},{i * i % 17},=cmd()" for i in range(30))
    Path("f.csv").write_text(f"a,b,note\n{rows}\n")
    Path("r.toml").write_text('k = 3\n[roles]\nquasi = ["a", "b"]\nkeep = ["note"]\n')
    call("mask", "f.csv", "--recipe", "r.toml", "-o", "plain")
    call("mask", "f.csv", "--recipe", "r.toml", "-o", "safe", "--excel-safe", "--public")
    assert text_of("plain/release/f_masked.csv")["note"].to_pylist() == ["=cmd()"] * 30
    assert text_of("safe/release/f_masked.csv")["note"].to_pylist() == ["'=cmd()"] * 30
    assert (
        "that is not used" not in call("mask", "f.csv", "--recipe", "safe/internal/recipe.toml", "-o", "again").stderr
    )
    result = call("mask", "f.csv", "--recipe", "safe/internal/recipe.toml", "-o", "other", "--to", "f.parquet")
    assert "Part of the recipe that is not used: excel_safe" in result.stderr
    said = "A spreadsheet could read some texts and names of columns as formulas. An apostrophe was put before them."
    changed = {"plain/internal/report": False, "safe/internal/report": True, "other/internal/report": False}
    changed["safe/release/report_public"] = True
    for report, is_changed in changed.items():
        assert (said in Path(f"{report}.html").read_text("utf-8")) == is_changed, report


@pytest.mark.usefixtures("survey")
def test_an_output_is_replaced_only_when_asked(monkeypatch, capsys):
    call("mask", "survey.csv", "-k", 3, "--yes")
    before = {name: (Path("out") / name).read_bytes() for name in files_in("out")}
    monkeypatch.setattr(sys, "argv", ["microagg", "mask", "survey.csv", "-k", "5", "--yes"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    assert "--force" in capsys.readouterr().err
    assert before == {name: (Path("out") / name).read_bytes() for name in files_in("out")}
    call("mask", "survey.csv", "-k", 5, "--yes", "--force")
    assert files_in("out") == sorted(before)
    assert before != {name: (Path("out") / name).read_bytes() for name in files_in("out")}
    (Path("out") / "thesis.docx").write_text("!")
    with pytest.raises(SystemExit):
        main()
    assert (Path("out") / "thesis.docx").exists()


@pytest.mark.campaign
@pytest.mark.usefixtures("survey")
def test_killed_at_any_moment_leaves_all_or_nothing():
    """Ten moments over the run's own length; what is left is whole, or is not there."""
    command = [Path(sys.executable).parent / "microagg", "mask", "survey.csv", "-k", "3", "--yes", "--quiet", "-o"]
    began = time.monotonic()
    subprocess.run([*command, "whole"], check=True)
    length = time.monotonic() - began
    whole = {name: (Path("whole") / name).read_bytes() for name in files_in("whole")}
    moments = random.Random(0)
    for number in range(10):
        process = subprocess.Popen([*command, f"out{number}"])
        time.sleep(moments.uniform(0.3, 1.1) * length)
        process.send_signal(signal.SIGKILL if number % 2 else signal.SIGTERM)
        process.wait(timeout=30)
        folder = Path(f"out{number}")
        if folder.exists():
            assert {name: (folder / name).read_bytes() for name in files_in(folder)} == whole
    call("mask", "survey.csv", "-k", 3, "--yes", "-o", "last")
    assert not [name for name in names_in(".") if name.startswith(".microagg-")]


def test_refining_is_asked_for_on_the_command_line_and_recorded(survey):
    plain = json.loads(call("mask", survey, "--yes", "-o", "plain", "--json").stdout)
    refined = json.loads(call("mask", survey, "--yes", "-o", "refined", "--json", "--refine", "fast").stdout)
    assert refined["information_loss_percent"] < plain["information_loss_percent"]
    again = json.loads(call("mask", survey, "--recipe", "refined/internal/recipe.toml", "-o", "again", "--json").stdout)
    assert Path(again["masked"]).read_bytes() == Path(refined["masked"]).read_bytes()
    wrong = CliRunner().invoke(app, ["mask", str(survey), "--yes", "-o", "wrong", "--refine", "fats"])
    assert "Did you mean 'fast'" in str(wrong.exception)
    assert not Path("wrong").exists()


@pytest.mark.usefixtures("survey")
def test_the_command_line_ranks():
    chosen = ["--methods", "mdav", "-k", "3,5", "--quasi", "age,income", "--rest", "drop"]
    Path("a.toml").write_text("[[analysis]]\nname = 'Poverty'\nkind = 'poverty'\ncolumns = 'income'\n")
    ranked = ["--analyses", "a.toml", "--rank", "Poverty", "--map-axis", "M5", "--least-k", 5]
    told = json.loads(call("compare", "survey.csv", *chosen, *ranked, "--json").stdout)
    assert told["best"] == {"method": "mdav", "k": 5}
    assert [told[name] for name in ("rank", "axis", "least_k", "below_least_k")] == ["Poverty", "M5", 5, 1]
    assert told["candidates"][1]["figures"]["Poverty"] >= 0
    said = complaint("compare", "survey.csv", *chosen, "--least-k", 9)
    assert "--least-k 5" in said
    Path("r.toml").write_text("k = 20\n[roles]\nquasi = ['age', 'income']\nrest = 'drop'\n")
    said = call("compare", "survey.csv", "--recipe", "r.toml", "--methods", "mdav", "-k", "3").stdout
    assert "k = 20, which is above every k that is compared" in said
