"""What the report says of units."""

import numpy as np
import pandas as pd
import pytest

import microagg as ma
from microagg.jobs.facts import release_facts
from microagg.report.html import render
from microagg.report.model import build


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    sizes = np.array([*rng.integers(1, 4, 60), 7])
    return pd.DataFrame(
        {
            "hhnr": np.repeat(np.arange(61), sizes),
            "age": rng.integers(0, 90, sizes.sum()),
            "pay": rng.random(sizes.sum()),
        }
    )


def said(model):
    return {line.name: line.value for line in model.verdict.lines}


def test_k_is_told_of_units(frame):
    release = ma.protect(frame, 4, unit="hhnr")
    model = build(release)
    assert (
        "every record has the same masked values as records of at least 3 other units (“hhnr”), and no unit has more "
        "than 1/4 of these rows" in model.verdict.headline
    )
    assert said(model)["Promised"].startswith("k = 4: at least 4 different units have the same values")
    assert said(model)["Kept"] == (
        "Yes. Counted again in the rows of the released file, with the units of the original, the smallest number of "
        "units with the same masked values is 4."
    )
    page = render(model)
    assert "units or more have the same masked values" in page
    assert f"one unit has at most {release.anonymity.share:.0f}" in page.replace("\u00a0", " ")
    holds = "Every group holds at least 4 different units"
    assert any(one.topic == "units" and holds in one.text for one in model.checklist)


def test_the_public_page_names_no_unit(frame):
    model = build(ma.protect(frame, 4, unit="hhnr"), public=True)
    assert "other units (persons, households or firms)" in model.verdict.headline
    assert "hhnr" not in render(model)


def test_a_unit_with_most_of_the_rows_is_told(frame):
    model = build(ma.protect(frame, 4, unit="hhnr", unit_share="any"))
    assert "one unit may have most of these rows (up to " in model.verdict.headline


def test_whole_units_and_those_left_out_are_told(frame):
    release = ma.protect(frame, 4, unit="hhnr", unit_release="pseudonym")
    model = build(release)
    assert "every unit has the same masked rows as at least 3 other units (“hhnr”)" in model.verdict.headline
    assert model.left_out.text.startswith(f"7 records of {len(frame)}")
    assert "whose waves, fewer than 4 units have" in model.left_out.text
    (left,) = [one for one in model.verdict.findings if one.topic == "records left out"]
    assert "because fewer than 4 units have the same number of rows" in left.text
    assert "value" not in left.text
    intruder, linked = said(model)["An intruder"], release.risk
    assert intruder.startswith(
        "An intruder who knows all masked columns of everybody, in all rows of a unit, finds the right unit"
    )
    assert f"in {linked.full_keys:.1f} % of the cases (k allows at most 25 %)" in intruder.replace("\u00a0", " ")
    assert linked.full_keys <= linked.full_group
    assert (model.risk.units, linked.n_units) == (60, 60)
    assert "linkage is of whole units" in model.risk.how
    assert "Whole units linked to the right one, by all their rows" in repr(linked)
    page = render(model)
    assert "of the units are linked to the right unit" in page
    assert "right unit, all columns known" in page
    assert "at least 4 whole units have the same masked values" in page.replace("\u00a0", " ")
    assert release_facts(release)["linkage_of"] == "whole units"
    assert release_facts(ma.protect(frame, 4, unit="hhnr"))["linkage_of"] == "records"
    assert not any("original order" in one.text for one in (*model.verdict.findings, *model.checklist))
    assert any("replaced by numbers that follow from the released rows alone" in one.text for one in model.checklist)


def test_a_sample_of_whole_units_and_their_weights_are_told():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"u": np.repeat(np.arange(80), 2), "age": rng.integers(0, 90, 160), "w": 50.0})
    release = ma.protect(frame, 4, unit="u", unit_release="pseudonym", weight="w")
    model = build(release.with_risk(release.risk_for(sample=30, seed=3)))
    intruder = said(model)["An intruder"].replace("\u00a0", " ")
    assert "This was estimated on 30 units drawn with seed 3" in intruder
    assert "which by its weights represents a population of 4 000" in intruder.replace("\u202f", " ")
    assert "of 80 units to the right one" in intruder


def test_an_identifier_that_repeats_is_asked_after(frame):
    (found,) = [
        one for one in build(ma.protect(frame, 4, identifiers=["hhnr"])).verdict.findings if one.topic == "units"
    ]
    assert "Name that column as the unit" in found.text


def test_units_that_their_rows_together_tell_apart_are_counted():
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(60), 5)
    frame = pd.DataFrame({"u": unit, "age": rng.integers(0, 90, 300), "sick": rng.choice(["y", "n"], 300)})
    model = build(ma.protect(frame, 6, quasi=["age"], confidential=["sick"], unit="u", unit_release="pseudonym"))
    release = ma.protect(frame, 6, quasi=["age"], confidential=["sick"], unit="u", unit_release="pseudonym")
    rows = release.data.groupby("u")[["age", "sick"]].apply(
        lambda own: tuple(sorted(zip(own["age"], own["sick"], strict=True)))
    )
    lone = 5 * int((rows.map(rows.value_counts()) == 1).sum())
    assert lone > 0
    assert f"{lone} of 300 records" in model.verdict.headline


def test_a_weight_that_few_units_have_is_told_though_many_rows_do():
    rng = np.random.default_rng(1)
    unit = np.repeat(np.arange(60), 5)
    frame = pd.DataFrame({"u": unit, "age": rng.integers(0, 90, 300), "w": 100.0 + unit})
    (found,) = [
        one for one in build(ma.protect(frame, 4, unit="u", weight="w")).verdict.findings if one.topic == "weights"
    ]
    assert "300 records" in found.text
