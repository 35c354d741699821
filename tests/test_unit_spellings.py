"""Units that are spelt in several ways are one unit: in memory, on disk, on a cluster, judged and written."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import microagg as ma
from microagg.cli import app
from microagg.columns.numbers import by_value
from tests.lengths import first_few
from tests.report.test_verdict import findings

SAME = [
    ["1", "1.0", "01", "1.", "+1", "1e0", " 1 ", "10e-1", "0,1e1", "１", "1\u200b", "\ufeff1"],
    ["A", "a", "A ", "\u00a0a", "a\t", "\u2003A", "a\x00"],
    ["\u00e9t\u00e9", "e\u0301te\u0301", "\u00c9T\u00c9", "E\u0301te\u0301 ", "e\u200b\u0301te\u034f\u0301"],
    ["A", "\uff21", "a\ufe0f", "\u3164a", "a\u2800", "\u115fa\u1160", "\uffa0A", "a\u17b4", "a\u2065", "a\U000e0101"],
    ["i", "I", "\u0130", "i\u0307", "\u0131", "\u0130\u200b"],
    ["\u0130\u0301", "\u00ed", "\u00cd"],
    ["Strasse 7", "STRASSE  7", "stra\u00dfe\u00a07"],
    ["0", "00", "0.0", "-0", "0e5"],
    ["1" + "0" * 40, "1e40", "10e39"],
    ["-5", "-5.0", "-05", "\u22125", "\uff0d5", "\u20135,0"],
    ["a-1", "A\u22121", "a\u20111"],
]
OTHERS = [
    ["9007199254740992", "9007199254740993", "9007199254740992.5"],
    ["1" * 60, "1" * 59 + "2"],
    ["1", "10", "-1", "1a", "a1", "1 1", "1.1"],
    ["", "e5", ".", "+", "nan", "inf", "1e", "1e9999999999"],
]


@pytest.mark.parametrize("spellings", SAME)
def test_spellings_of_one_unit_are_equal(spellings):
    assert len(set(by_value(pa.array(spellings)).to_pylist())) == 1
    assert len(set(by_value(pa.array(spellings).dictionary_encode()).to_pylist())) == 1


@pytest.mark.parametrize("spellings", OTHERS)
def test_different_units_stay_different(spellings):
    assert len(set(by_value(pa.array(spellings)).to_pylist())) == len(spellings)


def test_what_was_compared_is_compared_the_same_once_more():
    every = pa.array([one for own in (*SAME, *OTHERS) for one in own])
    assert by_value(by_value(every)).equals(by_value(every))


def test_every_character_is_compared_the_same_once_more():
    every = by_value(pa.array([f"a{chr(one)}" for one in range(0x20000) if not 0xD800 <= one < 0xE000]))
    assert by_value(every).equals(every)


def test_whole_numbers_are_compared_to_the_last_digit():
    numbers = pa.array([2**53, 2**53 + 1, 2**63 - 1, 2**63 - 2])
    frame = pa.table({"unit": numbers, "x": [1.0, 2.0, 3.0, 4.0]})
    assert ma.protect(frame, k=4, unit="unit").k_achieved == 4


WAYS = [str, lambda one: f"0{one}", lambda one: f"{one}.0", lambda one: f" {one}", lambda one: f"{one}e0"]


def spelt(n=600, *, number=True):
    """A frame whose units have three rows each, spelt in different ways, and the same spelt in one."""
    rng = np.random.default_rng(0)
    units = np.arange(n) // 3
    ways = WAYS if number else [lambda one: f"H{one}", lambda one: f"h{one} ", lambda one: f"\u00a0H{one}"]
    columns = {"x": np.repeat(rng.normal(size=n // 3), 3), "y": np.repeat(rng.normal(size=n // 3), 3)}
    several = [ways[row % len(ways)](unit) for row, unit in enumerate(units)]
    return pa.table({"unit": several, **columns}), pa.table({"unit": units, **columns})


@pytest.mark.parametrize("number", [True, False])
def test_groups_are_those_of_units_spelt_in_one_way(number):
    several, one = spelt(number=number)
    release, expected = ma.protect(several, k=3, unit="unit"), ma.protect(one, k=3, unit="unit")
    assert np.array_equal(release.groups, expected.groups)
    assert release.anonymity.k == expected.anonymity.k >= 3
    assert (release.spellings_joined, expected.spellings_joined) == (400, 0)
    assert repr(release).endswith("; 400 spellings of units joined")
    assert release.risk.full_keys == expected.risk.full_keys


def test_whole_units_and_panels_know_spellings():
    several, one = spelt()
    wave = pa.array([row % 3 for row in range(one.num_rows)])
    for more in ({}, {"wave": "wave"}):
        choices = {"k": 3, "unit": "unit", "unit_release": "pseudonym", **more, "keep": ["wave"]}
        release, expected = (
            ma.protect(table.append_column("wave", wave), **choices, quasi=["x", "y"]) for table in (several, one)
        )
        assert release.data.equals(expected.data)
        assert release.spellings_joined == 400


@pytest.mark.parametrize("engine", first_few(1, ["disk", "dask"]))
@pytest.mark.parametrize("number", [True, False])
def test_files_beyond_memory_know_spellings(tmp_path, by_engine, engine, number):
    several, one = spelt(number=number)
    found = []
    for name, table in (("several", several), ("one", one)):
        pq.write_table(table, tmp_path / f"{name}.parquet", row_group_size=100)
        there = by_engine(engine) | ({"partitions": 3} if engine == "dask" else {})
        target = tmp_path / (f"{name}-out.parquet" if engine == "disk" else name)
        release = ma.protect_file(tmp_path / f"{name}.parquet", target, 3, unit="unit", **there)
        found.append((release, pq.read_table(release.path)))
    assert found[0][1].equals(found[1][1])
    assert [release.sample.spellings_joined for release, _ in found] == [400, 0]
    assert repr(found[0][0]).endswith("; 400 spellings of units joined")


def test_judging_any_file_counts_spellings_as_one_unit():
    masked = pd.DataFrame({"unit": ["1", "01", "1.0", "A", "a ", "A"], "x": [1.0] * 3 + [2.0] * 3})
    assert ma.anonymity(masked, ["x"], unit="unit").k == 1
    original = masked.assign(x=[0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    one = original.assign(unit=[1, 1, 1, 2, 2, 2])
    released = masked[["x"]]
    assert (
        ma.disclosure_risk(original, released, columns=["x"], unit="unit").full_keys
        == ma.disclosure_risk(one, released, columns=["x"], unit="unit").full_keys
    )


def test_estimators_know_spellings():
    several, one = spelt(60)
    matrix = np.column_stack([one["x"].to_numpy(), one["y"].to_numpy()])
    labels = [
        ma.MDAV(3).fit(matrix, units=own).labels_ for own in (several["unit"].to_pylist(), one["unit"].to_numpy())
    ]
    assert np.array_equal(*labels)


def test_a_dropped_number_that_repeats_is_counted_by_value():
    several, one = spelt()
    few = [
        ma.protect(table, k=3, quasi=["x", "y"], identifiers=["unit"]).pair.repeating["unit"]
        for table in (several, one)
    ]
    assert np.array_equal(*few)


def test_the_report_the_terminal_and_json_warn_and_show_no_cell(tmp_path):
    several, _ = spelt()
    found = findings(ma.protect(several, k=3, unit="unit"))["unit spellings"]
    assert found.state == "look"
    assert "400 spellings of units in “unit” were taken for the same unit as another spelling" in found.text
    pyarrow.csv.write_csv(several, tmp_path / "in.csv")
    run = ["mask", str(tmp_path / "in.csv"), "-k", "3", "--unit", "unit", "--quasi", "x,y", "-o", str(tmp_path / "out")]
    shown = CliRunner().invoke(app, run)
    assert shown.exit_code == 0, shown.output
    assert "400 spellings of units" in " ".join(shown.output.split())
    said = json.loads(CliRunner().invoke(app, [*run, "--force", "--json"]).stdout)
    assert said["unit_spellings_joined"] == 400
    assert any("400 spellings of units" in one for one in said["warnings"])
    public = ma.protect(several, k=3, unit="unit")
    public.report(tmp_path / "public.html", public=True)
    assert "spelling" not in (tmp_path / "public.html").read_text()
