"""The bound of a release's loss: true of whatever groups release, found when asked, and internal."""

import json
import pickle

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

import microagg as ma
from microagg.algorithms.scores import standard_scores
from microagg.judge import judge
from microagg.measures import bound as bounding
from microagg.report import build, to_json
from tests.reference.bound import bound

NUMBERS = ["age", "income", "tax"]


@pytest.fixture(scope="module")
def survey():
    return ma.datasets.survey(160, seed=0)


@pytest.fixture(scope="module")
def households():
    return ma.datasets.households(400, seed=0)


def scores(table):
    return standard_scores(np.array([table[name].to_numpy() for name in NUMBERS], dtype=float)).T.tolist()


@pytest.mark.parametrize("few", [0, 10**9])
def test_of_numbers_it_is_that_of_standard_scores(monkeypatch, survey, few):
    monkeypatch.setattr(bounding, "_FEW", few)
    found = ma.protect(survey, 4, quasi=NUMBERS, rest="drop").loss.bound
    assert_allclose(found.percent, float(bound(scores(survey), 4)), rtol=1e-12)
    assert (found.of, found.within, found.k) == ("information loss", "", 4)


def test_with_strata_neighbours_are_those_of_the_stratum(survey):
    release = ma.protect(survey, 4, quasi=NUMBERS, strata=["region"], rest="drop")
    found, regions = release.loss.bound, survey["region"].to_pylist()
    assert_allclose(found.percent, float(bound(scores(survey), 4, regions)), rtol=1e-12)
    assert found.percent > float(bound(scores(survey), 4)) * 1.01
    assert "within the strata" in str(found)


def test_a_small_stratum_is_one_group(survey):
    """Of fewer than 2k records of a stratum there is one grouping alone, so that its whole error counts."""
    table, strata = survey.slice(0, 40), [0] * 33 + [1] * 7
    frame = table.select(NUMBERS).to_pandas().assign(part=strata)
    found = ma.protect(frame, 4, quasi=NUMBERS, strata=["part"]).loss.bound
    assert_allclose(found.percent, float(bound(scores(table), 4, strata)), rtol=1e-12)


def test_where_each_column_is_grouped_by_itself_it_is_of_single_columns(survey):
    release = ma.protect(survey, 4, quasi=NUMBERS, rest="drop", method="univariate", per_column=True)
    columns = [[[value] for value in column] for column in zip(*scores(survey), strict=True)]
    each = sum(float(bound(column, 4)) for column in columns) / 3  # every column varies alike
    assert_allclose(release.loss.bound.percent, each, rtol=1e-12)
    assert release.loss.bound.percent < float(bound(scores(survey), 4))
    assert release.loss.bound.within == "of single columns"
    both = ma.protect(survey, 4, quasi=NUMBERS, strata=["region"], rest="drop", method="univariate", per_column=True)
    assert both.loss.bound.within == "of single columns within the strata"
    assert release.loss.bound.percent < both.loss.bound.percent < both.loss.bound.reached


@pytest.mark.parametrize(
    "choices",
    [
        {"aggregate": "median"},
        {"scale": "range"},
        {"select": ["age"]},
        {"refine": "fast"},
        {"blocks": "median", "max_block": 100},
        {"moments": "covariance"},
        {"moments": "variance", "strata": ["region"]},
        {"rounding": {"income": 1000, "tax": 1000}},
        {"importance": {"income": 5.0}},
        {"kinds": {"income": "semi"}},
        {"weight": "weight", "weighted": True},
        {"weight": "weight", "weight_release": "group"},
        {"confidential": ["region"], "l": 2},
    ],
    ids=str,
)
def test_it_is_true_of_whatever_groups_release(survey, choices):
    release = ma.protect(survey, 4, quasi=NUMBERS, rest="drop", **choices)
    found = release.loss.bound
    assert found.of == "information loss"
    assert found.reached == release.information.percent
    assert 0.0 < found.percent < found.reached
    assert found.weighted == ("weight" in choices)
    if not {"strata", "importance"} & choices.keys():  # the promise of k is the same
        assert_allclose(found.percent, ma.protect(survey, 4, quasi=NUMBERS, rest="drop").loss.bound.percent, rtol=1e-12)


@pytest.mark.parametrize(
    ("columns", "choices"),
    [
        (["age", "sex", "education"], {}),
        (["age", "wage"], {"missing": "pattern"}),
        (["age", "wage"], {"missing": "state", "kinds": {"wage": "semi"}}),
        (["birth", "region", "sex"], {"strata": ["region"], "nominal": "balanced"}),
        (["age", "sex", "household"], {"unit": "household"}),
        (["age", "sex", "household", "weight"], {"unit": "household", "weight": "weight", "weight_cap": True}),
        (["age", "sex", "region", "household"], {"unit": "household", "unit_release": "pseudonym"}),
        (["age", "sex", "diagnosis"], {"confidential": ["diagnosis"], "t": 0.4}),
    ],
    ids=str,
)
def test_of_other_columns_it_is_of_points_and_says_so(households, columns, choices):
    release = ma.protect(households.select(columns), 3, **choices)
    found = release.loss.bound
    assert found.of == "squared distances"
    assert 0.0 < found.percent <= found.reached * (1 + 1e-12)
    assert found.reached != release.information.percent
    assert "The information loss is another measure" in str(found)


