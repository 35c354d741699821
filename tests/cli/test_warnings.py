"""What the report warns of stands in the terminal and in JSON too, and every figure by its name."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.jobs import findings_of
from microagg.measures.definitions import DEFINITIONS
from tests.cli import call

ROLES = ("--quasi", "region,sex,birth,education,wage,hours", "--weight", "weight", "--rest", "drop")


@pytest.fixture
def _file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(ma.datasets.households(300, seed=0), "persons.parquet")


@pytest.mark.usefixtures("_file")
def test_the_terminal_the_page_and_json_warn_alike():
    shown = call("mask", "persons.parquet", "-k", 3, *ROLES).stdout
    warned = [line.removeprefix("Warning: ") for line in shown.splitlines() if line.startswith("Warning: ")]
    assert any(line.endswith("are unique in all released columns together.") for line in warned)
    assert any(line.startswith("zeros lost: “wage”") for line in warned)
    assert all(len(line) < 200 and "\u202f" not in line and "\u00a0" not in line for line in warned)
    found = json.loads(call("mask", "persons.parquet", "-k", 3, *ROLES, "--json", "--force").stdout)
    assert found["warnings"] == warned
    results = found["results"]
    survive = f"Results: {results['within']} of {results['estimates']} results of usual analyses are within the 95 %"
    assert [line.startswith(survive) for line in shown.splitlines() if line.startswith("Results: ")] == [True]
    assert any(line.startswith(f"{results['conclusions_changed']} conclusion") for line in warned)
    assert [one["line"] for one in found["findings"] if one["level"] == "warning"] == warned
    assert {one["level"] for one in found["findings"]} == {"warning", "note"}
    page = Path("out/internal/report.html").read_text(encoding="utf-8").replace("\u202f", " ").replace("\u00a0", " ")
    for one in found["findings"]:
        if one["level"] == "warning":
            assert one["text"].replace("'", "&#39;") in page
    assert set(found["figures"]) == set(DEFINITIONS) - {"unit constants"}  # no unit is named
    assert found["figures"]["IL"] == found["information_loss_percent"]
    assert found["figures"]["G_DR"] == found["g_dr"]


@pytest.mark.usefixtures("_file")
@pytest.mark.parametrize(
    ("quasi", "begins"),
    [("age,size", "No grouping at k=3 can lose less than "), ("age,sex", "Of the squared distances ")],
)
def test_the_terminal_the_page_and_json_say_how_little_could_be_lost(quasi, begins):
    asked = ("mask", "persons.parquet", "-k", 3, "--quasi", quasi, "--rest", "drop", "--public")
    shown = call(*asked).stdout.splitlines()
    found = json.loads(call(*asked, "--json", "--force").stdout)["loss_bound"]
    assert found["sentence"].startswith(begins)
    assert found["sentence"] in shown
    assert 0 < found["percent"] < found["reached_percent"]
    inside, public = (
        Path(place).read_text(encoding="utf-8").replace("\u00a0", " ")
        for place in ("out/internal/report.html", "out/release/report_public.html")
    )
    assert found["sentence"] in inside
    assert not any("lose less" in text for text in (public, Path("out/release/recipe.toml").read_text("utf-8")))


@pytest.mark.usefixtures("_file")
def test_quiet_says_no_warning_and_json_has_them():
    assert call("mask", "persons.parquet", "-k", 3, *ROLES, "--quiet").output == ""
    found = call("mask", "persons.parquet", "-k", 3, *ROLES, "--quiet", "--force", "--json")
    assert json.loads(found.stdout)["warnings"]


@pytest.mark.usefixtures("_file")
@pytest.mark.parametrize(
    ("limit", "named"),
    [((), "“hours”, “diagnosis”"), (("--l", 2, "--l-columns", "diagnosis"), "“hours”"), (("--l", 2), None)],
)
def test_confidential_columns_without_a_limit_are_said_to_be_unchanged(limit, named):
    roles = ("--quasi", "birth,wage", "--confidential", "diagnosis,hours", "--rest", "drop")
    shown = call("mask", "persons.parquet", "-k", 3, *roles, *limit).stdout.splitlines()
    start = "confidential columns are released unchanged, and neither l nor t limits what a group discloses of them: "
    expected = [] if named is None else [f"{start}{named}."]
    assert [line.removeprefix("Warning: ") for line in shown if start in line] == expected
    found = json.loads(call("mask", "persons.parquet", "-k", 3, *roles, *limit, "--json", "--force").stdout)
    assert [line for line in found["warnings"] if start in line] == expected
    page = Path("out/internal/report.html").read_text(encoding="utf-8")
    assert "“hours” and “diagnosis” are released unchanged, and k does not cover them." in page


@pytest.mark.usefixtures("_file")
def test_the_role_confidential_is_said_to_release_a_column_unchanged():
    for command in ("mask", "compare"):
        words = " ".join(call(command, "--help").output.replace("│", " ").split())
        assert "--confidential <str> Released unchanged: sensitive columns that an intruder does not know;" in words
    shown = call("mask", "persons.parquet", "--confidential", "diagnosis", "--yes", "-o", "new").stdout
    (line,) = [line for line in shown.splitlines() if line.startswith("diagnosis")]
    assert line.split()[1] == "confidential"
    assert "as asked for; it is released unchanged" in line
    recipe = Path("new/internal/recipe.toml").read_text(encoding="utf-8")
    assert "# released unchanged: sensitive columns that an intruder does not know; only l and t limit" in recipe


def test_findings_are_plain_values_with_a_level():
    frame = ma.datasets.survey(100, seed=0, frame="pandas")[["age", "income"]]
    release = ma.protect(frame, k=5)
    assert {one["level"] for one in findings_of(release.report_model())} == {"warning", "note"}
    release = ma.protect(frame, k=5)
    release.data.loc[0, "income"] += 1
    first = findings_of(release.report_model())[0]
    assert (first["level"], first["topic"]) == ("broken", "promise")
    assert first["line"] == "the released file does not keep the promise."
    assert findings_of(release.report_model(public=True)) == []


@pytest.mark.parametrize("role", [("--identifiers", "household"), ("--drop", "household"), ("--rest", "drop")])
def test_rows_of_one_household_are_not_taken_for_different_ones(tmp_path, monkeypatch, role):
    monkeypatch.chdir(tmp_path)
    lines = [f"{1000 + i // 4},{i % 7},{i // 4 % 29 * 10}" for i in range(400)]
    Path("h.csv").write_text("household,age,income\n" + "\n".join(lines) + "\n")
    roles = ("--quasi", "age,income", *role)
    told = json.loads(call("mask", "h.csv", *roles, "-k", 4, "--same-order", "--public", "--json").stdout)
    masked = ma.read("out/release/h_masked.csv").table.to_pylist()
    units = {}
    for i, row in enumerate(masked):
        units.setdefault(tuple(row.values()), set()).add(i // 4)
    few = sum(len(own) < 4 for own in units.values())
    assert few > 0
    warned = f"k counts rows, not units: {few} of {told['groups']} groups"
    assert any(warned in line for line in told["warnings"])
    assert warned in Path("out/internal/report.html").read_text()
    assert "It counts rows: several rows may belong to one person" in Path("out/release/report_public.html").read_text()


def test_a_dropped_category_is_no_unit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{'mf'[i % 2]},{i % 7},{i * 10}" for i in range(400)]
    Path("h.csv").write_text("sex,age,income\n" + "\n".join(lines) + "\n")
    told = json.loads(
        call(
            "mask", "h.csv", "--quasi", "age,income", "--rest", "drop", "-k", 4, "-o", "out", "--public", "--json"
        ).stdout
    )
    assert not any("units" in line for line in told["warnings"])
    assert "It counts rows" not in Path("out/release/report_public.html").read_text()
