"""Where records are left out, the original is the whole file: totals, distributions, correlations and results."""

import json
import pickle

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import microagg as ma
from microagg.judge import judge
from microagg.judge.text import FIXED, points
from tests.cli import call

N, LACKING = 500, 90


def survey():
    """Make a survey whose richest lack an age; the records that have all values are another population."""
    rng = np.random.default_rng(0)
    income = np.sort(rng.lognormal(7, 0.6, N)).round()
    rent = (0.3 * income * rng.lognormal(0, 0.3, N)).round()
    age = rng.integers(18, 80, N).astype(float)
    rows = rng.permutation(N)
    return pa.table(
        {
            "age": pa.array(age, mask=np.arange(N) >= N - LACKING).take(rows),
            "income": income[rows],
            "rent": rent[rows],
            "area": np.where(np.arange(N) % 3 == 0, "city", "land")[rows],
            "weight": np.where(np.arange(N) >= N - LACKING, 3.0, 1.0)[rows],
        }
    )


@pytest.fixture(scope="module")
def release():
    return ma.protect(
        survey(), 5, quasi=["age", "income", "rent", "area"], weight="weight", weighted=False, missing="drop"
    )


def column(frame, name):
    values = frame[name].to_pylist()
    return np.array([one for one in values if one is not None])


def test_totals_are_those_of_all_records(release):
    assert release.n_dropped == LACKING
    kept = np.array([one is not None for one in survey()["age"].to_pylist()])
    found = {one.column: one.change for one in judge(release).loss.columns}
    for name in ("income", "rent"):
        whole, part = column(survey(), name).sum(), column(survey(), name)[kept].sum()
        assert found[name].total == pytest.approx(100 * (column(release.data, name).sum() - whole) / whole)
        assert found[name].left_out == pytest.approx(100 * (part - whole) / whole)
        assert found[name].left_out < -20


def test_weighted_totals_are_those_of_all_records():
    release = ma.protect(survey(), 5, quasi=["age", "income"], weight="weight", rest="drop", missing="drop")
    weights, income = column(survey(), "weight"), column(survey(), "income")
    kept = np.array([one is not None for one in survey()["age"].to_pylist()])
    whole = (weights * income).sum()
    found = {one.column: one.change for one in judge(release).loss.columns}["income"]
    after = (column(release.data, "weight") * column(release.data, "income")).sum()
    assert found.total == pytest.approx(100 * (after - whole) / whole)
    assert found.left_out == pytest.approx(100 * ((weights * income)[kept].sum() - whole) / whole)


def test_statistics_are_compared_with_all_values(release):
    before = {name: column(survey(), name) for name in ("age", "income", "rent")}
    after = {name: column(release.data, name) for name in before}
    loss = release.loss
    for name, values in before.items():
        assert loss.means[name] == pytest.approx((after[name].mean() - values.mean()) / values.std())
        assert loss.deviations[name] == pytest.approx(after[name].std() / values.std() - 1)
        far = (np.quantile(after[name], 0.99) - np.quantile(values, 0.99)) / values.std()
        assert loss.quantiles[name][-1] == pytest.approx(far)
    lacks = np.array([one is None for one in survey()["age"].to_pylist()])
    ages = np.array([np.nan if one is None else one for one in survey()["age"].to_pylist()])[~lacks]
    names = list(loss.numbers)
    was = {
        ("age", "income"): np.corrcoef(ages, before["income"][~lacks])[0, 1],  # of those who have both
        ("income", "rent"): np.corrcoef(before["income"], before["rent"])[0, 1],
    }
    for (one, other), correlation in was.items():
        changed = loss.correlations[names.index(one), names.index(other)]
        assert changed == pytest.approx(np.corrcoef(after[one], after[other])[0, 1] - correlation)
    variances = [abs(after[name].var() - before[name].var()) / before[name].var() for name in before]
    assert loss.m3 == pytest.approx(np.mean(variances))
    assert loss.m2 == pytest.approx(np.mean([abs(1 - after[name].mean() / before[name].mean()) for name in before]))


def test_what_is_measured_record_by_record_is_that_of_the_released_records(release):
    kept = survey().filter(pa.array([one is not None for one in survey()["age"].to_pylist()]))
    alone = ma.protect(kept, 5, quasi=["age", "income", "rent", "area"], weight="weight", weighted=False)
    assert release.data.equals(alone.data)
    assert release.information == alone.information
    assert release.loss.m1 == pytest.approx(alone.loss.m1, rel=1e-12)
    assert release.loss.il1s == pytest.approx(alone.loss.il1s, rel=1e-12)
    assert release.risk.full_keys == alone.risk.full_keys


def test_distributions_are_drawn_of_all_records(release):
    drawn = {one.column: one for one in judge(release).distributions}
    cities = next(bar for bar in drawn["area"].bars if bar.label == "city")
    assert cities.before == pytest.approx(100 * survey()["area"].to_pylist().count("city") / N)
    assert cities.after == pytest.approx(100 * release.data["area"].to_pylist().count("city") / (N - LACKING))
    missing = next(bar for bar in drawn["age"].bars if bar.of == "missing")
    assert (missing.before, missing.after) == (100 * LACKING / N, 0)
    for one in (drawn["income"], drawn["rent"]):
        assert sum(one.before) == pytest.approx(100, abs=0.1)
        assert sum(one.after) == pytest.approx(100, abs=0.1)
    income = column(survey(), "income")
    edges = drawn["income"].edges
    assert drawn["income"].before[-1] == pytest.approx(100 * np.mean(income >= edges[-2]), abs=0.01)


