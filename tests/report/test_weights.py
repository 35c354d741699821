"""What a report says of weights: what they give away, what they did, what a sample leaves of the risk."""

import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv

import microagg as ma
from microagg.judge import judge
from microagg.report import build, to_json
from tests.reference import weights as by_the_book
from tests.test_weights import dominated, frame_of

ROLES = {"quasi": ["age", "income", "job"], "drop": ["v"], "strata": ["region"], "weight": "w"}


def telling(n=200):
    """A frame whose weight is one for each job, but for three records."""
    frame = frame_of(n)
    frame["w"] = frame["job"].map({"farm": 100.0, "shop": 110.0, "office": 120.0})
    frame.loc[[1, 2, 3], "w"] = [101.0, 102.0, 103.0]
    return frame


def findings(release, topic):
    return [one for one in build(release).verdict.findings if one.topic == topic]


def test_a_weight_that_tells_a_masked_category_is_in_the_headline_and_the_findings():
    frame = telling()
    release = ma.protect(frame, 5, **ROLES)
    away, rare = findings(release, "weights")
    expected = by_the_book.telling_weights(frame["w"].tolist(), frame["job"].tolist())
    assert expected == (6, 6, 1.0)
    assert away.short == "the weight “w” discloses “job” (6 of 6 weights)."
    assert rare.short.startswith("3 records (1.5\u00a0%) have a weight “w” that fewer than 5 records have")
    assert "by group" in away.text
    verdict = build(release).verdict
    assert "The weight “w” discloses “job” (6 of 6 weights)." in verdict.headline
    assert verdict.state == "look"


def test_weights_by_group_are_rounded_and_what_they_still_show_is_counted():
    frame = telling()
    release = ma.protect(frame, 5, weight_release="group", **ROLES)
    (found,) = findings(release, "weights")
    groups = by_the_book.revealing(
        frame["w"].tolist(), release.data["w"].tolist(), [frame["job"].tolist()], release.groups.tolist(), 5
    )
    assert found.short == f"the weight “w” shows categories of the members in {groups} of {release.n_groups} groups."
    model = build(release)
    (fact,) = [one for one in model.done if one.name == "weights"]
    assert "Rounding to multiples of 5 (“w”) changed weighted totals by at most 0." in fact.why
    assert "Rounding to multiples" not in to_json(build(release, public=True))
    assert findings(ma.protect(frame_of(200), 5, weight_release="group", **ROLES), "weights") == []
    assert "discloses" not in model.verdict.headline
    assert model.verdict.lines[0].value.endswith("the stratum “region” and the weight “w”.")
    (one,) = [one for one in model.checklist if one.topic == "weights"]
    text = "“w”: every record has the mean of its group, rounded, and k covers it too."
    assert (one.state, one.text) == ("good", text)
    assert judge(release).alone.by_column == {}
    assert "weights by group" in to_json(model)


def test_a_weight_that_was_cut_is_told_with_how_far_totals_moved():
    frame = dominated()
    release = ma.protect(frame, 3, quasi=["age", "income"], weight="w", weight_cap=True, rest="drop")
    (found,) = findings(release, "weights cut")
    assert found.state == "look"
    assert found.short.startswith("weights were cut in 1 group; weighted totals changed by that: ")
    assert "In 1 group one record had more than 80" in found.text
    assert "“income”" in found.short
    assert "weights cut in 1 group," in repr(release)
    facts = [one for one in build(release).done if one.name == "weights"]
    assert "was cut to that share" in facts[0].why


def test_the_loss_is_told_with_and_without_weights_and_a_sample_beside_the_worst_case():
    release = ma.protect(frame_of(200), 5, **ROLES)
    lines = {line.name: line.value for line in build(release).verdict.lines}
    assert "With weights, the loss is" in lines["Lost"]
    stands_for = f"{round(frame_of(200)['w'].sum()):,}".replace(",", "\u202f")
    assert f"which by its weights represents a population of {stands_for}" in lines["An intruder"]
    symbols = {one.symbol for one in (*build(release).loss.figures, *build(release).risk.figures)}
    assert {"IL", "IL_w", "full keys", "expected links"} <= symbols
    assert f"({release.weights.information.percent:.2f} % by weight)" in repr(release)


def test_totals_are_said_to_be_weighted():
    release = ma.protect(frame_of(200), 5, rounding={"income": 1000}, **ROLES)
    assert any(one.short.startswith("weighted totals changed") for one in findings(release, "totals"))
    plain = ma.protect(frame_of(200), 5, rounding={"income": 1000}, weighted=False, **ROLES)
    assert all(one.short.startswith("totals changed") for one in findings(plain, "totals"))


