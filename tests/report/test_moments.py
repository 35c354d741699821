"""What a report says of variances and covariances that are kept."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import microagg as ma
from microagg.jobs.facts import release_facts
from microagg.judge import judge
from microagg.judge.text import FIXED, THIN
from microagg.report import build, render, to_json

ROLES = {"quasi": ["pay", "tax"], "strata": ["region"]}


def frame_of(n=240, seed=0):
    rng = np.random.default_rng(seed)
    pay = rng.choice([1000.0, 2000.0], n) + rng.random(n)  # means near both ends leave the range where they are spread
    region = np.where(np.arange(n) % 3, "north", "south")
    return pd.DataFrame({"pay": pay, "tax": 0.2 * pay + rng.choice([0.0, 500.0], n), "region": region})


def released(which="variance", k=5, **more):
    return ma.protect(frame_of(), k, **{"rounding": "none", "moments": which, **ROLES, **more})


def done(release, public=False):
    facts = {one.name: one for one in build(release, public=public).done}
    return {name: one.why.replace(FIXED, " ").replace(THIN, " ") for name, one in facts.items()}


def test_what_was_done_tells_how_exact_it_is_and_what_left_the_range():
    release = released()
    why, outside = done(release)["moments"], release.moments.outside
    assert why.startswith(
        "Variances of 2 columns are the same as those of the original: released means were spread (moved apart) by one "
        "linear map for each stratum."
    )
    assert "Variances differ from those of the original by less than 0.01 %." in why
    assert sum(outside.values()) > 0
    cells = "1 value is" if sum(outside.values()) == 1 else f"{sum(outside.values())} values are"
    assert f"{cells} outside the range of the original column: " in why
    assert "cut back" not in why
    both = done(released("covariance"))["moments"]
    assert both.startswith("Covariances of 2 columns are the same as those of the original")
    assert "covariances of standard scores by less than 0.0001." in both


def test_cells_that_were_cut_back_and_variances_that_are_missed_by_that_are_told():
    release = released(moments_clip=True, k=20)
    why = done(release)["moments"]
    assert f"{sum(release.moments.clipped.values())} values were cut back" in why
    assert release.moments.variance_error > 0.01
    assert "Variances of 2 columns were brought close to those of the original" in why


def test_strata_that_stay_as_they_are_are_told():
    frame = frame_of()
    frame.loc[:5, "region"] = "islands"
    release = ma.protect(frame, 5, moments="variance", **ROLES)
    assert (
        "1 stratum was not spread, because it has only one group, or groups that do not vary."
        in done(release)["moments"]
    )
    assert repr(release).endswith("strata not spread: 1")


@pytest.mark.parametrize("which", ["variance", "covariance"])
def test_nothing_says_that_a_plain_mean_is_released(which):
    release = released(which)
    model = build(release)
    assert done(release)["released"].endswith(f"in every masked column, spread so that {which}s are kept")
    assert "Values are released with all their digits." in done(release)["rounding"]
    assert not any("find too little variation: the larger" in text for text in model.limits)
    assert any("Released means were spread. This does not protect: how far" in text for text in model.limits)
    page = render(model)
    assert ", if they learn how far it was spread." in page
    assert ("so correlations tend to grow" in page) is (which == "variance")
    mixed = frame_of().assign(job=np.tile(["farm", "shop"], 120))
    by_kind = ma.protect(mixed, 5, moments="variance", **{**ROLES, "quasi": ["pay", "tax", "job"]})
    assert "Number: the mean, spread so that variances are kept; nominal:" in done(by_kind)["released"]


def test_that_original_variances_become_public_is_to_be_looked_at():
    (found,) = [one for one in build(released()).verdict.findings if one.topic == "variances"]
    assert found.state == "look"
    assert found.text.startswith("The original variances of “pay” and “tax” become public with the release.")
    assert "The public report does not show that loss." in found.text
    assert found.text in build(released()).verdict.look_first
    assert not [one for one in build(released("none")).verdict.findings if one.topic == "variances"]


def test_the_public_report_says_whose_variances_they_are_and_no_figure():
    release = released(moments_clip=True, rounding="auto")
    public = build(release, public=True)
    assert "moments" not in judge(release, public=True).topics
    assert done(release, public=True)["moments"] == (
        "Variances of numbers are the same as those of the original, as far as rounding, values that were cut back and "
        "strata of one group allow: released means were spread (moved apart) by one linear map for each stratum."
    )
    plain = ma.protect(frame_of(), 5, moments="variance", quasi=["pay", "tax"], rest="drop")
    assert done(plain, public=True)["moments"] == (
        "Variances of numbers are the same as those of the original, as far as rounding allows: released means were "
        "spread (moved apart) by one linear map."
    )
    assert "outside the range of the original column" not in to_json(public)
    assert "become public" not in to_json(public)
    lost = {line.name: line.value for line in public.verdict.lines}["Lost"]
    assert (
        "variances are kept, and together with them the loss would reveal how much values vary inside groups." in lost
    )
    assert "The loss of numbers is not shown, because their variances are kept" in render(public)


def test_the_public_report_withholds_a_loss_that_would_tell_how_far_means_were_spread():
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=4000)})
    plain, kept = (build(ma.protect(frame, 3, moments=which), public=True).loss for which in ("none", "variance"))
    assert (plain.told, kept.told) == (1, 0)
    assert kept.columns[0].word == "not shown"


def test_programs_and_the_terminal_are_told_the_same():
    release = released(moments_clip=True)
    facts, own = release_facts(release)["moments"], release.moments
    assert (facts["kept"], facts["columns"]) == ("variance", ["pay", "tax"])
    assert facts["variance_error_percent"] == 100 * own.variance_error
    assert facts["cells_outside_range"] == dict(own.outside)
    assert facts["cells_cut_back"] == dict(own.clipped)
    assert facts["strata_left_as_they_are"] == 0
    (line,) = [line for line in repr(release).splitlines() if line.startswith("Moments: ")]
    assert line.startswith("Moments: variances of 2 columns kept, variances to within ")
    assert f"values cut back: {sum(own.clipped.values())}" in line
    assert "moments" not in release_facts(released("none"))


def test_a_file_whose_numbers_do_not_vary_has_nothing_to_keep():
    release = ma.protect(frame_of().assign(pay=1.0, tax=2.0), 5, moments="variance", **ROLES)
    assert done(release)["moments"] == "No masked number varies, so nothing was done."
    assert repr(release).endswith("Moments: nothing to keep, no number varies")
    assert not [one for one in build(release).verdict.findings if one.topic == "variances"]
    assert dataclasses.asdict(build(release))["moments"] == "variance"


def test_values_that_no_original_reaches_are_a_finding():
    release = released()
    found = next(one for one in build(release).verdict.findings if one.topic == "values out of range")
    assert found.state == "look"
    for name, cells in release.moments.outside.items():
        assert f"“{name}” ({cells})" in found.text
    clipped = build(released(moments_clip=True)).verdict.findings
    assert not any(one.topic == "values out of range" for one in clipped)
