"""What l and t come to as plain values, in a file made elsewhere, and in a comparison that leaves a choice unused."""

import json

import numpy as np
import pandas as pd
import pytest

import microagg as ma
from microagg.errors import InvalidData, InvalidParameter
from microagg.jobs.assessment import assess
from microagg.jobs.candidates import not_used
from microagg.jobs.facts import assessed_facts, release_facts
from microagg.jobs.messages import plain
from microagg.jobs.pairs import read_pair
from microagg.recipe import Recipe
from tests.reference import diversity as oracle

ROLES = {"quasi": ["age", "pay"], "confidential": ["ill", "debt"]}


def frame_of(n=200):
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "pay": rng.random(n).round(3),
            "ill": rng.choice(["none", "flu", "asthma"], n, p=[0.7, 0.2, 0.1]),
            "debt": rng.integers(0, 20, n) * 10,
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a folder with a file and one that was masked elsewhere: rows in tens, each released with its mean."""
    monkeypatch.chdir(tmp_path)
    frame = frame_of()
    frame.to_csv("file.csv", index=False)
    groups = np.arange(len(frame)) // 10
    masked = frame.assign(**{name: frame[name].groupby(groups).transform("mean") for name in ROLES["quasi"]})
    masked.to_csv("masked.csv", index=False)
    return frame, groups


def assessed(**chosen):
    recipe = Recipe.of(k=5, **ROLES).replace(**chosen)
    return assess(read_pair("file.csv", "masked.csv", recipe, {}), recipe)


def test_the_facts_of_a_release_say_what_was_asked_reached_and_lost():
    release = ma.protect(frame_of(), 5, l=2, l_columns=["ill"], t=0.4, t_columns=["debt"], recursive_l=[20, 2], **ROLES)
    facts = json.loads(json.dumps(plain(release_facts(release)), allow_nan=False))
    assert facts["demanded"]["ill"]["l"] == {
        "asked": 2,
        "reached": release.diversity.after["ill"].distinct,
        "holds": True,
    }
    assert facts["demanded"]["ill"]["recursive_l"]["asked"] == [20, 2]
    assert facts["demanded"]["debt"]["t"]["reached"] == release.diversity.after["debt"].t
    assert facts["diversity"] == release.recipe.diversity.way
    assert facts["groups_of_one_value_without_it"]["ill"] == release.diversity.before["ill"].uniform
    assert facts["information_loss_without_it_percent"] <= facts["information_loss_with_it_percent"]
    assert "demanded" not in release_facts(ma.protect(frame_of(), 5, **ROLES))
    assert "Confidential columns: l = 2 of ill" in repr(release)


def test_a_file_made_elsewhere_is_judged_by_what_the_recipe_demands(folder):
    frame, groups = folder
    found = assessed(l=2, l_columns=["ill"], t=0.05, t_columns=["debt"])
    (ill,), (debt,) = found.demanded["ill"], found.demanded["debt"]
    file = frame["debt"].tolist()
    owned = [frame["debt"][groups == g].tolist() for g in range(groups.max() + 1)]
    assert ill.reached == min(frame["ill"][groups == g].nunique() for g in range(groups.max() + 1))
    assert debt.reached == pytest.approx(max(oracle.t_of(own, file, True, None) for own in owned))
    assert (ill.holds, debt.holds) == (ill.reached >= 2, False)
    assert "t = 0.05 of 'debt': NOT kept" in found.words
    assert any("does not keep t = 0.05 of 'debt'" in text for text in found.warnings)
    facts = json.loads(json.dumps(plain(assessed_facts(found))))
    assert facts["demanded"]["debt"]["t"]["holds"] is False


def test_a_file_that_keeps_it_is_said_to(folder):  # noqa: ARG001
    found = assessed(t=0.99)
    assert all(goal.holds for goals in found.demanded.values() for goal in goals)
    assert found.words.count(": kept, ") == 2
    assert not any("does not keep" in text for text in found.warnings)
    assert "demanded" not in assessed_facts(assessed())


def test_what_cannot_be_judged_is_refused(folder):
    frame, _ = folder
    pd.read_csv("masked.csv").drop(columns="ill").to_csv("masked.csv", index=False)
    with pytest.raises(InvalidData, match="with column 'ill', and that column is not in the masked file") as caught:
        assessed(l=2, l_columns=["ill"])
    assert caught.value.columns == ("ill",)
    frame.to_csv("masked.csv", index=False)
    with pytest.raises(InvalidParameter, match="per_column"):
        assessed(l=2, per_column=True)
    with pytest.raises(InvalidData, match="the recipe does not say that order"):
        assessed(t=0.5, t_columns=["debt"], recode={"debt": {"width": 50}})


def test_a_level_that_is_not_compared_is_told():
    recipe = Recipe.of(k=3, l=3, ls=[1, 2], t=0.2, **ROLES)
    assert not_used(recipe, ["mdav"]) == ["l = 3; several levels of it are compared"]