def test_the_points_of_mixed_columns_are_those_of_the_embedding():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=120), "c": rng.choice(["x", "y", "z"], 120)})
    found = ma.protect(frame, 3).loss.bound
    score = standard_scores(frame[["a"]].to_numpy().T)[0]
    shares = frame["c"].value_counts(normalize=True)
    height = (1.0 - (shares**2).sum()) ** -0.5
    points = [
        [value, *(height * (name == one) for one in "xyz")] for value, name in zip(score, frame["c"], strict=True)
    ]
    assert_allclose(found.percent, float(bound(points, 3)), rtol=1e-12)


def test_nothing_is_looked_for_until_somebody_asks(monkeypatch, survey):
    def fail(*_, **__):
        raise AssertionError

    monkeypatch.setattr(bounding, "_percent", fail)
    release = ma.protect(survey, 4, quasi=NUMBERS, rest="drop")
    assert release.loss.percent == release.information.percent
    ma.compare(survey, "mdav", 4, quasi=NUMBERS, rest="drop")
    judge(release, public=True)
    with pytest.raises(AssertionError):
        release.loss.bound  # noqa: B018


def test_it_is_found_once(monkeypatch, survey):
    release = ma.protect(survey, 4, quasi=NUMBERS, rest="drop").with_loss()
    monkeypatch.delattr(bounding, "_percent")
    assert release.loss.bound is release.loss.find_bound()
    assert build(release).loss.bound.percent == release.loss.bound.percent


def test_on_a_large_file_it_is_left_out_and_that_is_said(monkeypatch, survey):
    release = ma.protect(survey, 4, quasi=NUMBERS, rest="drop")
    monkeypatch.setattr(bounding, "MOST_WORK", 160 * 160 * 3)
    assert replaced(release).loss.bound.percent is not None
    monkeypatch.setattr(bounding, "MOST_WORK", 160 * 160 * 3 - 1)
    found = replaced(release).loss.bound
    assert (found.percent, found.reached) == (None, None)
    said = (
        "It is not known how little any grouping at k=4 could lose: the computation would take too long on a file of "
        "this size."
    )
    assert str(found) == said
    model = build(replaced(release))
    assert model.loss.bound_text == said
    assert "How little" not in model.verdict.lines[2].value


def replaced(release):
    """Give the release anew, with nothing measured yet."""
    return release.with_results()


def test_the_internal_report_says_it_and_the_public_one_does_not(survey):
    release = ma.protect(survey, 4, quasi=NUMBERS, rest="drop")
    inside, outside = build(release), build(release, public=True)
    said = inside.loss.bound_text.replace("\u00a0", " ")
    assert said == str(release.loss.bound)
    assert said.startswith("No grouping at k=4 can lose less than ")
    assert inside.loss.bound_text in inside.verdict.lines[2].value
    assert json.loads(to_json(inside))["loss"]["bound"]["percent"] == release.loss.bound.percent
    assert json.loads(to_json(outside))["loss"]["bound"] is None
    assert "No grouping" not in to_json(outside)
    assert "lose less" not in to_json(outside)


def test_it_is_not_stored(survey):
    release = ma.protect(survey, 4, quasi=NUMBERS, rest="drop")
    assert release.loss.bound is not None
    stored = pickle.loads(pickle.dumps(release.loss))
    assert stored.bound is None
    assert stored.m1 == release.loss.m1
    assert b"LossBound" not in pickle.dumps(release.loss)
    assert b"LossBound" not in pickle.dumps(release)
    assert "lose less" not in release.recipe.text()


def test_any_pair_of_files_has_none(survey):
    table = survey.select(NUMBERS)
    assert ma.loss_measures(table, ma.protect(table, 4).data).bound is None


def test_beyond_memory_it_is_found_where_all_records_are_drawn(monkeypatch, survey, tmp_path):
    table = survey.select(NUMBERS)
    pq.write_table(table, tmp_path / "survey.parquet")
    whole = ma.protect_file(tmp_path / "survey.parquet", tmp_path / "masked.parquet", 4).sample
    assert whole.whole is None
    assert whole.loss.bound.percent == ma.protect(table, 4).loss.bound.percent
    monkeypatch.setattr("microagg.mask.engines.figures.GROUPS", 10)
    some = ma.protect_file(tmp_path / "survey.parquet", tmp_path / "again.parquet", 4).sample
    assert some.whole is not None
    said = "It is not known how little any grouping at k=4 could lose: only some of the records are in memory."
    assert str(some.loss.bound) == said
    assert build(some).loss.bound_text == said