@pytest.mark.parametrize("given", ["frame", "source"])
def test_results_are_compared_with_those_of_all_records(given, tmp_path):
    csv.write_csv(survey(), tmp_path / "pay.csv")
    file = survey().to_pandas() if given == "frame" else ma.read(tmp_path / "pay.csv")
    release = ma.protect(
        file, 5, quasi=["age", "income", "rent"], keep=["area"], weight="weight", weight_release="group", missing="drop"
    )
    found = release.utility([ma.Analysis("mean", "income"), ma.Analysis("mean", "income", by="area", weight="weight")])
    income, area, weights = (column(survey(), name) for name in ("income", "area", "weight"))
    plain, *by_area = found.estimates
    assert plain.before == pytest.approx(income.mean())
    assert plain.after == pytest.approx(np.asarray(release.data["income"], dtype=float).mean())
    assert {one.domain: one.before for one in by_area} == {
        (("area", name),): pytest.approx(np.average(income[area == name], weights=weights[area == name]))
        for name in ("city", "land")
    }
    whole = ma.utility(survey(), survey(), [ma.Analysis("mean", "income")]).estimates[0]
    assert plain.interval_before == pytest.approx(whole.interval_before)
    assert "The original is the whole file, with the 90 records" in release.results.remarks[0]


def test_a_frame_that_is_changed_later_changes_no_result():
    frame = survey().to_pandas()
    release = ma.protect(frame, 5, quasi=["age", "income", "rent"], keep=["area"], rest="drop", missing="drop")
    asked = [ma.Analysis("mean", "income", by="area")]
    before = [one.before for one in release.utility(asked).estimates]
    frame.loc[:, "area"], frame.loc[:, "income"] = "sea", 0.0
    assert [one.before for one in release.utility(asked).estimates] == before
    assert pickle.loads(pickle.dumps(release))._masked is None


def test_units_that_are_left_out_are_in_the_original():
    rng = np.random.default_rng(2)
    sizes = np.array([2] * 60 + [3] * 60 + [9] * 2)
    unit = np.repeat(np.arange(sizes.size), sizes)
    table = pa.table(
        {"unit": unit, "age": rng.integers(20, 60, unit.size), "pay": 100.0 * sizes[unit] + rng.random(unit.size)}
    )
    release = ma.protect(table, 5, unit="unit", unit_release="pseudonym")
    assert release.n_dropped == 18
    pay = column(table, "pay")
    estimate = release.utility([ma.Analysis("mean", "pay", unit="unit")]).estimates[0]
    whole = ma.utility(table, table, [ma.Analysis("mean", "pay", unit="unit")]).estimates[0]
    assert estimate.before == pytest.approx(pay.mean())
    assert estimate.interval_before == pytest.approx(whole.interval_before)
    found = {one.column: one.change for one in judge(release).loss.columns}["pay"]
    assert found.total == pytest.approx(100 * (column(release.data, "pay").sum() / pay.sum() - 1))


def test_the_report_says_what_leaving_out_did(release):
    model = release.report_model()
    found = {one.column: one.change for one in judge(release).loss.columns}
    worst = min(change.left_out or 0.0 for change in found.values())
    headline = model.verdict.headline.replace(FIXED, " ")
    assert f"90 records are left out (18 % of the file), which changes totals by at most {-worst:.1f} %." in headline
    left_out = next(one for one in model.verdict.findings if one.topic == "records left out")
    assert "That alone changed totals: " in left_out.text
    assert f"“income” {points(found['income'].left_out)}" in left_out.text
    totals = next(one for one in model.verdict.findings if one.topic == "totals")
    assert f"“income” {points(found['income'].total)}" in totals.text
    assert f"Leaving out records alone changed them by at most {-worst:.1f} %" in totals.text.replace(FIXED, " ")
    assert "they are those of the released records" in model.left_out.text
    lost = next(one.value for one in model.verdict.lines if one.name == "Lost")
    assert "if all released records got the same values" in lost.split(". ")[0]
    public = release.report_model(public=True)
    assert "Correlations changed" not in next(one.value for one in public.verdict.lines if one.name == "Lost")


def test_assess_compares_results_with_all_records_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(survey(), "pay.csv")
    (tmp_path / "own.toml").write_text(
        'k = 5\n[roles]\nquasi = ["age", "income", "rent"]\nrest = "drop"\n[masking]\nmissing = "drop"\n'
        '[[analysis]]\nkind = "mean"\ncolumns = ["income"]\n'
    )
    told = json.loads(call("mask", "pay.csv", "--recipe", "own.toml", "--json").stdout)
    assert told["results"]["worst"][0]["before"] == pytest.approx(column(survey(), "income").mean())
    assert any("That alone changed totals" in line for line in told["warnings"])
    found = json.loads(
        call("assess", "pay.csv", "out/release/pay_masked.csv", "--recipe", "out/internal/recipe.toml", "--json").stdout
    )
    assert found["results"]["estimates"][0]["before"] == pytest.approx(column(survey(), "income").mean())
    assert found["records_left_out"] == LACKING
    assert found["figures"]["M5"] == pytest.approx(told["figures"]["M5"])
    assert found["figures"]["G_IL"] == pytest.approx(told["figures"]["G_IL"])
