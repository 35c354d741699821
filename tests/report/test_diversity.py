"""What a report says of l and t: the promise, what is reached, what it cost, and what nothing is demanded of."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

import microagg as ma
from microagg.judge.text import FIXED, THIN
from microagg.report import build, render, to_json

CHOSEN = {"quasi": ["age", "pay"], "confidential": ["ill", "debt"]}


def frame_of(n=240, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    ill = np.where(age < 40, "none", rng.choice(["none", "asthma", "cancer", "flu"], n))
    return pd.DataFrame({"age": age, "pay": rng.random(n).round(3), "ill": ill, "debt": rng.integers(0, 30, n) * 10})


def said(model):
    return {line.name: line.value.replace(FIXED, " ").replace(THIN, " ") for line in model.verdict.lines}


def findings(release, topic):
    return [one for one in build(release).verdict.findings if one.topic == topic]


@pytest.fixture(scope="module")
def both():
    return ma.protect(frame_of(), 4, l=2, l_columns=["ill"], t=0.3, t_columns=["debt"], **CHOSEN)


def test_the_promise_stands_in_the_headline_and_what_is_reached_beside_it(both):
    model = build(both)
    assert "Records with the same masked values hold at least 2 different values of “ill”." in model.verdict.headline
    assert (
        "The values of “debt” in records with the same masked values differ by at most 0.3 from those of the whole "
        "file."
    ) in (model.verdict.headline)
    lines = said(model)
    assert "hold at least 2 different values of “ill”" in lines["Promised"]
    after = both.diversity.after
    assert f"“ill” l {after['ill'].distinct} (at least 2 asked)" in lines["Kept"]
    assert f"“debt” t {after['debt'].t:.3f} (at most 0.3 asked)" in lines["Kept"]


def test_what_it_cost_is_told_with_the_groups_that_gave_a_value_away(both):
    facts, lost = both.diversity, said(build(both))["Lost"]
    before = facts.before["ill"]
    assert before.uniform > 0
    assert f"{before.uniform} of {before.groups} groups would have only one value of “ill”." in lost
    assert "Without the demand on l and t, groups would lose" in lost
    assert "refined" not in lost
    refined = ma.protect(frame_of(), 4, l=2, l_columns=["ill"], refine="fast", **CHOSEN)
    assert " (both before groups were refined)." in said(build(refined))["Lost"]


def test_the_way_is_told_with_what_it_does(both):
    model = build(both)
    done = {one.name: one for one in model.done}
    assert done["demanded"].value in ("l = 2, t = 0.3", "t = 0.3, l = 2")
    assert done["kept by"].value == both.diversity.way
    assert "group" in done["kept by"].why
    assert any("Different values may mean nearly the same" in text for text in model.limits)
    assert any("t limits how far" in text for text in model.limits)
    (one,) = [one for one in model.checklist if one.topic == "confidential columns"]
    assert "What a group discloses is limited for “ill” (l = 2), “debt” (t = 0.3)." in one.text


def test_a_column_of_which_nothing_is_demanded_is_warned_of_as_before():
    frame = frame_of().assign(debt=np.where(frame_of()["age"] < 50, "low", "high"))
    release = ma.protect(frame, 4, l=2, l_columns=["ill"], **CHOSEN)
    (found,) = findings(release, "confidential columns")
    assert "“debt” in" in found.text
    assert "“ill”" not in found.text
    assert build(release).verdict.state == "look"


def test_a_column_of_which_only_t_is_demanded_is_warned_of_where_groups_give_one_value_away():
    release = ma.protect(frame_of(), 4, t=0.9, t_columns=["ill"], **CHOSEN)
    assert release.diversity.after["ill"].uniform > 0
    (found,) = findings(release, "confidential columns")
    assert f"“ill” in {release.diversity.after['ill'].uniform} group" in found.text


def test_the_figures_of_a_text_file_are_those_of_its_numbers(tmp_path):
    path = tmp_path / "file.csv"
    frame_of().to_csv(path, index=False)
    release = ma.protect(ma.read(path), 4, t=0.3, t_columns=["debt"], **CHOSEN)
    assert np.isnan(release.anonymity.diversity["debt"].t_ordered)
    rows = {one.column: one for one in build(release).diversity}
    assert rows["debt"].t_ordered == pytest.approx(release.diversity.after["debt"].t)
    assert rows["debt"].t_ordered <= 0.3
    assert rows["ill"].t_ordered is None


def test_the_public_page_tells_what_anybody_can_count_and_no_cost(both):
    model = build(both, public=True)
    page = render(model)
    assert "hold at least 2 different values of “ill”" in model.verdict.headline
    assert "k does not cover" in model.verdict.headline
    assert (model.kept.loss_before, model.kept.loss_after, model.kept.cost, model.kept.pictures) == (None, None, "", ())
    assert all((one.uniform_before, one.groups_before, one.worst) == (None, None, None) for one in model.kept.columns)
    assert "worst group" not in page
    assert "would lose" not in page
    assert [one.reached for one in model.kept.rows] == [one.reached for one in build(both).kept.rows]
    assert json.loads(to_json(model))["diversity"] == []


def test_the_picture_has_the_shares_of_the_file_and_of_the_worst_group(both):
    model = build(both)
    page = render(model)
    assert "in the file and in the group that differs most from the file" in page
    for one in model.kept.pictures:
        assert sum(bar.before for bar in one.bars) == pytest.approx(100)
        assert sum(bar.after for bar in one.bars) == pytest.approx(100)
    assert page.count("of the group</title>") == sum(len(one.bars) for one in model.kept.pictures)


def test_a_release_that_was_changed_does_not_keep_it(both):
    data = both.data.copy()
    alone = (data["age"] == data["age"].iloc[0]) & (data["pay"] == data["pay"].iloc[0])
    lot = frame_of()["ill"] == "none"
    data.loc[lot, ["age", "pay"]] = [1.0, 1.0]
    data.loc[~lot, ["age", "pay"]] = [2.0, 2.0]
    assert alone.any()
    model = build(dataclasses.replace(both, data=data))
    assert model.verdict.state == "bad"
    assert model.verdict.headline.startswith("The promise is broken: records with the same masked values disclose")


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        (
            {"entropy_l": 1.5},
            "The values of “ill” in records with the same masked values vary at least as much as 1.5 equally",
        ),
        (
            {"recursive_l": [9, 2]},
            "has fewer records than 9 times the 2nd commonest value and all rarer ones together.",
        ),
        (
            {"l": 2, "t": 0.8},
            "hold at least 2 different values of “ill”; their values differ by at most 0.8 from those of the whole "
            "file",
        ),
    ],
)
def test_every_demand_has_its_words(chosen, words):
    columns = {f"{key}_columns": ["ill"] for key in ("l", "t") if key == "l" or key in chosen}
    release = ma.protect(frame_of(), 4, **chosen, **columns, **CHOSEN)
    assert words in build(release).verdict.headline
    assert build(release).kept.holds
    assert len(build(release).kept.rows) == len(chosen)


def test_columns_of_which_the_same_is_demanded_share_a_sentence():
    release = ma.protect(frame_of(), 4, l=2, **CHOSEN)
    assert build(release).kept.promise == (
        "Records with the same masked values hold at least 2 different values of each of “ill” and “debt”.",
    )