def test_calibration_is_told_and_what_it_misses():
    frame = frame_of(60).assign(job=["rare", *["shop", "office"] * 29, "shop"])
    release = ma.protect(frame, 5, weight_release="group", calibrate=["job"], **ROLES)
    (found,) = findings(release, "calibration")
    assert "no group releases some category" in found.text
    (fact,) = [one for one in build(release).done if one.name == "weights"]
    assert "Calibration multiplied them by" in fact.why


@pytest.mark.parametrize("public", [True, False])
def test_calibrated_weights_are_not_called_means(public):
    choices = {"weight_release": "group", **ROLES}
    calibrated = build(ma.protect(frame_of(60), 5, calibrate=["job"], **choices), public=public)
    (fact,) = [one for one in calibrated.done if one.name == "weights"]
    assert "has the mean weight" not in fact.why
    assert "adjusted, so that weighted totals of the categories of “job” are kept" in fact.why
    plain = build(ma.protect(frame_of(60), 5, **choices), public=public)
    (fact,) = [one for one in plain.done if one.name == "weights"]
    assert "has the mean weight of its group, rounded. Before rounding, the sum of weights is exact." in fact.why


def test_the_public_report_tells_how_weights_are_released_and_no_more():
    release = ma.protect(telling(), 5, **ROLES)
    public = build(release, public=True)
    text = to_json(public)
    assert "discloses" not in text
    assert "With weights, the loss is" not in text
    assert judge(release, public=True).weights is None
    assert [one.value for one in public.done if one.name == "weights"] == ["weighted; weights unchanged"]


def test_the_loss_of_a_weighted_column_is_public_only_where_the_lightest_member_could_not_have_made_it():
    n = 4000
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=n), "w": np.full(n, 2.0)})
    even = build(ma.protect(frame, 3, weight="w"), public=True).loss
    frame["w"] = np.where(np.arange(n) % 50, 2.0, 0.0)
    uneven = build(ma.protect(frame, 3, weight="w", weight_cap=True), public=True).loss
    by_group = build(ma.protect(frame.assign(w=2.0), 3, weight="w", weight_release="group"), public=True).loss
    assert [one.told for one in (even, uneven, by_group)] == [1, 0, 0]


def test_a_stored_release_has_no_weights_of_the_original():
    release = ma.protect(frame_of(200), 5, weight_release="group", **ROLES)
    stored = pickle.loads(pickle.dumps(release))
    assert stored.weights is None
    assert stored.promise == release.promise


@pytest.mark.casc
def test_eusilc_gives_the_region_away_by_its_weight():
    frame = pd.read_csv(Path(os.environ["MICROAGG_DATA"]) / "eusilc.csv")
    roles = {"quasi": ["age", "eqIncome", "db040"], "weight": "rb050", "rest": "drop"}
    release = ma.protect(frame, 10, **roles)
    found = {one.weight: one for one in judge(release).weights.found}["rb050"]
    assert (found.distinct, found.rare, found.telling["db040"].weights, found.telling["db040"].share) == (71, 56, 71, 1)
    assert "The weight “rb050” discloses “db040” (71 of 71 weights)." in build(release).verdict.headline


def survey_with_weight(rng, name):
    return pa.table({"a": rng.normal(size=300), "b": rng.normal(size=300), name: rng.lognormal(5, 0.4, 300)})


@pytest.mark.parametrize("given", ["frame", "source"])
@pytest.mark.parametrize("role", ["drop", "keep", "confidential", "identifiers"])
def test_a_weight_that_is_found_and_not_used_is_in_the_headline(role, given, tmp_path):
    table = survey_with_weight(np.random.default_rng(0), "sample_wgt")
    csv.write_csv(table, tmp_path / "f.csv")
    file = table if given == "frame" else ma.read(tmp_path / "f.csv")
    model = ma.protect(file, 5, quasi=["a", "b"], **{role: ["sample_wgt"]}).report_model()
    words = "“sample_wgt” may be a sampling weight and is not used: the figures here are unweighted."
    assert words in model.verdict.headline
    assert words in [one.short for one in model.verdict.findings]


def test_a_weight_that_is_not_used_is_in_the_headline_and_one_that_is_used_is_not():
    table = survey_with_weight(np.random.default_rng(0), "w")
    unused = ma.protect(table, 5, quasi=["a", "b"], weight="w", weighted=False).report_model()
    assert "The weight “w” is not used: totals and shares here are unweighted." in unused.verdict.headline
    used = ma.protect(table, 5, quasi=["a", "b"], weight="w", weight_release="group").report_model()
    assert "not used" not in used.verdict.headline
    public = ma.protect(table, 5, quasi=["a", "b"], drop=["w"]).report_model(public=True)
    assert "“w”" not in public.verdict.headline
    without = ma.protect(table.select(["a", "b"]), 5).report_model()
    assert "unweighted" not in without.verdict.headline
