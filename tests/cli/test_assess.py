"""`microagg assess` judges what the recipe says, and never by rows that do not belong together without saying so."""

import json
import shlex
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import microagg as ma
from microagg.cli import app
from microagg.cli._options import as_option
from microagg.errors import InvalidData, InvalidParameter, RoleError
from microagg.jobs import told

RECIPE = """k = 4
[roles]
quasi = ["age", "wage", "income"]
strata = ["region"]
weight = "weight"
drop = ["person", "education", "hours", "business", "capital", "pension", "tax", "contributions"]
"""


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def judged(*words):
    result = run("assess", *words, "--json")
    assert result.exit_code == 0, f"{result.stderr}{result.exception!r}"
    return json.loads(result.stdout)


def refused(*words):
    error = run("assess", *words).exception
    assert isinstance(error, (InvalidData, InvalidParameter, RoleError)), repr(error)
    return told(error, as_option).text


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Give a folder with a survey, a recipe, and the survey masked by it."""
    monkeypatch.chdir(tmp_path)
    survey = ma.datasets.survey(400, seed=0)
    pyarrow.csv.write_csv(survey, "survey.csv")
    Path("recipe.toml").write_text(RECIPE)
    assert run("mask", "survey.csv", "--recipe", "recipe.toml", "-q").exit_code == 0
    return survey


MASKED = "out/release/survey_masked.csv"


@pytest.mark.usefixtures("files")
def test_weights_that_are_released_by_group_are_no_sign_of_another_file():
    by_group = RECIPE + '[weights]\nrelease = "group"\n'
    Path("recipe.toml").write_text(by_group)
    assert run("mask", "survey.csv", "--recipe", "recipe.toml", "-q", "--force").exit_code == 0
    assert judged("survey.csv", MASKED, "--recipe", "recipe.toml")["warnings"] == []


def test_a_recipe_says_columns_strata_and_risk(files):
    release = ma.protect(files, 4, quasi=["age", "wage", "income"], strata=["region"], weight="weight", rest="drop")
    found = judged("survey.csv", MASKED, "--recipe", "recipe.toml")
    assert found["columns"] == found["keys"] == ["age", "wage", "income"]
    assert found["strata"] == ["region"]
    assert found["record_linkage_percent"] == pytest.approx(release.risk.rld)
    assert found["record_linkage_all_keys_percent"] == pytest.approx(release.risk.full_keys)
    assert found["information_loss_percent"] == pytest.approx(release.information.percent)
    assert found["figures"]["IL_w"] == pytest.approx(release.weights.information.percent)
    assert found["expected_links"] == pytest.approx(release.risk.expected_links)
    alone = judged("survey.csv", MASKED)
    assert alone["strata"] == []
    assert alone["record_linkage_percent"] < found["record_linkage_percent"]
    named = judged("survey.csv", MASKED, "--strata", "region")
    assert named["record_linkage_percent"] == found["record_linkage_percent"]
    Path("recipe.toml").write_text(RECIPE + '[risk]\nkeys = ["wage", "age"]\nsample = 100\nseed = 5\n')
    restricted = judged("survey.csv", MASKED, "--recipe", "recipe.toml")
    assert restricted["keys"] == ["age", "wage"]
    assert (restricted["sampled"], restricted["seed"]) == (100, 5)
    assert restricted["record_linkage_percent"] == release.risk_for(["age", "wage"], sample=100, seed=5).rld
    said = run("assess", "survey.csv", MASKED, "--recipe", "recipe.toml").stdout
    assert "knows only age, wage (2 of 3 columns) and region" in said
    assert "estimated on 100 records drawn with seed 5; standard error" in said
    over = judged("survey.csv", MASKED, "--recipe", "recipe.toml", "--keys", "age", "--seed", 6, "--sample", 50)
    assert (over["keys"], over["sampled"], over["seed"]) == (["age"], 50, 6)


@pytest.mark.usefixtures("files")
def test_columns_that_were_not_masked_are_not_passed_over_in_silence():
    found = judged("survey.csv", MASKED)
    numbers, others = found["warnings"]
    assert "not judged: weight." in numbers
    assert "--columns age,wage,income,weight" in numbers
    assert "not numbers: region." in others
    assert "--strata region" in others
    assert "Warning: released unchanged" in run("assess", "survey.csv", MASKED).stdout
    whole = judged("survey.csv", MASKED, "--columns", "age,wage,income,weight", "--strata", "region")
    assert whole["warnings"] == []
    assert whole["record_linkage_percent"] > 5 * found["record_linkage_percent"]  # nearly everybody's weight is unique
    by_recipe = judged("survey.csv", MASKED, "--recipe", "recipe.toml")
    assert ["weight" in text for text in by_recipe["warnings"]] == [True]


@pytest.mark.usefixtures("files")
def test_rows_in_another_order_are_noticed():
    moved = shutil.copy(MASKED, "moved.csv")  # away from the folder that tells which row is which
    for words in ([], ["--strata", "region"], ["--columns", "age,wage"]):
        message = refused("survey.csv", moved, *words)
        assert "the rows of the masked file are in another order" in message
        assert "of 400 rows" in message
        assert "mask in the same order" in message
    assert "nothing shows which row is which" in refused("survey.csv", moved, "--recipe", "recipe.toml")
    found = judged("survey.csv", MASKED, "--recipe", "recipe.toml")
    assert judged("survey.csv", moved, "--recipe", "out/internal/recipe.toml") == found  # which lies in that folder
    lines = Path(moved).read_text().splitlines()
    header = lines[0].replace('"', "").split(",")
    kept = [header.index(name) for name in ("age", "wage", "income", "weight")]
    Path("numbers.csv").write_text("\n".join(",".join(line.split(",")[j] for j in kept) for line in lines))
    assert "'weight'" in refused("survey.csv", "numbers.csv")  # a number that was moved is no masked one


def test_names_that_a_shell_would_take_apart_are_quoted_in_warnings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = ma.datasets.survey(100, seed=0).select(["age", "wage", "weight"]).rename_columns(["age", "it's {a}", "w"])
    pq.write_table(table, "a.parquet")
    pq.write_table(ma.protect(table, 4, weight="w").data, "b.parquet")
    (warning,) = judged("a.parquet", "b.parquet")["warnings"]
    assert shlex.split(warning[warning.index("--columns") :]) == ["--columns", "age,it's {a},w"]


def test_a_sorted_file_of_masked_columns_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    survey = ma.datasets.survey(200, seed=0).select(["age", "wage"])
    pq.write_table(survey, "a.parquet")
    masked = ma.protect(survey, 4).data
    pq.write_table(masked.sort_by([("age", "ascending"), ("wage", "ascending")]), "b.parquet")
    (warning,) = judged("a.parquet", "b.parquet")["warnings"]
    assert "is sorted and the original is not" in warning
    pq.write_table(masked, "b.parquet")
    assert judged("a.parquet", "b.parquet")["warnings"] == []


def test_swapped_columns_are_judged_where_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    values = {"a": rng.normal(size=50), "b": rng.normal(size=50)}
    pq.write_table(pa.table(values), "a.parquet")
    pq.write_table(pa.table({name: rng.permutation(column) for name, column in values.items()}), "b.parquet")
    assert "--columns" in refused("a.parquet", "b.parquet")
    assert judged("a.parquet", "b.parquet", "--columns", "a,b")["information_loss_percent"] > 50


def test_files_that_do_not_fit(files):
    pyarrow.csv.write_csv(files.slice(0, 390), "short.csv")
    message = refused("survey.csv", "short.csv")
    assert "400 records and the masked one 390" in message
    assert "--recipe" in message
    assert "'salary' is not in the original file" in refused("survey.csv", MASKED, "--columns", "age,salary")
    assert "'person' is not in the masked file" in refused("survey.csv", MASKED, "--strata", "person")
    assert "stratum 'age' differs in" in refused("survey.csv", MASKED, "--strata", "age")
    assert "is a stratum and one of" in refused("survey.csv", MASKED, "--strata", "weight", "--columns", "age,weight")
    pq.write_table(files, "survey.parquet")
    assert "text files" in refused("survey.parquet", "survey.parquet", "--delimiter", ";")


def test_records_left_out_by_the_recipe_are_left_out_of_the_original(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 23},{(i * i) % 41},{'ab'[i % 2]}" for i in range(120)]
    rows[3], rows[50], rows[70] = ",5,a", "NA,7,b", "4,6,"
    Path("f.csv").write_text("x,y,s\n" + "\n".join(rows) + "\n")
    Path("r.toml").write_text('k = 3\n[roles]\nquasi = ["x", "y"]\nstrata = ["s"]\n[masking]\nmissing = "drop"\n')
    assert run("mask", "f.csv", "--recipe", "r.toml", "-q").exit_code == 0
    shutil.copy("out/release/f_masked.csv", "moved.csv")
    assert "120 records and the masked one 117" in refused("f.csv", "moved.csv")
    found = judged("f.csv", "out/release/f_masked.csv", "--recipe", "r.toml")
    table = pyarrow.csv.read_csv("f.csv", convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True))
    release = ma.protect(table, 3, quasi=["x", "y"], strata=["s"], missing="drop")
    assert release.n_dropped == 3
    assert found["information_loss_percent"] == pytest.approx(release.information.percent)
    assert found["record_linkage_percent"] == pytest.approx(release.risk.rld)


def test_a_loss_beyond_measure_is_no_number_in_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"a": np.ones(30), "b": np.arange(30.0)}), "a.parquet")
    pq.write_table(pa.table({"a": np.full(30, 2.0), "b": np.arange(30.0) // 3}), "b.parquet")
    text = run("assess", "a.parquet", "b.parquet", "--json").stdout
    found = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert found["information_loss_percent"] is None
    assert found["per_column_percent"]["a"] is None
    assert found["per_column_percent"]["b"] > 0


def test_how_text_files_are_written_can_be_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    original = "x|y\n" + "".join(f"{i},5|{i * i % 17},25\n" for i in range(40))
    Path("a.txt").write_text(original)
    table = pa.table({"x": [i + 0.5 for i in range(40)], "y": [i * i % 17 + 0.25 for i in range(40)]})
    pq.write_table(ma.protect(table, 4).data, "b.parquet")
    wanted = ma.protect(table, 4).information.percent
    dialect = ["--delimiter", "|", "--decimal", ",", "--thousands", "", "--encoding", "utf-8"]
    assert judged("a.txt", "b.parquet", *dialect)["information_loss_percent"] == pytest.approx(wanted)
    Path("r.toml").write_text('k = 4\n[roles]\nquasi = ["x", "y"]\n[read]\ndelimiter = "|"\ndecimal = ","\n')
    found = judged("a.txt", "b.parquet", "--recipe", "r.toml")
    assert found["information_loss_percent"] == pytest.approx(wanted)


def test_codes_for_missing_values_are_none_to_assess_either(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    age = np.random.default_rng(0).integers(18, 100, 300)
    age[:41] = 997
    ma.write(pa.table({"age": age, "wage": ma.datasets.survey(300, seed=0)["wage"]}), "a.csv")
    release = ma.protect(
        ma.read("a.csv"), 5, recode={"age": {"top": 85}}, missing_codes={"age": [997]}, same_order=True
    )
    ma.write(release, "b.csv")
    release.recipe.write("r.toml")
    assert judged("a.csv", "b.csv", "--recipe", "r.toml")["per_column_percent"] == release.information.per_column


def test_a_changed_column_that_cannot_be_judged_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    survey = ma.datasets.survey(200, seed=0).select(["age", "wage"])
    masked = ma.protect(survey, 4, quasi=["age"], keep=["wage"]).data
    texts = pa.array([f"about {wage}" for wage in masked["wage"].to_pylist()])
    ma.write(survey, "a.csv")
    ma.write(masked.set_column(masked.column_names.index("wage"), "wage", texts), "b.csv")
    found = judged("a.csv", "b.csv")
    assert found["columns"] == ["age"]
    (warning,) = found["warnings"]
    assert "changed and not judged: wage" in warning
    assert "Warning: changed and not judged: wage" in run("assess", "a.csv", "b.csv").stdout.replace("\n", " ")


def test_several_masked_files_are_judged_together(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    survey = ma.datasets.survey(300, seed=0).select(["person", "age", "income", "hours"])
    ma.write(survey, "survey.csv")
    masked = {k: ma.protect(survey, k=k, quasi=["age", "income", "hours"], keep=["person"]).data for k in (3, 4, 5)}
    for k, file in masked.items():
        ma.write(file, f"k{k}.csv")
    names = [f"k{k}.csv" for k in masked]
    found = judged("survey.csv", *names)
    own = ma.joint_disclosure(survey, list(masked.values()))
    assert (found["releases"], found["solved"], found["singled_out"]) == (3, own.solved, own.singled_out)
    assert found["figures"]["solved"] == pytest.approx(100 * own.solved / 300)
    assert 0 < own.solved < 300
    ma.write(masked[4].take(np.random.default_rng(0).permutation(300)), "moved.csv")
    assert judged("survey.csv", "k3.csv", "moved.csv", "k5.csv", "--key", "person") == found
    assert "3 releases together" in run("assess", "survey.csv", *names).stdout
    for k, file in masked.items():
        ma.write(file.drop_columns("person").sort_by([(name, "ascending") for name in ("age", "income")]), f"s{k}.csv")
    by_value = judged("survey.csv", *(f"s{k}.csv" for k in masked))
    assert (found["nearest"], by_value["nearest"], found["consistent"]) == (0, 3, None)
    assert by_value["consistent"] > 95.0
    assert by_value["solved"] == pytest.approx(own.solved, abs=15)
    assert "matched by nearest values" in run("assess", "survey.csv", *(f"s{k}.csv" for k in masked)).stdout
    for option in (["--strata", "hours"], ["--keys", "age"], ["--sample", "50"]):
        assert "cannot be combined with several masked files" in str(
            run("assess", "survey.csv", *names, *option).exception
        )


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("formula = 'income ~ age**2'", r"the formula 'income ~ age**2' is not understood at character 13"),
        ("formula = 'income ~ log(eval(1))'", "there is no function 'eval' here"),
        ("formula = 'income ~ agee'", "column 'agee' of an analysis is not in both files. Did you mean 'age'?"),
        ("columns = ['income', 'log(agee)']", "column 'agee' of an analysis is not in both files. Did you mean 'age'?"),
        ("columns = ['income', 'age^10']", "a power must be a whole number from 1 to 9"),
    ],
)
def test_an_analysis_of_a_file_that_cannot_be_read_is_refused_with_its_line(said, why):
    text = f"[[analysis]]\nkind = 'mean'\ncolumns = 'age'\n\n[[analysis]]\nkind = 'linear'\n{said}\n"
    Path("a.toml").write_text(text)
    found = refused("survey.csv", MASKED, "--recipe", "recipe.toml", "--analyses", "a.toml")
    assert found.partition(": ")[2].startswith("a.toml, line 7: ")
    assert why in found


@pytest.mark.usefixtures("files")
def test_formulas_of_a_file_are_fitted():
    Path("a.toml").write_text("[[analysis]]\nkind = 'linear'\nformula = 'log(income + 1) ~ age + age^2 + region'\n")
    found = judged("survey.csv", MASKED, "--recipe", "recipe.toml", "--analyses", "a.toml")
    assert "log(income + 1) ~ age + age^2 + region" in json.dumps(found["results"])
