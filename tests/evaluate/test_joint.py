"""Several releases of one file, against elimination over exact fractions and figures found elsewhere."""

from dataclasses import replace

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg as ma
from microagg.measures.joint import measure_joint, solved_records
from tests.reference.joint import joint


@st.composite
def partitions(draw):
    n = draw(st.integers(2, 24))
    made = draw(st.integers(1, 4))
    return [np.array(draw(st.lists(st.integers(0, max(1, n // 3)), min_size=n, max_size=n))) for _ in range(made)]


@settings(max_examples=60, deadline=None)
@given(partitions())
def test_the_records_are_those_that_exact_elimination_gives(labels):
    alone, follows = joint([one.tolist() for one in labels])
    found = measure_joint(labels)
    codes = [np.unique(one, return_inverse=True)[1] for one in labels]
    solved, converged = solved_records(codes)
    assert solved.tolist() == follows
    assert (found.singled_out, found.solved, converged) == (sum(alone), sum(follows), True)


def test_chains_and_cycles_of_groups():
    # A cycle of two pairs leaves everything open; another pair at its side is solved record by record.
    pairs, crossed = np.array([0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 1, 0, 2, 3, 3])
    assert solved_records([pairs, crossed])[0].tolist() == [False, False, False, False, True, False, False]


@pytest.mark.casc
@pytest.mark.parametrize(("ks", "share"), [((3, 5), 1.9), ((3, 4, 5), 25.4), ((3, 4, 5, 6), 74.0)])
def test_releases_of_the_census_give_records_away_exactly(ks, share):
    census = ma.datasets.load("census").to_pandas()
    releases = [ma.protect(census, k=k).data for k in ks]
    found = ma.joint_disclosure(census, releases)
    assert 100 * found.solved / found.n_records == pytest.approx(share, abs=0.06)
    orders = [np.random.default_rng(k).permutation(len(census)) for k in ks]
    shuffled = [one.iloc[np.argsort(order)] for one, order in zip(releases, orders, strict=True)]
    assert ma.joint_disclosure(census, shuffled, truth=orders) == found


def test_columns_that_were_not_masked_are_no_groups():
    survey = ma.datasets.survey(120, seed=0).to_pandas()
    releases = [ma.protect(survey, k=k, quasi=["age", "income"], strata=["region"], rest="keep").data for k in (3, 5)]
    found = ma.joint_disclosure(survey, releases)
    assert found == ma.joint_disclosure(survey, releases, columns=["age", "income"])
    assert found.solved < found.n_records
    assert ma.joint_disclosure(survey, [releases[0]]).fewest >= 3
    assert str(found).startswith("2 releases together\n")
    assert "more records may follow" in str(replace(found, converged=False))


@pytest.mark.parametrize("as_frame", [pa.table, pl.DataFrame])
def test_a_kept_column_with_nan_is_not_taken_for_masked(as_frame):
    kept = np.array([1.0, np.nan, 2.0, 2.0, 3.0, 3.0])
    before, after = (
        as_frame({"a": a, "kept": kept}) for a in (np.arange(1.0, 7.0), np.array([2.0, 2.0, 2.0, 5.0, 5.0, 5.0]))
    )
    assert ma.joint_disclosure(before, [after]).fewest == 3
    others = as_frame({"a": np.arange(1.0, 7.0), "kept": np.array([1.0, 1.0, np.nan, np.nan, 3.0, 3.0])})
    assert ma.joint_disclosure(before, [others]).fewest == 2


def test_what_cannot_be_compared_is_refused():
    survey = ma.datasets.survey(60, seed=0).to_pandas()
    masked = ma.protect(survey, k=3, quasi=["age", "income"], rest="keep").data
    with pytest.raises(ma.errors.InvalidData, match="60 records and release 1 has 59"):
        ma.joint_disclosure(survey, [masked, masked.iloc[1:]])
    with pytest.raises(ma.errors.InvalidParameter, match="at least one release"):
        ma.joint_disclosure(survey, [])
    with pytest.raises(ma.errors.InvalidParameter, match="each row of the masked file, 0 to 59, once"):
        ma.joint_disclosure(survey, [masked], truth=[[0] * 60])
    with pytest.raises(
        ma.errors.InvalidData, match="release 1 has none of the masked columns, or is identical to the original"
    ):
        ma.joint_disclosure(survey, [masked, survey])
    with pytest.raises(ma.errors.InvalidData, match="release 0 has none of the masked columns"):
        ma.joint_disclosure(survey, [masked.drop(columns="age")], columns=["age"])


def sorted_rows(frame):
    return frame.sort_values(list(frame.columns)).reset_index(drop=True)


@pytest.mark.casc
def test_sorted_releases_of_the_census_give_away_as_much():
    census = ma.datasets.load("census").to_pandas()
    releases = [ma.protect(census, k=k).data for k in (3, 4, 5, 6)]
    for own in (releases[::2], releases[:3], releases):
        found = ma.joint_disclosure(census, [sorted_rows(one) for one in own])
        assert found == replace(ma.joint_disclosure(census, own), nearest=len(own), consistent=100.0)


def test_rows_in_another_order_are_matched_by_nearest_values():
    survey = ma.datasets.survey(240, seed=0).to_pandas()[["age", "income", "hours", "region"]]
    releases = [ma.protect(survey, k=k, strata=["region"]).data for k in (3, 4, 5)]
    found = ma.joint_disclosure(survey, releases)
    assert (found.nearest, found.consistent) == (0, None)
    assert found == ma.joint_disclosure(survey, releases, match="position")
    moved = ma.joint_disclosure(survey, [releases[0], sorted_rows(releases[1]), sorted_rows(releases[2])])
    assert moved.nearest == 2
    assert moved.consistent > 95.0
    assert moved.solved == pytest.approx(found.solved, abs=3)
    assert "in 2 of 3 releases the rows are not in the order of the original" in str(moved)
    assert ma.joint_disclosure(survey, releases, match="nearest").nearest == 3
    by_position = ma.joint_disclosure(survey, [sorted_rows(one) for one in releases], match="position")
    assert by_position.nearest == 0


def test_medians_and_categories_in_order_are_matched_by_position():
    survey = ma.datasets.survey(240, seed=0).to_pandas()[["age", "income", "education"]]
    medians = ma.protect(survey, k=4, kinds={"education": "nominal"}, aggregate="median").data
    assert ma.joint_disclosure(survey, [medians]).nearest == 0
    assert ma.joint_disclosure(survey, [sorted_rows(medians)]).nearest == 1
    with pytest.raises(ma.errors.InvalidParameter, match="match='near' is not known"):
        ma.joint_disclosure(survey, [medians], match="near")
